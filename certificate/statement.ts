import { createHash } from 'node:crypto'
import { operations } from '../catalogue/operations.ts'
import type { Absence, Outcome, Report, RequirementResult } from '../harness/report/index.ts'
import { conditions, countOutcomes } from '../harness/report/index.ts'
import type {
  Coverage,
  Digest,
  Excluded,
  NamedDigest,
  Operations,
  Predicate,
} from './statement-schema.ts'
import {
  PREDICATE_TYPE,
  type RunFacts,
  STATEMENT_TYPE,
  type Statement,
} from './statement-schema.ts'

/** The media type of the DSSE payload. */
export const PAYLOAD_TYPE = 'application/vnd.in-toto+json'

/** Cases for each generated refusal in a run that nobody made smaller. */
const WHOLE_RUNS = 25
/** Most days between a run and its certificate: a server changes. */
const MOST_DAYS_BEFORE = 7
export const DAY_MS = 86_400_000
const UNSERVED = ['404', '405', '410', '501']

/** A reason, and whether it holds. */
export type Rule = readonly [holds: boolean, reason: string]

/** The reasons that hold. */
export function reasonsIn(rules: readonly Rule[]): string[] {
  return rules.flatMap(([holds, reason]) => (holds ? [reason] : []))
}

/**
 * Reasons why this does not certify a whole run that found the target conformant by exact names, one clause each; `sign`
 * then asks for `--partial`. A function of what the certificate itself says, so that `verify` can compute it again.
 */
export function partialReasons({
  run,
  verdicts,
  operations,
  issuedAt,
}: Pick<Predicate, 'run' | 'verdicts' | 'operations' | 'issuedAt'>): string[] {
  const late = (Date.parse(issuedAt) - Date.parse(run.startedAt)) / DAY_MS
  const family = run.tpe === 'family' && verdicts.family === 'conformant'
  return reasonsIn([
    [
      verdicts.exact !== 'conformant',
      `the verdict is ${verdicts.exact}${family ? ' by exact names' : ''}`,
    ],
    [family && verdicts.exact !== 'conformant', 'only --tpe family makes it conformant'],
    [run.interrupted, 'the run was interrupted'],
    [run.only.length > 0, `--only chose what was judged: ${run.only.join(', ')}`],
    [run.skip.length > 0, `--skip left out: ${run.skip.join(', ')}`],
    [run.readOnly, 'the run was --read-only'],
    [run.baseline, 'failures were expected by --baseline'],
    [run.insecure, 'TLS certificates were not verified (--insecure)'],
    [run.runs < WHOLE_RUNS, `--runs was ${run.runs}, fewer than ${WHOLE_RUNS}`],
    [run.depth === 'quick', 'one case of each kind was sent (--depth quick)'],
    [run.credentialProbes === 'few', 'few wrong keys were tried (credentialProbes: few)'],
    ...operations.notServed.map(({ operation, answered }): Rule => [
      !UNSERVED.includes(answered ?? ''),
      `${operation} is declared not served, ${answered === null ? 'and no request was sent to it' : `but answered: ${answered}`}`,
    ]),
    [late < 0, `the run began after it was signed, at ${run.startedAt}`],
    [
      late > MOST_DAYS_BEFORE,
      `the run began more than ${MOST_DAYS_BEFORE} days before it was signed`,
    ],
  ])
}

/** Days for which a certificate is valid by default, and at most, both from the beginning of the run. */
export const VALID_DAYS = 180
export const MOST_VALID_DAYS = 400

/** Epoch ms, that many days after the run began; a run that claims to begin later than the signing counts from the signing. */
export function daysAfterRun(
  { issuedAt, run }: { readonly issuedAt: string; readonly run: { readonly startedAt: string } },
  days: number,
): number {
  return Math.min(Date.parse(run.startedAt), Date.parse(issuedAt)) + days * DAY_MS
}

export const operationCount = operations.length

