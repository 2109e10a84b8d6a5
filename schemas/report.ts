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
  either,
} from './closed.ts'
import { exchangeDefinitions, type FailureExchange } from './exchange.ts'

/**
 * The result model, in JSON `conformance-report/1`: the only form that reporters read. Most types derive from the
 * schema, which documents each member.
 */

const absence = oneOf('not-served', 'removed')
export type Absence = Fitting<typeof absence>

const leftOutBy = oneOf('--only', '--failed', '--skip', '--read-only', '--bail', 'interrupted')
export type LeftOutBy = Fitting<typeof leftOutBy>

export const why = described('The kind of the reason, with its facts; absent for other reasons.', {
  type: 'object',
  required: ['kind'],
  ...either(
    object({
      kind: oneOf('left-out'),
      by: described('The option that left it out, or interrupted.', leftOutBy),
    }),
    object({
      kind: oneOf('undeclared'),
      needs: described(
        'What the target file lacks: alternatives for each need.',
        listOf(listOf(text)),
      ),
      example: described('Part of a target file to paste, as JSON.', text),
    }),
    object(
      {
        kind: oneOf('absent'),
        absence: described(
          'How the target file declares the operation, or those of seenBy.',
          absence,
        ),
      },
      { seenBy: described('The only operations that can show the requirement.', listOf(text)) },
    ),
    object({ kind: oneOf('unreachable'), note: described('The reason in the target file.', text) }),
    object({
      kind: described(
        'A bug in the suite, or a target that cannot be judged at all.',
        oneOf('mistake', 'target'),
      ),
    }),
  ),
})
export type Why = Fitting<typeof why>

const count = defined<number>('count')
const milliseconds = defined<number>('milliseconds')

const takes = oneOf(
  'idle-application', // with no job in progress, after the earlier ones of the run
  'job-in-progress', // of the same application
  'job-elsewhere', // in progress on another application
  'job-before', // of the same application, and ended
  'job-of-run', // the state of this job during the run, among its other jobs
  'endless-job', // in progress for longer than it may be
  'refusal-before', // a request that was refused
  'requests-at-once', // sent at the same moment
  'more-requests', // than the target accepts: it asked to slow down
  'object-of-run', // made by another request of the run
  'chance', // the answers to one request differ
  'earlier-requests', // any earlier requests: alone, at the end of the run, the request was answered differently
)
export type TakesState = Fitting<typeof takes>

export const failure = object(
  {
    message: described('What was sent.', text),
    expected: text,
    actual: text,
    onlyName: described('Only the code name is wrong: --tpe family accepts the answer.', flag),
    seed: integer,
    rerun: described('The command that reproduces the failure, without a key.', text),
  },
  {
    path: described('Index of the counterexample among the generated cases.', text),
    connection: described(
      'The answer to the next request is wrong, but only on a reused connection.',
      oneOf('reused'),
    ),
    toRefuse: described('The request had to be refused.', always),
    cites: described('The end of `expected`: its sections, and a remark of the suite.', text),
    takes: described(
      'The state that the failure depends on: the curl line sends only the request, and may get another answer.',
      takes,
    ),
    later: described(
      'The answer to the request alone at the end of the run, in words, if different.',
      text,
    ),
    rerunIds: described(
      'The requirements that rerun selects: all those needed to reproduce the failure.',
      listOf(text),
    ),
    exchange: defined<FailureExchange>('exchange'),
  },
)
export type Failure = Fitting<typeof failure>

const requirementId: Schema<string> = { type: 'string', maxLength: 256 }

const outcome = oneOf('passed', 'failed', 'not-exercised', 'not-applicable')
export type Outcome = Fitting<typeof outcome>

const result = object(
  {
    id: requirementId,
    operation: text,
    level: oneOf('must', 'should'),
    section: described('Sections of the interface description, comma separated.', text),
    statement: text,
    outcome,
    control: oneOf('granted', 'refused', 'none'),
    cases: described('Requests judged.', count),
    durationMs: described('Sum of its own exchanges, without time in queues.', milliseconds),
    failures: listOf(defined<Failure>('failure')),
  },
  { reason: described('Why it was not judged.', text), why: defined<Why>('why') },
)
export type AnyResult = Fitting<typeof result>

export const requirement: Schema = {
  ...result,
  if: { properties: { outcome: oneOf('not-exercised', 'not-applicable') }, required: ['outcome'] },
  then: { properties: { reason: true }, required: ['reason'] },
}

const statuses = listOf(object({ status: integer, times: count }))

const digest = defined<string>('digest')
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

const created = object({ operation: text, id: text }, { name: text })
export type Created = Fitting<typeof created>

const cleanup = object({
  removed: count,
  left: described(
    'Objects that it could not remove, and why.',
    listOf(object({ operation: text, id: text, why: text })),
  ),
})
export type Cleanup = Fitting<typeof cleanup>

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
    cleanup: described('What the clean-up requests of the target file removed.', cleanup),
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
} from './exchange.ts'

/** The result of one requirement; `reason` and `why` are present if it was not judged. */
export interface RequirementResult<Id extends string = string> extends AnyResult {
  id: Id
}

/** @typeParam Id possible ids: the catalogue's for a run, any for a file, which may be of another version */
export interface Report<Id extends string = string> extends AnyReport {
  requirements: RequirementResult<Id>[]
}

export type Undecided = Omit<Report, 'exit'>
