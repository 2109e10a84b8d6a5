import type { Counts, Report } from '../harness/report/index.ts'
import { closed, defined, described, flag, listOf, oneOf, type Schema, text, textOrNull } from '../schemas/closed.ts'
import type {
  Coverage,
  Digest,
  Excluded,
  NamedDigest,
  NotServed,
  Operations,
  Predicate,
  RunFacts,
  Statement,
} from './statement.ts'
import { PREDICATE_TYPE, STATEMENT_TYPE } from './statement.ts'

const count = { type: 'integer', minimum: 0 }
const digest = defined('digest')
const time = defined('time')
const verdict = defined('verdict')
const counts = { passed: count, failed: count, notExercised: count, notApplicable: count }

const run = closed<RunFacts>({
  startedAt: time,
  durationMs: { type: 'number', minimum: 0 },
  seed: { type: 'integer' },
  runs: count,
  requests: count,
  tpe: oneOf('exact', 'family'),
  strict: flag,
  readOnly: flag,
  only: listOf(text),
  skip: listOf(text),
  shard: textOrNull,
  baseline: flag,
  insecure: flag,
  ca: flag,
  proxy: textOrNull,
  retried: count,
  interrupted: flag,
  depth: oneOf('full', 'quick'),
  credentialProbes: oneOf('all', 'few'),
})

const predicate = closed<Predicate>({
  suite: closed<Predicate['suite']>({ name: { const: 'ai-content-conformance' }, version: text, digest }),
  spec: closed<Predicate['spec']>({ version: text, digest }),
  requirements: closed<Predicate['requirements']>({ count, digest }),
  targetFile: closed<Predicate['targetFile']>({ digest }),
  run,
  verdict,
  verdicts: closed<Report['verdicts']>({ exact: verdict, family: verdict }),
  summary: closed<Report['summary']>({ must: defined('counts'), should: defined('counts') }),
  operations: closed<Operations>({
    judged: listOf(text),
    notServed: listOf(closed<NotServed>({ operation: text, answered: textOrNull })),
    removed: listOf(text),
    notExercised: listOf(text),
  }),
  coverage: listOf(closed<Coverage>({ operation: text, ...counts, cases: count })),
  notApplicable: listOf(defined('excluded')),
  notExercised: listOf(defined('excluded')),
  failed: listOf(text),
  partial: listOf(text),
  issuedAt: time,
  expiresAt: time,
  publicKey: text,
})

const subject = {
  type: 'array',
  prefixItems: [
    closed<Statement['subject'][0]>({ name: text, uri: text, digest }),
    closed<Statement['subject'][1]>({ name: { const: 'conformance-report' }, digest }),
  ],
  items: defined('exchanges'),
  minItems: 2,
}

/** The schema of a certificate's statement. The build writes it to `certificate/certificate.schema.json`, and compiles it. */
export const statementSchema: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Conformance certificate, the in-toto statement inside its DSSE envelope',
  ...closed<Statement>({
    _type: { const: STATEMENT_TYPE },
    subject,
    predicateType: { const: PREDICATE_TYPE },
    predicate,
  }),
  $defs: {
    digest: closed<Digest>({ sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' } }),
    verdict: oneOf('conformant', 'passing', 'non-conformant', 'not-judged'),
    counts: closed<Counts>(counts),
    excluded: closed<Excluded>(
      {
        id: text,
        unreachable: described('The target file declares it out of reach.', { const: true }),
        reason: text,
      },
      ['unreachable'],
    ),
    time: {
      type: 'string',
      format: 'date-time',
      pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:[0-5]\\d\\.\\d{3}Z$',
    },
    exchanges: described(
      'A file of recorded exchanges (HAR).',
      closed<NamedDigest>({ name: { type: 'string', pattern: '^exchanges(-[1-9][0-9]*)?\\.har$' }, digest }),
    ),
  },
}
