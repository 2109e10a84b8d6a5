import type { TargetFile } from '../harness/target/target-file.ts'

/** Gives the target as it is: what it adds is the type, in an editor and in TypeScript. */
export function defineTarget(target: TargetFile): TargetFile {
  return target
}
