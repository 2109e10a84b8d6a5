import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { UserError } from '../user-error.ts'

/** The bytes of a file that a member of the target file names, relative to it. */
export async function readNamedFile(dir: string, path: string, member: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await readFile(resolve(dir, path)))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UserError(
      `${member}: ${path} ${code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? 'error'})`}`,
    )
  }
}

export async function readNamedText(dir: string, path: string, member: string): Promise<string> {
  return Buffer.from(await readNamedFile(dir, path, member)).toString('utf8')
}
