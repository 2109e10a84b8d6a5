import { Unjudgeable } from './user-error.ts'

/** Longest time that a module takes to be loaded, and a program or function to give a key, in ms. */
export const foreignMs = 30_000

const modules: string[] = []
const waits = new Set<string>()

/** Notes that the module of a target file is going to run: whatever it throws later is its own fault. */
export function noteModule(path: string): void {
  if (!modules.includes(path)) modules.push(path)
}

/** The modules of target files that this process has run. */
export const modulesRun = (): readonly string[] => modules

/** The sentence on what of somebody else's code is waited for now, the first of several; for whoever says why nothing comes any more. */
export function waitedFor(): string | undefined {
  const [first] = waits
  return first
}

/**
 * Waits for somebody else's code.
 * @param sentence what is wrong if it never ends
 * @param keepsAlive whether the process lives on for it, so that the time runs out if nothing else happens
 * @throws Unjudgeable after `foreignMs`
 */
export async function waitForForeign<T>(
  work: Promise<T>,
  sentence: string,
  { keepsAlive }: { readonly keepsAlive: boolean },
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Unjudgeable(`${sentence} (waited for ${foreignMs / 1000} s)`)),
      foreignMs,
    )
    if (!keepsAlive) timer.unref()
  })
  waits.add(sentence)
  try {
    return await Promise.race([work, tooLate])
  } finally {
    waits.delete(sentence)
    clearTimeout(timer)
  }
}
