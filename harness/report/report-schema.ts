import {
  defined,
  described,
  either,
  type Fitting,
  flag,
  integer,
  listOf,
} from '../../schemas/closed.ts'
import { object, oneOf, orNull, type Schema, text, textOrNull } from '../../schemas/closed.ts'
import { answersDiffer, page, statuses } from './answers-schema.ts'
import { story } from './story-schema.ts'
import {
  exchangeDefinitions,
  type FailureExchange,
  type RecordedRequest,
} from '../recording/index.ts'

/** A fact that is left out if it does not hold. */
const always: Schema<true> = { const: true }
const count = defined<number>('count')
const digest = defined<string>('digest')
const milliseconds = defined<number>('milliseconds')
const id: Schema<string> = { type: 'string', maxLength: 256 }
const time: Schema<string> = { type: 'string', format: 'date-time' }
const address: Schema<string> = { type: 'string', pattern: '^https?://' }
/** Each pattern is held against each id. */
const patterns: Schema<string[]> = { type: 'array', maxItems: 1000, items: id }

const verdict = oneOf('conformant', 'passing', 'non-conformant', 'not-judged')
export type Verdict = Fitting<typeof verdict>

const tpeMode = oneOf('exact', 'family')
/** Code names of §7.2 that satisfy an expectation: those of the pairs, or any of the status's row. */
export type TpeMode = Fitting<typeof tpeMode>

const depth = oneOf('full', 'quick')
/** How much is sent for a requirement: every case, or one of each kind. */
export type Depth = Fitting<typeof depth>

const baseline = object(
  {
    file: text,
    expected: described('Failed as expected.', listOf(text)),
    stale: described(
      'Passed, unknown, past its date, or failed otherwise than recorded: decides the exit code.',
      listOf(object({ id: text, why: text })),
    ),
    notExercised: described('Expected, but not exercised in this run: named only.', listOf(text)),
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
  answered: described('A status, or in words why there was none.', text),
})
/** An operation that the target file declares as not served, and what one request with the full key was answered. */
export type NotServed = Fitting<typeof notServed>

const created = object(
  { operation: text, id: text },
  {
    name: text,
    removed: described('Whether its clean-up removed it; absent if none is declared.', flag),
    kept: described('Why it was not removed.', text),
  },
)
export type Created = Fitting<typeof created>

/** How the run was made: what a certificate repeats. */
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
  shard: described('Such as 2/4.', textOrNull),
  insecure: flag,
  ca: described('An authority of the target file (tls.ca) was trusted.', flag),
  proxy: described('Host and port of the proxy through which the target was asked.', textOrNull),
  interrupted: flag,
  depth: described('How much was sent for a requirement: every case, or one of each kind.', depth),
  credentialProbes: described(
    'Which wrong keys were tried: all forms on every operation, or few.',
    oneOf('all', 'few'),
  ),
}

const run = object(
  {
    ...conditions,
    nonce: text,
    throttled: described(
      'How often an answer was 429 or 503 and tried again; not counted are answers of the status that the requirement asks for, since they may be its answer by another name.',
      count,
    ),
    concurrency: count,
    baseline: orNull(baseline),
    notServed: described(
      'Operations declared not served, and what one request with the full key got.',
      listOf(notServed),
    ),
    created: described('What the run created.', listOf(created)),
  },
  {
    retried: described(
      "How many answers were cut off, reset or a gateway's 502 or 504, and asked for again.",
      count,
    ),
    suggestedRate: described(
      'Rate for --rate that the target takes, by what it granted between throttled answers: 10 a second, or 60/min.',
      text,
    ),
    absent: described(
      'Operations that the target does not seem to have, and how it answered; absent if there was none.',
      listOf(notServed),
    ),
    hints: described(
      'Sentences that say what of the target or its file to look at first; absent if there was none.',
      listOf(text),
    ),
    answersDiffer: described(
      'An answer that several requirements show to come and go; absent if there was none.',
      answersDiffer,
    ),
    statuses: described('How many answers had each status.', statuses),
    pages: described(
      'Error responses that were pages in place of envelopes, by what they were; absent if there was none.',
      listOf(page),
    ),
  },
)

const absence = oneOf('not-served', 'removed')
/** How a target file says that there is no such operation. */
export type Absence = Fitting<typeof absence>

const leftOutBy = oneOf(
  '--only',
  '--failed',
  '--untested',
  '--skip',
  '--read-only',
  '--shard',
  '--bail',
  'interrupted',
)
/** Options that leave requirements out, and the end of the run. */
export type LeftOutBy = Fitting<typeof leftOutBy>

const why = described('The kind of the reason, and its facts. Other reasons have none.', {
  type: 'object',
  required: ['kind'],
  ...either(
    object({
      kind: oneOf('left-out'),
      by: described('The option that left it out; interrupted: the run ended before.', leftOutBy),
    }),
    object({
      kind: oneOf('undeclared'),
      needs: described(
        'What the target file lacks: of each need the names of which one will do.',
        listOf(listOf(text)),
      ),
      example: described('Part of a target file that declares it, as JSON text.', text),
    }),
    object(
      {
        kind: oneOf('absent'),
        absence: described('How the target file declares it, or seenBy.', absence),
      },
      { seenBy: described('Those by which alone the requirement is seen.', listOf(text)) },
    ),
    object({ kind: oneOf('unreachable'), note: described('The note of the target file.', text) }),
    object({
      kind: described(
        'The suite itself failed, or the target cannot be judged at all.',
        oneOf('mistake', 'target'),
      ),
    }),
  ),
})
/** The kind of reason for which a requirement was not judged, and its facts. */
export type Why = Fitting<typeof why>

