import { readFileSync } from 'node:fs'
import { UserError } from '../user-error.ts'

/** The bytes of a file that the user named; throws UserError where they cannot be read. */
export function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new UserError(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** The value of a JSON text that was read at that path; throws UserError where it is none. */
export function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UserError(`${path}: is not JSON: ${(error as Error).message}`)
  }
}
