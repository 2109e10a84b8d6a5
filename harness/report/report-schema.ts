import {
  defined,
  described,
  type Fitting,
  integer,
  listOf,
  object,
  oneOf,
  type Schema,
  text,
  always,
  flag,
  orNull,
  textOrNull,
} from '../../schemas/closed.ts'
import { exchangeDefinitions } from '../recording/index.ts'
import { type AnyResult, failure, requirement, requirementId, why } from './result-schema.ts'
import type { RequirementId } from '../../catalogue/catalogue.ts'

/**
 * The result model, in JSON `conformance-report/1`: the only form that reporters read. Most types derive from the
 * schema, which documents each member.
 */

const count = defined<number>('count')

const statuses = listOf(object({ status: integer, times: count }))

const digest = defined<string>('digest')
const milliseconds = defined<number>('milliseconds')
const time: Schema<string> = { type: 'string', format: 'date-time' }
const patterns: Schema<string[]> = { type: 'array', maxItems: 1000, items: requirementId }

const verdict = oneOf('conformant', 'passing', 'non-conformant', 'not-judged')
export type Verdict = Fitting<typeof verdict>

const tpeMode = oneOf('exact', 'family')
/** Code names of §7.2 that satisfy an expectation: the exact ones, or any of the status's row. */
export type TpeMode = Fitting<typeof tpeMode>

const depth = oneOf('full', 'quick')
export type Depth = Fitting<typeof depth>

const baseline = object(
  {
    file: text,
    expected: described('Failed as expected.', listOf(text)),
    stale: described(
      'Passed, unknown, expired, or failed differently than recorded: decides the exit code.',
      listOf(object({ id: text, why: text })),
    ),
    notExercised: described(
      'Expected, but not exercised in this run: does not decide.',
      listOf(text),
    ),
  },
  {
    reasons: described(
      'Why failures are expected, as the baseline says.',
      listOf(object({ id: text, reason: text })),
    ),
  },
)
export type BaselineSummary = Fitting<typeof baseline>

const notServed = object({
  operation: text,
  answered: described('A status, or the reason why there was none.', text),
})
export type NotServed = Fitting<typeof notServed>

const created = object(
  { operation: text, id: text },
  {
    name: text,
    removed: described('Whether clean-up removed it; absent without clean-up.', flag),
    kept: described('Why it was not removed.', text),
  },
)
export type Created = Fitting<typeof created>

export const conditions = {
  startedAt: time,
  durationMs: milliseconds,
  seed: integer,
  runs: count,
  requests: count,
  tpe: tpeMode,
  strict: flag,
  readOnly: flag,
  only: patterns,
  skip: patterns,
  insecure: flag,
  ca: described('The certificate authority of the target file (tls.ca) was trusted.', flag),
  proxy: described('Host and port of the proxy in between.', textOrNull),
  interrupted: flag,
  depth: described('Cases sent per requirement: all, or one of each kind.', depth),
  credentialProbes: described(
    'Wrong keys tried: all forms on every operation, or few.',
    oneOf('all', 'few'),
  ),
}

const run = object(
  {
    ...conditions,
    nonce: text,
    throttled: described(
      'Number of retries after 429 or 503, except where the requirement expects that status.',
      count,
    ),
    concurrency: count,
    baseline: orNull(baseline),
    notServed: described(
      'Operations declared not served, with the answer to one request with the full key.',
      listOf(notServed),
    ),
    created: described('What the run created.', listOf(created)),
  },
  {
    command: described(
      'The command of the run, without the selection of requirements and without keys.',
      text,
    ),
    retried: described(
      "Number of retries after lost connections, or a gateway's 502 or 504.",
      count,
    ),
    longestPauseMs: described('The longest Retry-After, in ms; absent without one.', milliseconds),
    absent: described(
      'Operations that the target does not seem to have, with their answers; absent if none.',
      listOf(notServed),
    ),
    hints: described(
      'Hints about the target or its file, to check first; absent if none.',
      listOf(text),
    ),
    statuses: described('Number of answers per status.', statuses),
  },
)

const counts = object({ passed: count, failed: count, notExercised: count, notApplicable: count })
export type Counts = Fitting<typeof counts>

export const basicDefinitions = {
  digest: { description: 'SHA-256.', type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
  count: { type: 'integer', minimum: 0 },
  milliseconds: { description: 'Milliseconds.', type: 'number', minimum: 0 },
  verdict,
  counts,
}

const exit = object(
  { code: oneOf(0, 1, 2, 3), because: described('One clause for people.', text) },
  {
    outside: described(
      'Why the target could not be judged, if its requirements do not show it.',
      always,
    ),
    requireExercised: described(
      'Required checks that were not exercised decided it (--require-exercised).',
      always,
    ),
  },
)
export type Exit = Fitting<typeof exit>

export const results = {
  suite: object({
    name: text,
    version: text,
    specVersion: text,
    specDigest: digest,
    requirementsDigest: digest,
  }),
  target: object({
    name: text,
    baseUrl: text,
    digest: described('SHA-256 of the target file without keys, as canonical JSON.', digest),
  }),
  verdict: described('For the requested tpe mode.', defined<Verdict>('verdict')),
  summary: object({ must: defined<Counts>('counts'), should: defined<Counts>('counts') }),
}

const report = object({
  format: oneOf('conformance-report/1'),
  ...results,
  run,
  exit: described('The exit code of the run, and why it is what it is.', exit),
  requirements: described(
    'Every requirement of the catalogue, in its order.',
    listOf(defined<AnyResult>('requirement')),
  ),
})
export type AnyReport = Fitting<typeof report>

/**
 * The schema of a report, `conformance-report/1`. The build writes it to `schemas/report.schema.json` and compiles it.
 */
export const reportSchema: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'report.schema.json',
  title: 'Report of a conformance run',
  description: 'conformance-report/1.',
  ...report,
  $defs: {
    ...basicDefinitions,
    requirement,
    why,
    failure,
    ...exchangeDefinitions,
  },
}

export type {
  ExchangeRole,
  FailureExchange,
  RecordedBody,
  RecordedExchange,
  RecordedHeaders,
  RecordedRequest,
  RecordedResponse,
} from '../recording/index.ts'
export type * from './result-schema.ts'

/** The result of one requirement; `reason` and `why` are present if it was not judged. */
export interface RequirementResult<Id extends string = string> extends AnyResult {
  id: Id
}

export type CatalogueResult = RequirementResult<RequirementId>

/** @typeParam Id possible ids: the catalogue's for a run, any for a file, which may be of another version */
export interface Report<Id extends string = string> extends AnyReport {
  requirements: RequirementResult<Id>[]
}

export type Undecided = Omit<Report, 'exit'>
