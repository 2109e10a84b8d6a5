import type { RunOptions } from '../../harness/engine/index.ts'
import type { Target } from '../../harness/target-file/index.ts'

/** Whether every form of a wrong key is sent to every operation. */
export function credentialProbesIn(
  { limits }: Pick<Target, 'limits'>,
  { depth }: Pick<RunOptions, 'depth'>,
): 'all' | 'few' {
  return depth === 'quick' ? 'few' : limits.credentialProbes
}