function operationsOf({ requirements, run }: Report): Operations {
  const asked = new Map(run.notServed.map(({ operation, answered }) => [operation, answered]))
  const found: Operations = { judged: [], notServed: [], removed: [], notExercised: [] }
  for (const { id } of operations) {
    const results = requirements.filter((result) => result.operation === id)
    const place = placeOf(results)
    if (place === 'notServed')
      found.notServed.push({ operation: id, answered: asked.get(id) ?? null })
    else found[place].push(id)
  }
  return found
}

function placeOf(results: readonly RequirementResult[]): keyof Operations {
  const isDeclared = (absence: Absence) =>
    results.some(({ why }) => why?.kind === 'absent' && !why.seenBy && why.absence === absence)
  if (isDeclared('not-served')) return 'notServed'
  if (isDeclared('removed')) return 'removed'
  return results.some(({ outcome }) => outcome === 'passed' || outcome === 'failed')
    ? 'judged'
    : 'notExercised'
}

/** Claims of a certificate beyond its report. */
interface Issue extends Pick<Predicate, 'issuedAt' | 'expiresAt' | 'publicKey'> {
  readonly suiteDigest: Digest
  readonly exchanges: readonly NamedDigest[]
  /** Reasons for partial that the report alone does not tell. */
  readonly foreign: readonly string[]
}

/** Everything that a certificate says: a function of the report, its bytes and the issue alone, so that it can be made again. */
export function makeStatement(report: Report, bytes: Uint8Array, issue: Issue): Statement {
  const { suite, target, requirements } = report
  const { issuedAt, expiresAt, publicKey } = issue
  const run = runFacts(report)
  const operations = operationsOf(report)
  const partial = partialReasons({ run, verdicts: report.verdicts, operations, issuedAt })
  return {
    _type: STATEMENT_TYPE,
    subject: [
      { name: target.name, uri: target.baseUrl, digest: digestOf(target.digest) },
      { name: 'conformance-report', digest: sha256(bytes) },
      ...issue.exchanges,
    ],
    predicateType: PREDICATE_TYPE,
    predicate: {
      suite: { name: suite.name, version: suite.version, digest: issue.suiteDigest },
      spec: { version: suite.specVersion, digest: digestOf(suite.specDigest) },
      requirements: { count: requirements.length, digest: digestOf(suite.requirementsDigest) },
      targetFile: { digest: digestOf(target.digest) },
      run,
      verdict: report.verdict,
      verdicts: report.verdicts,
      summary: report.summary,
      operations,
      coverage: coverageOf(report),
      notApplicable: excluded(requirements, 'not-applicable'),
      notExercised: excluded(requirements, 'not-exercised'),
      failed: requirements
        .filter((result) => result.outcome === 'failed')
        .map((result) => result.id),
      partial: [...partial, ...issue.foreign],
      issuedAt,
      expiresAt,
      publicKey,
    },
  }
}

export function sha256(bytes: Uint8Array): Digest {
  return { sha256: createHash('sha256').update(bytes).digest('hex') }
}

/** `sha256:<hex>`, as reports write it, the way in-toto does. */
function digestOf(digest: string): Digest {
  return { sha256: digest.replace(/^sha256:/, '') }
}

function runFacts({ run }: Report): RunFacts {
  const names = Object.keys(conditions) as (keyof typeof conditions)[]
  const repeated = Object.fromEntries(names.map((name) => [name, run[name]])) as Pick<
    RunFacts,
    (typeof names)[number]
  >
  return { ...repeated, baseline: run.baseline !== null, retried: run.retried ?? 0 }
}

function coverageOf({ requirements, run }: Report): Coverage[] {
  return [...new Set(requirements.map((result) => result.operation))].map((operation) => {
    const results = requirements.filter((result) => result.operation === operation)
    const cases = results.reduce((total, result) => total + result.cases, 0)
    return { operation, ...countOutcomes(results, run.tpe), cases }
  })
}

function excluded(results: readonly RequirementResult[], outcome: Outcome): Excluded[] {
  return results
    .filter((result) => result.outcome === outcome)
    .map(({ id, reason = 'no reason given', why }) => ({
      id,
      reason,
      ...(why?.kind === 'unreachable' && { unreachable: true as const }),
    }))
}
