import type { Target } from './target.ts'

/** Gives the target as it is: what it adds is the type, in an editor and in TypeScript. */
export function defineTarget(target: Target): Target {
  return target
}
