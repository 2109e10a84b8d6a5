import { terminalText } from '../reporters/escape/terminal.ts'
import { operationCount } from './operations.ts'
import { parseReason } from '../harness/report/reason.ts'
import type { Excluded, Predicate, Statement } from './statement.ts'
import type { Verification } from './verify-certificate.ts'

/** What was given to hold the certificate against, as far as the words depend on it. */
export interface Given {
  /** File of the public key, and its id. */
  readonly publicKey?: { readonly path: string; readonly id: string } | undefined
  /** Ids that `--key-id` names. */
  readonly keyIds?: readonly string[] | undefined
  /** What it was held against: a report, a bundle. */
  readonly evidence?: string | undefined
  /** Digest of the requirements of the version that verifies. */
  readonly ownRequirements?: string | undefined
}

/**
 * What `verify` prints: who signed, whether it is valid and accepted, the verdict by exact names, which operations were
 * judged, what was not exercised, how and when; then what that proves and what it does not. Names come from whoever
 * signed: no control character of theirs reaches the terminal.
 * @param unmet what was asked of it that it does not meet
 */
export function describe(found: Verification, unmet: readonly string[], given: Given): string[] {
  const { problems, statement, signers, id } = found
  const lines = [
    ...signers.map((signer, index) => `${index === 0 ? '' : 'also '}signed by ${ownerOf(signer, given)}`),
    ...problems.map((problem) => `not valid: ${problem}`),
    ...unmet.map((demand) => `not accepted: ${demand}`),
    ...(statement ? claims(statement, id ?? '') : []),
    ...(statement ? otherVersion(statement, given) : []),
    ...(statement && problems.length === 0 ? meaning(statement, signers, given) : []),
  ]
  return lines.map((line) => terminalText(line, Infinity))
}

function ownerOf(signer: string, { publicKey, keyIds = [] }: Given): string {
  if (publicKey?.id === signer) return `the key in ${publicKey.path}, ${signer}`
  return keyIds.includes(signer) ? `the key of --key-id ${signer}` : `an unknown key ${signer}`
}

function claims({ subject: [target, report], predicate }: Statement, id: string): string[] {
  const { suite, run, spec, operations, partial, notExercised, notApplicable } = predicate
  const { must, should } = predicate.summary
  const unserved = operations.notServed.map(({ operation, answered }) =>
    answered === null ? operation : `${operation} (answered ${answered})`,
  )
  return [
    `verdict by exact names: ${exactVerdict(predicate)}`,
    ...partial.map((reason) => `partial: ${reason}`),
    `target: ${target.name} (${target.uri}), held to the interface in version ${spec.version}`,
    named('judged', operations.judged),
    named('declared not served, so not judged', unserved),
    ...(operations.removed.length > 0 ? [named('declared removed', operations.removed)] : []),
    ...(operations.notExercised.length > 0 ? [named('not exercised at all', operations.notExercised)] : []),
    `not exercised: ${notExercised.length} of ${predicate.requirements.count} requirements`,
    ...byReason(notExercised),
    `not applicable: ${notApplicable.length} of ${predicate.requirements.count} requirements, ${unreachable(notApplicable)} of them declared unreachable`,
    ...byReason(notApplicable),
    `must: ${must.passed} passed, ${must.failed} failed; should: ${should.passed} passed, ${should.failed} failed`,
    ...(predicate.failed.length > 0 ? [`failed: ${predicate.failed.join(', ')}`] : []),
    `mode: ${run.tpe === 'exact' ? 'exact names' : `family names (in it the verdict is ${predicate.verdicts.family})`}${run.strict ? ', strict' : ''}; runs: ${run.runs} for each generated refusal; seed ${run.seed}; ${run.requests} requests`,
    `judged: ${run.startedAt}, by ${suite.name} ${suite.version}`,
    `valid: ${predicate.issuedAt} to ${predicate.expiresAt}`,
    `certificate: ${id}`,
    `report: sha256:${report.digest.sha256}`,
  ]
}

/** A reader who knows this version's requirements is told if others were judged. */
function otherVersion({ predicate: { requirements, suite } }: Statement, { ownRequirements }: Given): string[] {
  if (ownRequirements === undefined || ownRequirements === `sha256:${requirements.digest.sha256}`) return []
  return [
    `requirements: those of version ${suite.version}, which differ from this version's; the signer vouches for them`,
  ]
}

/** The verdict by exact names, with what it leaves out: never a bare `conformant` for less than all of it. */
export function exactVerdict({ verdicts, operations, partial }: Predicate): string {
  const judged = operations.judged.length
  const notes = [
    ...(partial.length > 0 ? ['partial'] : []),
    ...(judged < operationCount ? [`${judged} of ${operationCount} operations judged`] : []),
  ]
  return [verdicts.exact, ...notes].join(', ')
}

function named(word: string, operations: readonly string[]): string {
  return `operations ${word}: ${operations.length}${operations.length > 0 ? ` (${operations.join(', ')})` : ''}`
}

/** Those that the signer's target file declares out of reach, not those that the target does not serve. */
function unreachable(rows: readonly Excluded[]): number {
  return rows.filter(({ reason }) => parseReason(reason).kind === 'unreachable').length
}

/** How many requirements are left out of the claim for each reason, the most frequent first, and which if they are few. */
function byReason(rows: readonly Excluded[]): string[] {
  const ids = new Map<string, string[]>()
  for (const { id, reason } of rows) ids.set(reason, [...(ids.get(reason) ?? []), id])
  return [...ids]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([reason, of]) => `  ${of.length}: ${reason}${of.length <= 5 ? ` (${of.join(', ')})` : ''}`)
}

function meaning({ predicate }: Statement, signers: readonly string[], given: Given): string[] {
  const { evidence, publicKey, keyIds = [] } = given
  const held = evidence === undefined ? '' : `; and that these claims follow from ${evidence}`
  const isKnown = publicKey !== undefined || signers.some((signer) => keyIds.includes(signer))
  const limits = [
    isKnown
      ? 'that the key was in the hands of its owner alone'
      : `whose key that is: ask the signer for its id and give --key-id, or --public-key`,
    ...(evidence === undefined ? ['that the report says so: give --report, or a bundle'] : []),
    'that the holder ran the suite, unchanged, against that address',
    'that the server is still the one that was judged',
    ...(predicate.notApplicable.length + predicate.notExercised.length > 0
      ? ['anything about the requirements that are not applicable or were not exercised']
      : []),
  ]
  return [
    '',
    `This proves that the holder of the key made these claims, and that no byte of them was changed since${held}.`,
    'It does not prove:',
    ...limits.map((line) => `- ${line}`),
  ]
}
