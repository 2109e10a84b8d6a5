import { isDeepStrictEqual } from 'node:util'
import canonicalize from 'canonicalize'
import { isRequirementId, requirementOf } from '../catalogue/catalogue.ts'
import { mayBeUnreachable } from '../catalogue/requirement.ts'
import type { Report, RequirementResult } from '../harness/report/index.ts'
import {
  inconsistencies,
  matchesId,
  maxPatterns,
  parseJson,
  parseReport,
  refuseDoubled,
} from '../harness/report/index.ts'
import { exchangeProblems } from '../traffic/held-exchanges.ts'
import { orMistake, UserError } from '../harness/user-error.ts'
import { firstOf } from '../reporters/view/writing.ts'
import { isObject, member } from '../schemas/json.ts'
import type { Evidence, NamedBytes } from './certificate-file.ts'
import { makeStatement, reasonsIn, sha256 } from './statement.ts'
import type { Predicate, Statement } from './statement-schema.ts'
import { type KnownRequirement, requirementsOf, type SuiteFacts } from './suite-facts.ts'

/**
 * The certificate is made anew from the report; whatever differs is named, as is whatever the report, its exchanges and its
 * target file contradict. Throws UserError if this cannot be looked at.
 */
export function evidenceProblems(
  statement: Statement,
  evidence: Evidence,
  own: SuiteFacts,
): string[] {
  const { name, bytes } = evidence.report
  if (sha256(bytes).sha256 !== statement.subject[1].digest.sha256)
    return [`${name} is not the report it was issued for`]
  const report = orMistake(() => readWholeReport(evidence.report))
  if (report instanceof UserError) return [report.message]
  const requirements = requirementsOf(report, name, own, evidence.requirements?.bytes)
  const { exchanges } = evidence
  const [, , ...named] = statement.subject
  const areNamed = isDeepStrictEqual(
    named,
    exchanges?.map((file) => ({ name: file.name, digest: sha256(file.bytes) })),
  )
  return [
    ...reportProblems(report, requirements).map((problem) => `${name}: ${problem}`),
    ...differences(statement, report, evidence.report),
    ...(exchanges && !areNamed ? ['the exchanges are not those it was issued for'] : []),
    ...(exchanges && areNamed ? harProblems(exchanges, report, own) : []),
    ...(evidence.target ? targetProblems(evidence.target, report, requirements) : []),
  ]
}

/** The report in those bytes. Throws UserError if it is none, or has a member twice: then two readers may read two reports. */
export function readWholeReport({ name, bytes }: NamedBytes): Report {
  const text = Buffer.from(bytes).toString('utf8')
  const report = parseReport(text, name)
  refuseDoubled(text, name)
  return report
}

/** Finds where a report contradicts itself, or does not hold each of the requirements exactly once and as it is. */
export function reportProblems(
  report: Report,
  requirements: readonly KnownRequirement[],
): string[] {
  const judged = new Map(report.requirements.map((result) => [result.id, result]))
  const known = new Set(requirements.map(({ id }) => id))
  const changed = requirements.flatMap((requirement) => {
    const result = judged.get(requirement.id)
    return result ? requirementProblems(result, requirement) : [`${requirement.id} is missing`]
  })
  const strange = [...judged.keys()]
    .filter((id) => !known.has(id))
    .map((id) => `${id} is not a requirement`)
  return [...inconsistencies(report), ...changed, ...strange]
}

function requirementProblems(
  result: RequirementResult,
  { id, operation, level, section, statement }: KnownRequirement,
) {
  if (result.level !== level || result.operation !== operation)
    return [
      `${id} is a ${level} of ${operation}, but the report has it as a ${result.level} of ${result.operation}`,
    ]
  if (result.statement !== statement || result.section !== section)
    return [`${id} is worded otherwise than the suite does`]
  return []
}

/** Finds where the statement does not follow from the report. Reasons for partial beyond those that do follow take nothing back. */
function differences(statement: Statement, report: Report, { name, bytes }: NamedBytes): string[] {
  const { issuedAt, expiresAt, publicKey, suite, partial } = statement.predicate
  const [, , ...exchanges] = statement.subject
  const issue = {
    issuedAt,
    expiresAt,
    publicKey,
    suiteDigest: suite.digest,
    exchanges,
    foreign: [],
  }
  const made = makeStatement(report, bytes, issue)
  const differs = (member: keyof Predicate) =>
    member === 'partial'
      ? made.predicate.partial.some((reason) => !partial.includes(reason))
      : !isDeepStrictEqual(made.predicate[member], statement.predicate[member])
  const members = (Object.keys(made.predicate) as (keyof Predicate)[]).filter(differs)
  const subject = isDeepStrictEqual(made.subject, statement.subject)
    ? []
    : [`its subject is not the target of ${name}`]
  return [...members.map((member) => `its ${member} does not follow from ${name}`), ...subject]
}

/**
 * Why this is not the target file of that report, does not declare what the report takes out of the judgement, or declares
 * what the report does not tell.
 */
export function targetProblems(
  { name, bytes }: NamedBytes,
  report: Report,
  requirements: readonly KnownRequirement[],
): string[] {
  const { target, run } = report
  if (`sha256:${sha256(bytes).sha256}` !== target.digest)
    return [`${name} is not the target file of the report`]
  const text = Buffer.from(bytes).toString('utf8')
  const file = declaredIn(text, name)
  if (file === null) return [`${name} is no target file as conform writes it into a bundle`]
  const knownById = new Map(requirements.map((requirement) => [requirement.id, requirement]))
  const called = member(file, 'name')
  const few = member(member(file, 'limits'), 'credentialProbes') === 'few'
  return [
    ...reasonsIn([
      [
        typeof called === 'string' && called !== target.name,
        `${name} is that of ${JSON.stringify(called)}`,
      ],
      [
        few && run.credentialProbes !== 'few',
        `${name} asks for few credential probes, the report tells of all`,
      ],
    ]),
    ...report.requirements.flatMap((result) => {
      const problem = declarationProblem(result, file, knownById.get(result.id))
      return problem === null ? [] : [`${result.id} ${problem}`.replaceAll('{file}', name)]
    }),
  ]
}

