import { closed, defined, described, flag, listOf, oneOf, type Schema, text, textOrNull } from '../../schemas/closed.ts'
import type {
  BaselineSummary,
  Counts,
  Created,
  Exit,
  Failure,
  FailureExchange,
  NotServed,
  PageCount,
  RecordedBody,
  RecordedRequest,
  RecordedResponse,
  Report,
  RequirementResult,
} from './model.ts'
import { leftOutBy, takesStates } from './model.ts'

const integer = { type: 'integer' }
/** A fact that is left out if it does not hold. */
const always = { const: true }
const count = defined('count')
const counts = defined('counts')
const digest = defined('digest')
const verdict = defined('verdict')
const milliseconds = defined('milliseconds')
const id = { type: 'string', maxLength: 256 }
/** Each pattern is held against each id. */
const patterns = { type: 'array', maxItems: 1000, items: id }

const baseline: Schema = {
  ...closed<BaselineSummary>({
    file: text,
    expected: described('Failed as expected.', listOf(text)),
    stale: described(
      'Passed, unknown, past its date, or failed otherwise than recorded: decides the exit code.',
      listOf(closed<BaselineSummary['stale'][number]>({ id: text, why: text })),
    ),
    notExercised: listOf(text),
  }),
  type: ['object', 'null'],
}

const pages = listOf(
  closed<PageCount>(
    {
      status: integer,
      title: text,
      server: described('The Server header.', text),
      times: { type: 'integer', minimum: 1 },
    },
    ['title', 'server'],
  ),
)

const notServed = closed<NotServed>({
  operation: text,
  answered: described('A status, or in words why there was none.', text),
})

const run = closed<Report['run']>(
  {
    startedAt: { type: 'string', format: 'date-time' },
    durationMs: milliseconds,
    seed: integer,
    runs: count,
    nonce: text,
    requests: count,
    throttled: described(
      'How often an answer was 429 or 503 and tried again; not counted are answers of the status that the requirement asks for, since they may be its answer by another name.',
      count,
    ),
    retried: described("How many answers were cut off, reset or a gateway's 502 or 504, and asked for again.", count),
    suggestedRate: described('Requests a second that the target takes, by what it answered while it throttled.', count),
    concurrency: count,
    strict: flag,
    readOnly: flag,
    tpe: oneOf('exact', 'family'),
    only: patterns,
    skip: patterns,
    shard: described('Such as 2/4.', textOrNull),
    baseline,
    insecure: flag,
    ca: described('An authority of the target file (tls.ca) was trusted.', flag),
    proxy: described('Host and port of the proxy through which the target was asked.', textOrNull),
    interrupted: flag,
    depth: described('How much was sent for a requirement: every case, or one of each kind.', oneOf('full', 'quick')),
    credentialProbes: described(
      'Which wrong keys were tried: all forms on every operation, or few.',
      oneOf('all', 'few'),
    ),
    pages: described(
      'Error responses that were pages in place of envelopes, by what they were; absent if there was none.',
      pages,
    ),
    notServed: described(
      'Operations declared not served, and what one request with the full key got.',
      listOf(notServed),
    ),
    created: described(
      'What the run created.',
      listOf(closed<Created>({ operation: text, id: text, name: text }, ['name'])),
    ),
  },
  ['retried', 'suggestedRate', 'pages'],
)

const requirement: Schema = {
  ...closed<RequirementResult>(
    {
      id,
      operation: text,
      level: oneOf('must', 'should'),
      section: described('Sections of the interface description, comma separated.', text),
      statement: text,
      outcome: oneOf('passed', 'failed', 'not-exercised', 'not-applicable'),
      reason: described('Why it was not judged.', text),
      why: defined('why'),
      control: oneOf('granted', 'refused', 'none'),
      cases: described('Requests judged.', count),
      durationMs: described(
        'Of its own exchanges, one after the other, without the time that they waited for their turn.',
        milliseconds,
      ),
      failures: listOf(defined('failure')),
    },
    ['reason', 'why'],
  ),
  if: { properties: { outcome: oneOf('not-exercised', 'not-applicable') }, required: ['outcome'] },
  then: { properties: { reason: true }, required: ['reason'] },
}

/** One kind of reason, with members of its own. */
function reason(kind: Schema, facts: Readonly<Record<string, Schema>> = {}, optional: readonly string[] = []): Schema {
  const required = Object.keys(facts).filter((name) => !optional.includes(name))
  const needed = required.length > 0 ? { required } : {}
  return { additionalProperties: false, ...needed, properties: { kind, ...facts } }
}

