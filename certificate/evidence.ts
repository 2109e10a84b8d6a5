import { isDeepStrictEqual } from 'node:util'
import { parseReport } from '../harness/report/report-file.ts'
import { UserError } from '../harness/user-error.ts'
import type { Report, RequirementResult } from '../harness/report/model.ts'
import type { NamedBytes } from './bundle.ts'
import { harProblems } from './har-problems.ts'
import { makeStatement, sha256 } from './make-statement.ts'
import { reportProblems, requirementsOf } from './report-problems.ts'
import type { Predicate, Statement } from './statement.ts'
import type { SuiteFacts } from './suite-facts.ts'
import { parseJson } from '../harness/report/json-file.ts'
import { isObject } from '../schemas/json-object.ts'
import { matchesId, mostPatterns } from '../harness/report/selection.ts'

/** What a certificate can be held against. */
export interface Evidence {
  readonly report: NamedBytes
  readonly exchanges?: readonly NamedBytes[]
  readonly target?: NamedBytes
  /** The requirements of the version that judged. */
  readonly requirements?: string
}

/**
 * The certificate is made anew from the report; whatever differs is named, as is whatever the report, its exchanges and its
 * target file contradict. Throws UserError if this cannot be looked at.
 */
export function evidenceProblems(statement: Statement, evidence: Evidence, own: SuiteFacts): string[] {
  const { name, bytes } = evidence.report
  if (sha256(bytes).sha256 !== statement.subject[1].digest.sha256)
    return [`${name} is not the report it was issued for`]
  const report = reportIn(evidence.report)
  if (report instanceof UserError) return [report.message]
  const requirements = requirementsOf({ name, report }, own, evidence.requirements)
  return [
    ...reportProblems(report, requirements).map((problem) => `${name}: ${problem}`),
    ...differences(statement, report, evidence.report),
    ...(evidence.exchanges ? exchangesProblems(statement, evidence.exchanges, report) : []),
    ...(evidence.target ? targetProblems(evidence.target, report) : []),
  ]
}

function reportIn({ name, bytes }: NamedBytes): Report | UserError {
  try {
    return parseReport(Buffer.from(bytes).toString('utf8'), name)
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
}

/** Where the statement does not follow from the report. Reasons for partial beyond those that do follow take nothing back. */
function differences(statement: Statement, report: Report, { name, bytes }: NamedBytes): string[] {
  const { issuedAt, expiresAt, publicKey, suite, partial } = statement.predicate
  const [, , ...exchanges] = statement.subject
  const issue = { issuedAt, expiresAt, publicKey, suiteDigest: suite.digest, exchanges, foreign: [] }
  const made = makeStatement(report, bytes, issue)
  const differs = (member: keyof Predicate) =>
    member === 'partial'
      ? made.predicate.partial.some((reason) => !partial.includes(reason))
      : !isDeepStrictEqual(made.predicate[member], statement.predicate[member])
  const members = (Object.keys(made.predicate) as (keyof Predicate)[]).filter(differs)
  const subject = isDeepStrictEqual(made.subject, statement.subject) ? [] : [`its subject is not the target of ${name}`]
  return [...members.map((member) => `its ${member} does not follow from ${name}`), ...subject]
}

function exchangesProblems({ subject }: Statement, files: readonly NamedBytes[], report: Report): string[] {
  const [, , ...named] = subject
  const given = files.map(({ name, bytes }) => ({ name, digest: sha256(bytes) }))
  if (!isDeepStrictEqual(named, given)) return ['the exchanges are not those it was issued for']
  return harProblems(files, report)
}

/** What a target file says of what cannot be judged. */
interface Declared {
  readonly operations: Readonly<Record<string, unknown>>
  /** Ids and patterns; a target file with more of them than that is none that a run takes. */
  readonly unreachable: readonly string[]
}

/** Why this is not the target file of that report, or does not declare what the report takes out of the judgement. */
export function targetProblems({ name, bytes }: NamedBytes, { target, requirements }: Report): string[] {
  if (`sha256:${sha256(bytes).sha256}` !== target.digest) return [`${name} is not the target file of the report`]
  const declared = declaredIn(Buffer.from(bytes).toString('utf8'), name)
  return requirements
    .filter((result) => result.outcome === 'not-applicable' && !isDeclared(result, declared))
    .map(({ id }) => `${id} is not applicable by the report, but ${name} declares nothing of the kind`)
}

function isDeclared({ id, operation }: RequirementResult, { operations, unreachable }: Declared): boolean {
  // It is about a removed operation, and applies to no other.
  if (id === 'pdf.parse/4xx-removed') return true
  if (typeof operations[operation] === 'string') return true
  return unreachable.some((pattern) => matchesId(id, pattern))
}

function declaredIn(text: string, name: string): Declared {
  try {
    const file = parseJson(text, name)
    const member = (key: string) => (isObject(file) && isObject(file[key]) ? file[key] : {})
    return { operations: member('operations'), unreachable: Object.keys(member('unreachable')).slice(0, mostPatterns) }
  } catch (error) {
    if (error instanceof UserError) return { operations: {}, unreachable: [] }
    throw error
  }
}