function declarationProblem(
  { id, operation, outcome, why }: RequirementResult,
  file: unknown,
  requirement: KnownRequirement | undefined,
): string | null {
  const declared = member(member(file, 'operations'), operation)
  const isJudged = outcome === 'passed' || outcome === 'failed'
  if (isJudged && declared === 'not-served')
    return 'was judged by the report, but {file} declares it not served'
  if (outcome !== 'not-applicable' || requirement?.id === 'pdf.parse/4xx-removed') return null
  const isAway =
    why?.kind === 'absent' &&
    (why.seenBy ? isSeenByNone(id, why.seenBy, file) : declared === why.absence)
  if (isAway) return null
  // With more of them it is none that a run takes.
  const entries = Object.entries(member(file, 'unreachable') ?? {}).slice(0, maxPatterns)
  const note = why?.kind === 'unreachable' ? why.note : undefined
  const isDeclared = entries.some(
    ([pattern, noted]) => noted === note && requirement && matchesId(requirement.id, pattern),
  )
  if (note === undefined || !isDeclared)
    return 'is not applicable by the report, but {file} declares nothing of the kind'
  return requirement && mayBeUnreachable(requirement)
    ? null
    : 'cannot be unreachable: a valid request with the full key reaches it'
}

/** True if the file declares away all operations by which alone the requirement is seen, by this version if it knows it. */
function isSeenByNone(id: string, told: readonly string[], file: unknown): boolean {
  const seenBy = isRequirementId(id) ? (requirementOf(id).seenBy ?? []) : told
  const isDeclaredAway = (other: string) =>
    ['not-served', 'removed'].includes(String(member(member(file, 'operations'), other)))
  return seenBy.length > 0 && seenBy.every(isDeclaredAway)
}

/** Null if it is not canonical JSON: then a member might stand in it twice. */
function declaredIn(text: string, name: string): unknown {
  const file = orMistake(() => parseJson(text, name))
  return isObject(file) && !(file instanceof UserError) && canonicalize(file) === text ? file : null
}

/** A run's clock and that of its worker may differ by so much, in ms. */
const CLOCK_MS = 1000

const mostContradictions = 3

/** An entry of a HAR, as far as it is looked at. */
interface Entry {
  readonly startedDateTime: string
  readonly request: { readonly url: string }
  readonly _requirement: string | null
  readonly _role: string
}

/**
 * Why these are not the recorded exchanges of that run: as many as the run sent, at its time, to its target, by its suite,
 * for its requirements only, and answered as the report says. The last is looked at by the version that judged alone.
 */
export function harProblems(
  files: readonly NamedBytes[],
  report: Report,
  own: Pick<SuiteFacts, 'requirementsDigest'>,
): string[] {
  const { run, suite, target } = report
  const logs = files.map(({ name, bytes }) => ({ name, log: logIn(bytes) }))
  const broken = logs.flatMap(({ name, log }) =>
    log ? [] : [`${name} is not a HAR as conform writes it`],
  )
  if (broken.length > 0) return broken
  const entries = logs.flatMap(({ log }) => log?.entries ?? [])
  const began = Date.parse(run.startedAt)
  const ids = new Set(report.requirements.map(({ id }) => id))
  const { baseUrl } = target
  const isBelow = (url: string) =>
    url === baseUrl || ['/', '?'].some((next) => url.startsWith(baseUrl + next))
  const isAway = ({ request, _role }: Entry) => _role === 'probe' && !isBelow(request.url)
  const isEarly = ({ startedDateTime }: Entry) => !(Date.parse(startedDateTime) >= began - CLOCK_MS)
  const isStrange = ({ _requirement }: Entry) => _requirement !== null && !ids.has(_requirement)
  const problems = reasonsIn([
    [
      logs.some(({ log }) => log?.creator !== `${suite.name} ${suite.version}`),
      'another suite recorded them',
    ],
    [
      entries.length !== run.requests,
      `they are ${entries.length} of the ${run.requests} that the run sent`,
    ],
    [entries.some(isAway), `they did not go to ${target.baseUrl}`],
    [entries.some(isEarly), 'they were recorded before the run began'],
    [entries.some(isStrange), 'they are for requirements that the report does not hold'],
  ])
  const isOwn = suite.requirementsDigest === own.requirementsDigest
  const contradictions = problems.length > 0 || !isOwn ? [] : exchangeProblems(report, entries)
  return [
    ...problems.map((problem) => `the exchanges are not those of the report: ${problem}`),
    ...firstOf(contradictions, mostContradictions).map(
      (problem) => `the exchanges contradict the report: ${problem}`,
    ),
  ]
}

function logIn(bytes: Uint8Array): { creator: string; entries: readonly Entry[] } | null {
  try {
    const { log } = JSON.parse(Buffer.from(bytes).toString('utf8')) as {
      log: { creator: { name: string; version: string }; entries: Entry[] }
    }
    const isEntry = (entry: Entry) => isObject(entry) && typeof entry.request.url === 'string'
    if (!log.entries.every(isEntry)) return null
    return { creator: `${log.creator.name} ${log.creator.version}`, entries: log.entries }
  } catch {
    return null
  }
}
