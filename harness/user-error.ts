/** A mistake of the user's (command line, target file, environment): one sentence that names the place and the remedy. Exit code 2. */
export class UserError extends Error {
  override readonly name = 'UserError'
}

/** That a file cannot be read, in words: the codes of the system are for those who know them. */
export function unreadable(path: string, error: unknown): UserError {
  const { code } = error as NodeJS.ErrnoException
  const why: Readonly<Record<string, string>> = {
    ENOENT: 'does not exist',
    ENOTDIR: 'does not exist',
    EISDIR: 'is a folder',
    EACCES: 'you may not read it',
  }
  return new UserError(`${path}: ${why[code ?? ''] ?? `cannot be read (${code ?? 'error'})`}`)
}
