import { visible } from '../reporters/escape/visible.ts'
import type { Verification } from './verify-certificate.ts'
import type { Excluded, Statement } from './statement.ts'

/** What was given to hold the certificate against, as far as the words depend on it. */
export interface Given {
  /** File of the public key. */
  readonly publicKey?: string
  /** File of the report. */
  readonly report?: string
}

/**
 * What `verify` prints: signer, claim and what is left out of it first, then what that proves and what it does not.
 * Names come from whoever signed: no control character of theirs reaches the terminal.
 */
export function describe({ problems, statement, signer }: Verification, given: Given): string[] {
  const verdict = problems.map((problem) => `not valid: ${problem}`)
  if (!statement || !signer) return verdict.map((line) => visible(line))
  const who = given.publicKey === undefined ? 'an unknown key' : `the key in ${given.publicKey},`
  const lines = [`signed by ${who} ${signer}`, ...verdict, ...claims(statement)]
  if (problems.length === 0) lines.push(...meaning(statement, signer, given))
  return lines.map((line) => visible(line))
}

function claims({ subject: [target, report], predicate }: Statement): string[] {
  const { must, should } = predicate.summary
  const { suite, run, spec } = predicate
  return [
    ...predicate.partial.map((reason) => `partial: ${reason}`),
    `claims: ${target.name} (${target.uri}) is ${predicate.verdict} with the interface in version ${spec.version}`,
    `must: ${must.passed} passed, ${must.failed} failed, ${must.notExercised} not exercised, ${must.notApplicable} not applicable`,
    `should: ${should.passed} passed, ${should.failed} failed, ${should.notExercised} not exercised, ${should.notApplicable} not applicable`,
    `not vouched for: ${predicate.notApplicable.length} not applicable (${unreachable(predicate.notApplicable)} declared unreachable), ${predicate.notExercised.length} not exercised`,
    ...byReason('not applicable', predicate.notApplicable),
    ...byReason('not exercised', predicate.notExercised),
    `judged: ${run.startedAt} by ${suite.name} ${suite.version}, seed ${run.seed}, ${run.requests} requests, code names ${run.tpe}`,
    `valid: ${predicate.issuedAt} to ${predicate.expiresAt}`,
    `report: sha256:${report.digest.sha256}`,
  ]
}

/** Those that the signer's target file declares out of reach, not those that the target does not serve. */
function unreachable(rows: readonly Excluded[]): number {
  return rows.filter(({ reason }) => reason.startsWith('declared unreachable')).length
}

/** How many requirements are left out of the claim for each reason, the most frequent first. */
function byReason(word: string, rows: readonly Excluded[]): string[] {
  const counts = new Map<string, number>()
  for (const { reason } of rows) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1]).map(([reason, count]) => `  ${count} ${word}: ${reason}`)
}

function meaning({ predicate }: Statement, signer: string, given: Given): string[] {
  const held = given.report === undefined ? '' : `; and that these claims follow from ${given.report}`
  const whose =
    given.publicKey === undefined
      ? `whose key that is: ask the signer for it, compare ${signer}, or give --public-key`
      : 'that the key was in the hands of its owner alone'
  const unknown = given.report === undefined ? ['that the report says so: give --report'] : []
  return [
    '',
    `This proves that the holder of the key made these claims, and that no byte of them was changed since${held}.`,
    'It does not prove:',
    ...[
      whose,
      ...unknown,
      'that the holder ran the suite, unchanged, against that address',
      'that the server is still the one that was judged',
      ...(predicate.notApplicable.length + predicate.notExercised.length > 0
        ? ['anything about the requirements that are not applicable or were not exercised']
        : []),
    ].map((line) => `- ${line}`),
  ]
}
