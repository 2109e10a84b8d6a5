import {
  always,
  defined,
  described,
  type Fitting,
  flag,
  integer,
  listOf,
  object,
  oneOf,
  orNull,
  type Schema,
  text,
  textOrNull,
} from '../../schemas/closed.ts'
import { answersDiffer, page, statuses } from './answers-schema.ts'
import { exchangeDefinitions } from '../recording/index.ts'
import { type Failure, failure } from './failure-schema.ts'
import { why, type Why } from './why-schema.ts'

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
    command: described(
      'The command of the run, without what selects requirements, and without a key.',
      text,
    ),
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
