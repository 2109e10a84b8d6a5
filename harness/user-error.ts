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

/** Time limit for loading a module, and for a program or function to return a key, in ms. */
export const foreignMs = 30_000

/** The modules of target files that have run: later exceptions may be their fault. */
export const modulesRun: string[] = []
const waits = new Set<string>()

/** Describes the foreign code that we are waiting for; the first, if several. */
export function waitedFor(): string | undefined {
  const [first] = waits
  return first
}

/**
 * Waits for foreign code.
 * @param sentence the message if it never ends
 * @param keepsAlive whether to keep the process alive, so that the timeout fires even if nothing else happens
 * @throws Unjudgeable after `foreignMs`
 */
export async function waitForForeign<T>(
  work: Promise<T>,
  sentence: string,
  options: { readonly keepsAlive: boolean },
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Unjudgeable(`${sentence} (waited for ${foreignMs / 1000} s)`)),
      foreignMs,
    )
    if (!options.keepsAlive) timer.unref()
  })
  waits.add(sentence)
  try {
    return await Promise.race([work, tooLate])
  } finally {
    waits.delete(sentence)
    clearTimeout(timer)
  }
}
