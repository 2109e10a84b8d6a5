/**
 * A mistake of the user (command line, target file, environment): one sentence that names the place and the remedy.
 * Exit code 2.
 */
export class UserError extends Error {
  override readonly name = 'UserError'
}

/** Foreign code that fails or hangs keeps the target from being judged: one sentence that names it. Exit code 3. */
export class Unjudgeable extends UserError {}

export function ensure(holds: boolean, sentence: string): asserts holds {
  if (!holds) throw new UserError(sentence)
}

/** Why a file cannot be read, to follow its name; hides errno codes. */
export function whyUnreadable(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  const why: Readonly<Record<string, string>> = {
    ENOENT: 'does not exist',
    ENOTDIR: 'does not exist',
    EISDIR: 'is a folder',
    EACCES: 'cannot be read with your permissions',
  }
  return why[code ?? ''] ?? `cannot be read (${code ?? 'error'})`
}

export function unreadable(path: string, error: unknown): UserError {
  return new UserError(`${path}: ${whyUnreadable(error)}`)
}

/** @param name the file, or the option that names it */
export function unwritable(name: string, error: unknown): UserError {
  return new UserError(
    `${name}: cannot be written (${(error as NodeJS.ErrnoException).code ?? 'error'})`,
  )
}