const takes = oneOf(
  'idle-application', // with no job in progress, after those that the run made before
  'job-in-progress', // of the same application
  'job-elsewhere', // in progress on another application
  'job-before', // of the same application, and ended
  'job-of-run', // read as it was in the run, beside its other jobs
  'endless-job', // in progress for longer than it may be
  'refusal-before', // a request that was refused
  'requests-at-once', // sent at the same moment
  'more-requests', // than the target takes: it asked for patience
  'object-of-run', // made by another request of the run
  'chance', // the answers to one request differ
  'earlier-requests', // whatever was sent before: by itself it was answered otherwise when the run ended
)
/** States in which a request is wrong, and which that request does not bring about by itself. */
export type TakesState = Fitting<typeof takes>

const failure = object(
  {
    message: described('What was sent.', text),
    expected: text,
    actual: text,
    familyOnly: described('The answer satisfies --tpe family; only the exact name is wrong.', flag),
    seed: integer,
    rerun: described('The command that shows the failure again, without a key.', text),
  },
  {
    path: described('Where the counterexample stands among the generated cases.', text),
    at: described('JSON Pointer to the member of the response that is wrong or missing.', text),
    control: described(
      'The request without the fault, and the status by which it was granted.',
      object({ request: defined<RecordedRequest>('request'), status: integer }),
    ),
    connection: described(
      'The fault is how connections are treated: an answer is wrong on a reused one alone, or the key that was shown on one goes for all that follows.',
      oneOf('reused', 'remembers-key'),
    ),
    toRefuse: described('The request had to be refused.', always),
    cites: described('How `expected` ends: the sections that it cites.', text),
    asked: described('The statuses and the names of errors that were asked for.', listOf(text)),
    noEnvelope: described(
      'The status is right, but the answer is no error envelope: see envelope/shape.',
      always,
    ),
    takes: described(
      'The state that the failure takes: the curl line sends its request alone, and may show something else.',
      takes,
    ),
    story: described('What happened on the application before, and with it.', story),
    later: described(
      'What the request by itself was answered when the run ended, in words, if that differs.',
      text,
    ),
    rerunIds: described(
      'The requirements that rerun selects: all that the failure needs to show again.',
      listOf(text),
    ),
    exchange: defined<FailureExchange>('exchange'),
  },
)
export type Failure = Fitting<typeof failure>

const outcome = oneOf('passed', 'failed', 'not-exercised', 'not-applicable')
export type Outcome = Fitting<typeof outcome>

const requirement = object(
  {
    id,
    operation: text,
    level: oneOf('must', 'should'),
    section: described('Sections of the interface description, comma separated.', text),
    statement: text,
    outcome,
    control: oneOf('granted', 'refused', 'none'),
    cases: described('Requests judged.', count),
    durationMs: described(
      'Of its own exchanges, one after the other, without the time that they waited for their turn.',
      milliseconds,
    ),
    failures: listOf(defined<Failure>('failure')),
  },
  { reason: described('Why it was not judged.', text), why: defined<Why>('why') },
)
export type AnyResult = Fitting<typeof requirement>

const reasoned = {
  if: { properties: { outcome: oneOf('not-exercised', 'not-applicable') }, required: ['outcome'] },
  then: { properties: { reason: true }, required: ['reason'] },
}

const counts = object({ passed: count, failed: count, notExercised: count, notApplicable: count })
export type Counts = Fitting<typeof counts>

/** Definitions that other schemas which count results have as well. */
export const basicDefinitions = {
  count: { type: 'integer', minimum: 0 },
  milliseconds: { description: 'Milliseconds.', type: 'number', minimum: 0 },
  verdict,
  counts,
}

const exit = object(
  { code: oneOf(0, 1, 2, 3), because: described('One clause for a reader.', text) },
  {
    outside: described(
      'The target could not be judged for a cause that its requirements do not show.',
      always,
    ),
    requireExercised: described(
      'Musts that were not exercised decided it (--require-exercised).',
      always,
    ),
    client: described(
      'The requests of a client that made it 1, a sentence each (--judge-client).',
      listOf(text),
    ),
  },
)
/** How the command ended, and why. */
export type Exit = Fitting<typeof exit>

const report = object({
  format: oneOf('conformance-report/1'),
  suite: object(
    {
      name: text,
      version: text,
      specVersion: text,
      specDigest: digest,
      requirementsDigest: digest,
    },
    {
      site: described('Address of the site that has a page for each requirement.', address),
    },
  ),
  target: object({
    name: text,
    baseUrl: text,
    digest: described('Of the target file without keys, as canonical JSON.', digest),
  }),
  run,
  exit: described('The exit code of the run, and why it is what it is.', exit),
  verdict: described('Of the tpe mode asked for.', defined<Verdict>('verdict')),
  verdicts: object({ exact: defined<Verdict>('verdict'), family: defined<Verdict>('verdict') }),
  summary: object({ must: defined<Counts>('counts'), should: defined<Counts>('counts') }),
  requirements: described(
    'Every requirement of the catalogue, in its order.',
    listOf(defined<AnyResult>('requirement')),
  ),
})
export type AnyReport = Fitting<typeof report>

/** The schema of a report, `conformance-report/1`. The build writes it to `schemas/report.schema.json`, and compiles it. */
export const reportSchema: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'report.schema.json',
  title: 'Report of a conformance run',
  description: 'conformance-report/1.',
  ...report,
  $defs: {
    digest: { description: 'SHA-256.', type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
    ...basicDefinitions,
    requirement: { ...requirement, ...reasoned },
    why,
    failure,
    ...exchangeDefinitions,
  },
}
