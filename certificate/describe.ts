import { terminalText } from '../reporters/escape.ts'
import { groupBy } from '../harness/group-by.ts'
import { count } from '../harness/report/index.ts'
import type { Excluded, Operations, Predicate, RunFacts, Statement } from './statement-schema.ts'
import { operationCount } from './statement.ts'
import { claimedByStatement, type SuiteFacts } from './suite-facts.ts'
import type { Verification } from './verify-certificate.ts'

/** Input that the certificate was held against, as far as the words depend on it. */
export interface Given {
  /** File of the public key, and its id. */
  readonly publicKey?: { readonly path: string; readonly id: string } | undefined
  /** Ids that `--key-id` names. */
  readonly keyIds?: readonly string[] | undefined
  /** Evidence that it was held against: a report, a bundle. */
  readonly evidence?: string | undefined
  /** The report was held to the recorded exchanges. */
  readonly exchanges?: boolean
  readonly suite?: SuiteFacts | undefined
}

/**
 * Lines that `verify` prints: whether it is valid and accepted, and who signed; the verdict by exact names, which operations
 * were judged, what was not tested, how and when; then what that proves and what it does not. Names come from whoever
 * signed: no control character of theirs reaches the terminal.
 * @param unmet what was asked of it that it does not meet
 */
export function describe(found: Verification, unmet: readonly string[], given: Given) {
  const { problems, statement, signers, id } = found
  const { publicKey, keyIds = [] } = given
  const ownerOf = (signer: string): string => {
    if (publicKey?.id === signer) return `the key in ${publicKey.path}, ${signer}`
    return keyIds.includes(signer) ? `the key of --key-id ${signer}` : `an unknown key ${signer}`
  }
  const standing =
    problems.length > 0 ? 'Not valid' : unmet.length > 0 ? 'Valid, but not accepted' : 'Valid'
  const verdict = statement ? `: ${exactVerdict(statement.predicate)}` : ''
  const head = [
    ...(statement && given.exchanges !== true ? [unseen] : []),
    ...signers.map((signer, index) =>
      index === 0
        ? `${standing}${verdict}, signed by ${ownerOf(signer)}`
        : `also signed by ${ownerOf(signer)}`,
    ),
    ...problems.map((problem) => `not valid: ${problem}`),
    ...unmet.map((demand) => `not accepted: ${demand}`),
  ]
  const rest = [
    ...(statement
      ? [...otherVersion(found, given), ...claims(statement), `certificate: ${id}`]
      : []),
    ...(statement && problems.length === 0 ? meaning(statement, signers, given) : []),
  ]
  return {
    lines: [...head, ...rest].map((line) => terminalText(line, Infinity)),
    /** How many of them say how it stands. */
    headLines: head.length,
  }
}

/** Said first of a report that nothing shows to be true but itself. */
export const unseen = 'the exchanges were not looked at'

/**
 * Claims of a certificate, in lines. Names come from whoever signed, and no control character of theirs reaches the
 * terminal; they stand in quotes, so that none can be taken for a word of ours.
 */
export function claims({ subject: [target, report], predicate }: Statement): string[] {
  const { suite, run, spec, operations, partial, notExercised, notApplicable } = predicate
  const { must, should } = predicate.summary
  const lines = [
    `verdict by exact names: ${exactVerdict(predicate)}`,
    ...partial.map((reason) => `partial: ${reason}`),
    `target: ${target.uri}, named ${JSON.stringify(target.name)}, held to the interface in version ${spec.version}`,
    named('judged', operations.judged),
    named('declared not served, so not judged', unservedNames(operations)),
    ...(operations.removed.length > 0 ? [named('declared removed', operations.removed)] : []),
    ...(operations.notExercised.length > 0
      ? [named('not tested at all', operations.notExercised)]
      : []),
    `not tested: ${notExercised.length} of ${predicate.requirements.count} requirements`,
    ...byReason(notExercised),
    `not applicable: ${notApplicable.length} of ${predicate.requirements.count} requirements, ${unreachable(notApplicable)} of them declared unreachable`,
    ...byReason(notApplicable),
    `must: ${must.passed} passed, ${must.failed} failed; should: ${should.passed} passed, ${should.failed} failed`,
    ...(predicate.failed.length > 0 ? [`failed: ${predicate.failed.join(', ')}`] : []),
    `mode: ${run.tpe === 'exact' ? 'exact names' : `family names (in it the verdict is ${predicate.verdicts.family})`}${run.strict ? ', strict' : ''}; runs: ${run.runs} for each generated refusal; seed ${run.seed}; ${run.requests} requests`,
    ...between(run).map((what) => `between: ${what}`),
    `judged: ${run.startedAt}, by ${suite.name} ${suite.version}`,
    `valid: ${predicate.issuedAt} to ${predicate.expiresAt}`,
    `report: sha256:${report.digest.sha256}`,
  ]
  return lines.map((line) => terminalText(line, Infinity))
}

/** A reader who knows this version's requirements is told if others were judged, and if nobody knows them. */
function otherVersion({ statement, isForeign }: Verification, { suite: own }: Given): string[] {
  if (!own || !statement) return []
  const { version, requirements, requirementsDigest } = claimedByStatement(statement.predicate)
  if (isForeign) {
    return [
      `requirements: ${requirements}, which are those of no version of the suite that ${own.version} knows; it calls itself version ${version}, and the signer alone vouches for them`,
    ]
  }
  if (requirementsDigest === own.requirementsDigest) return []
  return [
    `requirements: ${requirements}, those of version ${version}, which differ from this version's`,
  ]
}

/** Names what stood between the suite and the target, and may have answered in its place. */
export function between({ ca, insecure, proxy, retried }: RunFacts): string[] {
  return [
    ...(retried === 0
      ? []
      : [
          `what cut off or reset ${count(retried, 'answer')}, or gave a 502 or 504 in their place; each was asked for again`,
        ]),
    ...(proxy === null ? [] : [`the proxy ${proxy}`]),
    ...(ca ? ['an authority of the target file, which was trusted (tls.ca)'] : []),
    ...(insecure ? ['whoever answered: TLS certificates were not verified (--insecure)'] : []),
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

/** The operations that are declared not served, each with what it answered to one request. */
export function unservedNames({ notServed }: Operations): string[] {
  return notServed.map(({ operation, answered }) =>
    answered === null ? operation : `${operation} (answered ${answered})`,
  )
}

function named(word: string, operations: readonly string[]): string {
  return `operations ${word}: ${operations.length}${operations.length > 0 ? ` (${operations.join(', ')})` : ''}`
}

/** Counts what the signer's target file declares out of reach, not what the target does not serve. */
function unreachable(excluded: readonly Excluded[]): number {
  return excluded.filter(({ unreachable }) => unreachable).length
}

/** How many requirements are left out of the claim for each reason, the most frequent first, and which if they are few. */
function byReason(excluded: readonly Excluded[]): string[] {
  return [...groupBy(excluded, ({ reason }) => reason)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(
      ([reason, of]) =>
        `  ${of.length}: ${reason}${of.length <= 5 ? ` (${of.map(({ id }) => id).join(', ')})` : ''}`,
    )
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
      ? ['anything about the requirements that are not applicable or were not tested']
      : []),
  ]
  return [
    '',
    `This proves that the holder of the key made these claims, and that no byte of them was changed since${held}.`,
    'It does not prove:',
    ...limits.map((line) => `- ${line}`),
  ]
}
