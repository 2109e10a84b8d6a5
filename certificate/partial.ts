import type { Predicate } from './statement.ts'

/** Cases for each generated refusal in a run that nobody made smaller. */
const WHOLE_RUNS = 25
/** A report is signed within so many days of its run: a server changes. */
const MOST_DAYS_BEFORE = 7
const DAY_MS = 86_400_000
/** What a server answers that has no such operation. */
const UNSERVED = ['404', '405', '410', '501']

/** What decides whether a certificate is partial. */
export type PartialFacts = Pick<Predicate, 'run' | 'verdicts' | 'operations' | 'issuedAt'>

/**
 * Why this is not the certificate of a whole run that found the target conformant by exact names, one clause each; `sign`
 * then asks for `--partial`. A function of what the certificate itself says, so that `verify` can compute it again.
 */
export function partialReasons({ run, verdicts, operations, issuedAt }: PartialFacts): string[] {
  const late = (Date.parse(issuedAt) - Date.parse(run.startedAt)) / DAY_MS
  const family = run.tpe === 'family' && verdicts.family === 'conformant'
  const reasons: [boolean, string][] = [
    [verdicts.exact !== 'conformant', `the verdict is ${verdicts.exact}${family ? ' by exact names' : ''}`],
    [family && verdicts.exact !== 'conformant', 'only --tpe family makes it conformant'],
    [run.interrupted, 'the run was interrupted'],
    [run.shard !== null, `it is shard ${run.shard} of a run; conform merge joins them`],
    [run.only.length > 0, `--only chose what was judged: ${run.only.join(', ')}`],
    [run.skip.length > 0, `--skip left out: ${run.skip.join(', ')}`],
    [run.readOnly, 'the run was --read-only'],
    [run.baseline, 'failures were expected by --baseline'],
    [run.insecure, 'TLS certificates were not verified (--insecure)'],
    [run.runs < WHOLE_RUNS, `--runs was ${run.runs}, fewer than ${WHOLE_RUNS}`],
    [run.credentialProbes === 'few', 'few wrong keys were tried (credentialProbes: few)'],
    ...operations.notServed.map(({ operation, answered }): [boolean, string] => [
      !UNSERVED.includes(answered ?? ''),
      `${operation} is declared not served, ${answered === null ? 'and no request was sent to it' : `but answered: ${answered}`}`,
    ]),
    [late < 0, `the run began after it was signed, at ${run.startedAt}`],
    [late > MOST_DAYS_BEFORE, `the run began more than ${MOST_DAYS_BEFORE} days before it was signed`],
  ]
  return reasons.flatMap(([holds, reason]) => (holds ? [reason] : []))
}
