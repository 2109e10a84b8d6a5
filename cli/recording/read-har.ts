import { createReadStream, statSync } from 'node:fs'
import { parseJson } from '../../harness/report/index.ts'
import { unreadable, UserError } from '../../harness/user-error.ts'
import { isObject, member } from '../../schemas/json.ts'
import { recordedEntry, type RecordedEntry, Unreadable } from './entry.ts'

export interface Har {
  /** In sending order, as far as known. */
  readonly entries: readonly RecordedEntry[]
  readonly unreadable: readonly string[]
}

/** Reads a HAR 1.2 file of up to 256 MiB; `-` is stdin. Throws UserError if it is not one. Skips invalid entries. */
export async function readHar(path: string): Promise<Har> {
  const name = path === '-' ? 'the standard input' : path
  const bytes = await bytesOf(path, name)
  const log = member(parseJson(bytes.toString('utf8'), name), 'log')
  if (!isObject(log))
    throw new UserError(`${name}: is not a HAR: it has no object log (record one as HAR 1.2)`)
  if (!Array.isArray(log['entries']))
    throw new UserError(`${name}: log.entries: must be an array (HAR 1.2)`)
  const entries: RecordedEntry[] = []
  const problems: string[] = []
  for (const [index, value] of log['entries'].entries()) {
    try {
      entries.push(recordedEntry(value, index))
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      problems.push(error.message)
    }
  }
  if (entries.length === 0 && problems[0] !== undefined)
    throw new UserError(`${name}: ${problems[0]}`)
  if (entries.every(({ startedAt }) => startedAt !== undefined))
    entries.sort((a, b) => a.startedAt! - b.startedAt!)
  return { entries, unreadable: problems }
}

const mostBytes = 256 * 1024 * 1024

async function bytesOf(path: string, name: string): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  try {
    if (path !== '-' && statSync(path).size > mostBytes) throw tooLarge(name)
    for await (const piece of path === '-' ? process.stdin : createReadStream(path)) {
      pieces.push(piece as Buffer)
      size += (piece as Buffer).length
      if (size > mostBytes) throw tooLarge(name)
    }
  } catch (error) {
    throw error instanceof UserError ? error : unreadable(name, error)
  }
  return Buffer.concat(pieces)
}

const tooLarge = (name: string): UserError =>
  new UserError(`${name}: has more than 256 MiB; record the requests to the interface alone`)
