import { isObject } from '../schemas/json-object.ts'
import { readFileSync, statSync } from 'node:fs'
import { visit } from 'jsonc-parser'
import { unreadable, UserError } from '../harness/user-error.ts'

/** Longest HAR that is read, in bytes: what a JavaScript string can hold. */
export const longestHar = 512_000_000

/** The entries of a HAR 1.2 file, in its order. Throws UserError, naming the place, if it is not one. */
export function readHar(path: string): readonly unknown[] {
  const text = readText(path)
  const value = parse(text, path)
  const log = isObject(value) ? value['log'] : undefined
  if (!isObject(log)) throw new UserError(`${path}: is not a HAR: it has no object log (record one as HAR 1.2)`)
  if (!Array.isArray(log['entries'])) throw new UserError(`${path}: log.entries: must be an array (HAR 1.2)`)
  return log['entries']
}

function readText(path: string): string {
  try {
    const { size } = statSync(path)
    if (size > longestHar) {
      const mb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`
      throw new UserError(
        `${path}: has ${mb(size)}; at most ${mb(longestHar)} can be read: record less, or split log.entries over several files`,
      )
    }
    // A byte order mark may begin a HAR.
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    if (error instanceof UserError) throw error
    throw unreadable(path, error)
  }
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    // The parser's own sentence quotes the text, which may hold a key.
    throw new UserError(`${path}: is not JSON${placeOfError(text)}`)
  }
}

/** ` at line 3, column 17 (log.entries[5])`: where the grammar of JSON is left first. */
function placeOfError(text: string): string {
  let here: () => readonly (string | number)[] = () => []
  let place = ''
  const enter = (...[, , , , path]: [number, number, number, number, typeof here]): void => void (here = path)
  visit(
    text,
    {
      onObjectBegin: enter,
      onArrayBegin: enter,
      onError(...[, , , line, column]) {
        if (place !== '') return
        const [log, entries, index] = here()
        const entry = log === 'log' && entries === 'entries' && index !== undefined ? ` (log.entries[${index}])` : ''
        place = ` at line ${line + 1}, column ${column + 1}${entry}`
      },
    },
    { disallowComments: true },
  )
  return place
}
