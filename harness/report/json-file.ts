import { readFileSync } from 'node:fs'
import { visit } from 'jsonc-parser'
import { unreadable, UserError } from '../user-error.ts'

/** The bytes of a file that the user named; throws UserError if they cannot be read. */
export function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw unreadable(path, error)
  }
}

/** The value of a JSON text that was read at that path; throws UserError, in one line, if it is not JSON. */
export function parseJson(text: string, path: string): unknown {
  const bare = text.replace(/^\uFEFF/, '')
  if (bare.trim() === '') throw new UserError(`${path}: is empty, and so is not JSON`)
  try {
    return JSON.parse(bare)
  } catch {
    // The parser's own sentence quotes the text, perhaps of several lines, which may hold a key.
    throw new UserError(`${path}: is not JSON${placeOfError(bare)}`)
  }
}

/** ` at line 3, column 17`: where the grammar of JSON is left first. */
function placeOfError(text: string): string {
  let place = ''
  visit(
    text,
    {
      onError(...[, , , line, column]) {
        if (place === '') place = ` at line ${line + 1}, column ${column + 1}`
      },
    },
    { disallowComments: true },
  )
  return place
}

/** The name of a member that some object of a JSON text has twice, of which a reader sees one only; undefined if there is none. */
export function doubledMember(text: string): string | undefined {
  let doubled: string | undefined
  const seen: Set<string>[] = []
  visit(text, {
    onObjectBegin: () => void seen.push(new Set()),
    onObjectEnd: () => void seen.pop(),
    onObjectProperty(name) {
      if (seen.at(-1)?.has(name)) doubled ??= name
      seen.at(-1)?.add(name)
    },
  })
  return doubled
}
