import { createReadStream, statSync } from 'node:fs'
import { parseJson } from '../../harness/report/index.ts'
import { unreadable as unreadableFile, UserError } from '../../harness/user-error.ts'
import { isObject, member } from '../../schemas/json.ts'
import { recordedEntry } from './entry.ts'

/** Reads a HAR 1.2 file of up to 256 MiB; `-` is stdin. Throws UserError if it is not one. */
export async function readHar(path: string) {
  const name = path === '-' ? 'the standard input' : path
  const bytes = await bytesOf(path, name)
  const log = member(parseJson(bytes.toString('utf8'), name), 'log')
  if (!isObject(log))
    throw new UserError(`${name}: is not a HAR: it has no object log (record one as HAR 1.2)`)
  if (!Array.isArray(log['entries']))
    throw new UserError(`${name}: log.entries: must be an array (HAR 1.2)`)
  const all = (log['entries'] as unknown[]).map(recordedEntry)
  const entries = all.filter((entry) => entry !== undefined)
  const unreadable = all.flatMap((entry, at) => (entry ? [] : [`log.entries[${at}]`]))
  if (entries.length === 0 && unreadable.length > 0)
    throw new UserError(`${name}: no entry can be read (HAR 1.2)`)
  if (entries.every((entry) => entry.startedAt !== undefined))
    entries.sort((a, b) => a.startedAt! - b.startedAt!)
  /** `entries`: in sending order, as far as known; `unreadable`: the places of invalid ones. */
  return { entries, unreadable }
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
    throw error instanceof UserError ? error : unreadableFile(name, error)
  }
  return Buffer.concat(pieces)
}

const tooLarge = (name: string): UserError =>
  new UserError(`${name}: has more than 256 MiB; record the requests to the interface alone`)
