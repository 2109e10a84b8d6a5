import {
  basicDefinitions,
  conditions,
  type Counts,
  type Report,
  type Verdict,
} from '../harness/report/index.ts'
import {
  defined,
  described,
  type Fitting,
  flag,
  listOf,
  object,
  type Schema,
  text,
  textOrNull,
} from '../schemas/closed.ts'

/** The in-toto statement that the payload of the envelope holds. */
export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'
/** Type of the predicate; it names this form and no address that anybody has to fetch. */
export const PREDICATE_TYPE = 'https://github.com/ai-content-conformance/certificate/v1'

const always = <const T>(value: T): Schema<T> => ({ const: value })
const like = (pattern: RegExp): Schema<string> => ({ type: 'string', pattern: pattern.source })
const count = defined<number>('count')
const time = defined<string>('time')
const verdict = defined<Verdict>('verdict')

const sha256 = object({ sha256: like(/^[0-9a-f]{64}$/) })
/** SHA-256 in hex, as in-toto writes digests. */
export type Digest = Fitting<typeof sha256>
const digest = defined<Digest>('digest')

const excluded = object(
  { id: text, reason: text },
  { unreachable: described('The target file declares it out of reach.', always(true)) },
)
/** A requirement that the certificate does not vouch for, and why. */
export type Excluded = Fitting<typeof excluded>

const exchanges = object({ name: like(/^exchanges(-[1-9][0-9]*)?\.har$/), digest })
export type NamedDigest = Fitting<typeof exchanges>

const run = object({
  ...conditions,
  startedAt: time,
  baseline: described('Failures were expected by a baseline.', flag),
  retried: described(
    'Answers that were cut off, reset or a 502 or 504 of a gateway, and asked for again.',
    count,
  ),
})
/** How the run was made, and all of it that can make a certificate partial. */
export type RunFacts = Fitting<typeof run>

const answered = described(
  'What one request with the full key was answered; null if it was not asked.',
  textOrNull,
)
const operations = object({
  judged: listOf(text),
  notServed: listOf(object({ operation: text, answered })),
  removed: listOf(text),
  notExercised: listOf(text),
})
/** How each operation of the interface was judged, by name, in the order of the interface; each in one list. */
export type Operations = Fitting<typeof operations>

const results = { passed: count, failed: count, notExercised: count, notApplicable: count }
const coverage = object({
  operation: text,
  ...results,
  cases: described('Requests judged.', count),
})
export type Coverage = Fitting<typeof coverage>

const predicate = object({
  suite: described(
    'The version that judged; the digest is of the installation that signed.',
    object({ name: always<string>('ai-content-conformance'), version: text, digest }),
  ),
  spec: object({ version: text, digest }),
  requirements: object({ count, digest }),
  targetFile: described('Of the target file without keys, as canonical JSON.', object({ digest })),
  run,
  verdict,
  verdicts: object({ exact: verdict, family: verdict }) satisfies Schema<Report['verdicts']>,
  summary: object({ must: defined<Counts>('counts'), should: defined<Counts>('counts') }),
  operations,
  coverage: listOf(coverage),
  notApplicable: listOf(defined<Excluded>('excluded')),
  notExercised: listOf(defined<Excluded>('excluded')),
  failed: listOf(text),
  partial: described(
    'Why it does not certify a whole, conformant run; empty if it does.',
    listOf(text),
  ),
  issuedAt: time,
  expiresAt: time,
  publicKey: described(
    'Of the first signature, SPKI in PEM: inside, so that the signature covers it.',
    text,
  ),
})
/** Claims of a certificate. Times are RFC 3339 in UTC, durations ms. */
export type Predicate = Fitting<typeof predicate>

const target = object({ name: text, uri: text, digest })
const report = object({ name: always('conformance-report'), digest })
type Subject = [Fitting<typeof target>, Fitting<typeof report>, ...NamedDigest[]]
const subject: Schema<Subject> = {
  type: 'array',
  prefixItems: [target, report],
  items: defined('exchanges'),
  minItems: 2,
}

const statement = object({
  _type: always(STATEMENT_TYPE),
  subject,
  predicateType: always(PREDICATE_TYPE),
  predicate,
})
/** An in-toto Statement v1: the target, the report that the claims were taken from, and its exchanges if they were given. */
export type Statement = Fitting<typeof statement>

/** The schema of a certificate's statement. The build writes it to `certificate/certificate.schema.json`, and compiles it. */
export const statementSchema: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Conformance certificate, the in-toto statement inside its DSSE envelope',
  ...statement,
  $defs: {
    digest: sha256,
    ...basicDefinitions,
    excluded,
    time: { ...like(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:[0-5]\d\.\d{3}Z$/), format: 'date-time' },
    exchanges: described('A file of recorded exchanges (HAR).', exchanges),
  },
}