const why: Schema = {
  description: 'The kind of the reason, and its facts. Other reasons have none.',
  type: 'object',
  required: ['kind'],
  oneOf: [
    reason(
      { const: 'left-out' },
      {
        by: described('The option that left it out; interrupted: the run ended before.', oneOf(...leftOutBy)),
      },
    ),
    reason(
      { const: 'undeclared' },
      {
        needs: described(
          'What the target file lacks: of each need the names of which one will do.',
          listOf(listOf(text)),
        ),
        example: described('Part of a target file that declares it, as JSON text.', text),
      },
    ),
    reason(
      { const: 'absent' },
      {
        absence: described('How the target file declares it, or seenBy.', oneOf('not-served', 'removed')),
        seenBy: described('Those by which alone the requirement is seen.', listOf(text)),
      },
      ['seenBy'],
    ),
    reason({ const: 'unreachable' }, { note: described('The note of the target file.', text) }),
    reason(described('The suite itself failed, or the target cannot be judged at all.', oneOf('mistake', 'target'))),
  ],
}

const failure = closed<Failure>(
  {
    message: text,
    expected: text,
    actual: text,
    familyOnly: described('The answer satisfies --tpe family; only the exact name is wrong.', flag),
    seed: integer,
    path: described('Where the counterexample stands among the generated cases.', text),
    at: described('JSON Pointer to the member of the response that is wrong or missing.', text),
    control: described(
      'The request without the fault, and the status by which it was granted.',
      closed<NonNullable<Failure['control']>>({ request: defined('request'), status: integer }),
    ),
    connection: described(
      'The fault is how connections are treated: an answer is wrong on a reused one alone, or the key that was shown on one goes for all that follows.',
      oneOf('reused', 'remembers-key'),
    ),
    toRefuse: described('The request had to be refused.', always),
    cites: described('How `expected` ends: the sections that it cites.', text),
    asked: described('The statuses and the names of errors that were asked for.', listOf(text)),
    noEnvelope: described('The status is right, but the answer is no error envelope: see envelope/shape.', always),
    takes: described(
      'The state that the failure takes: the curl line sends its request alone, and may show something else.',
      oneOf(...takesStates),
    ),
    later: described('What the request by itself was answered when the run ended, in words, if that differs.', text),
    rerunIds: described('The requirements that rerun selects: all that the failure needs to show again.', listOf(text)),
    rerun: described('The command that shows the failure again, without a key.', text),
    exchange: defined('exchange'),
  },
  [
    'path',
    'at',
    'control',
    'connection',
    'toRefuse',
    'cites',
    'asked',
    'noEnvelope',
    'takes',
    'later',
    'rerunIds',
    'exchange',
  ],
)

const cutBody = ['bodyEncoding', 'bodyLength', 'bodySha256'] as const
const body: Readonly<Record<keyof Required<RecordedBody>, Schema>> = {
  body: described('Text; bytes that are not UTF-8 are given as base64. Cut if bodyLength is present.', text),
  bodyEncoding: { const: 'base64' },
  bodyLength: described('Bytes of the whole body.', { type: 'integer', minimum: 0 }),
  bodySha256: described('Of the whole body.', { type: 'string', pattern: '^[0-9a-f]{64}$' }),
}

/** The schema of a report, `conformance-report/1`. The build writes it to `schemas/report.schema.json`, and compiles it. */
export const reportSchema: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'report.schema.json',
  title: 'Report of a conformance run',
  description: 'conformance-report/1.',
  ...closed<Report>({
    format: { const: 'conformance-report/1' },
    suite: closed<Report['suite']>(
      {
        site: described('Address of the site that has a page for each requirement.', {
          type: 'string',
          pattern: '^https?://',
        }),
        name: text,
        version: text,
        specVersion: text,
        specDigest: digest,
        requirementsDigest: digest,
      },
      ['site'],
    ),
    target: closed<Report['target']>({
      name: text,
      baseUrl: text,
      digest: described('Of the target file without keys, as canonical JSON.', digest),
    }),
    run,
    exit: described(
      'The exit code of the run, and why it is what it is.',
      closed<Exit>({ code: oneOf(0, 1, 2, 3), because: text }),
    ),
    verdict: described('Of the tpe mode asked for.', verdict),
    verdicts: closed<Report['verdicts']>({ exact: verdict, family: verdict }),
    summary: closed<Report['summary']>({ must: counts, should: counts }),
    requirements: described('Every requirement of the catalogue, in its order.', listOf(defined('requirement'))),
  }),
  $defs: {
    digest: { description: 'SHA-256.', type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
    count: { type: 'integer', minimum: 0 },
    milliseconds: { description: 'Milliseconds.', type: 'number', minimum: 0 },
    verdict: oneOf('conformant', 'passing', 'non-conformant', 'not-judged'),
    counts: closed<Counts>({ passed: count, failed: count, notExercised: count, notApplicable: count }),
    requirement,
    why,
    failure,
    exchange: closed<FailureExchange>(
      {
        request: defined('request'),
        response: described('Absent if no answer came.', defined('response')),
        curl: text,
      },
      ['response'],
    ),
    headers: { type: 'object', additionalProperties: text },
    request: closed<RecordedRequest>({ method: text, url: text, headers: defined('headers'), ...body }, cutBody),
    response: closed<RecordedResponse>({ status: integer, headers: defined('headers'), ...body }, cutBody),
  },
}
