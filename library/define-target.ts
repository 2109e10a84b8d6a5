import type { Target } from './options.ts'

/** Returns the target unchanged, with its type checked. */
export function defineTarget(target: Target): Target {
  return target
}
