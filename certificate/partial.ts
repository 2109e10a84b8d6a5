import type { Report } from '../harness/report/model.ts'

/** Why a report is not that of a whole run which found the target conformant, one clause each; `sign` then asks for `--partial`. */
export function partialReasons({ run, verdict }: Report): string[] {
  const reasons: [boolean, string][] = [
    [verdict !== 'conformant', `the verdict is ${verdict}`],
    [run.interrupted, 'the run was interrupted'],
    [run.shard !== null, `it is shard ${run.shard} of a run; conform merge joins them`],
    [run.only.length > 0, `--only chose what was judged: ${run.only.join(', ')}`],
    [run.skip.length > 0, `--skip left out: ${run.skip.join(', ')}`],
    [run.readOnly, 'the run was --read-only'],
    [run.baseline !== null, 'failures were expected by --baseline'],
    [run.insecure, 'TLS certificates were not verified (--insecure)'],
  ]
  return reasons.flatMap(([holds, reason]) => (holds ? [reason] : []))
}
