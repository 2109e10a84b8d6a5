import { basicDefinitions, conditions, results } from '../../schemas/report.ts'
import {
  defined,
  described,
  type Fitting,
  flag,
  listOf,
  object,
  oneOf,
  type Schema,
  text,
} from '../../schemas/closed.ts'

export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'
export const PREDICATE_TYPE = 'https://github.com/ai-content-conformance/certificate/v1'

const time = defined<string>('time')

const operation = object(
  { id: text, state: oneOf('judged', 'not-served', 'removed', 'not-tested') },
  { answered: described('The answer to one request with the full key, if not served.', text) },
)

const predicate = object({
  ...results,
  operations: listOf(operation),
  excused: described(
    'Requirements declared unreachable in the target file.',
    listOf(object({ id: text, level: oneOf('must', 'should'), reason: text })),
  ),
  notExercised: listOf(object({ id: text, reason: text })),
  failed: listOf(text),
  run: object({
    ...conditions,
    startedAt: time,
    baseline: described('Failures were expected by a baseline.', flag),
  }),
  partial: described('Why the run is not complete and conformant.', listOf(text)),
  issuedAt: time,
  expiresAt: time,
  publicKey: described('The public key of the signer, SPKI in PEM.', text),
})
export type Predicate = Fitting<typeof predicate>

const sha256: Schema<string> = { type: 'string', pattern: '^[0-9a-f]{64}$' }
const subject = object({
  name: oneOf('conformance-report'),
  digest: object({ sha256 }),
})

const statement = object({
  _type: oneOf(STATEMENT_TYPE),
  subject: { ...listOf(subject), minItems: 1, maxItems: 1 } as Schema<[Fitting<typeof subject>]>,
  predicateType: oneOf(PREDICATE_TYPE),
  predicate,
})
export type Statement = Fitting<typeof statement>

/** The schema of the payload. The build writes it to `schemas/certificate.schema.json` and compiles it. */
export const statementSchema: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'certificate.schema.json',
  title: 'Conformance certificate',
  description: 'The in-toto statement in the DSSE envelope that conform sign writes.',
  ...statement,
  $defs: {
    time: { type: 'string', pattern: 'Z$', format: 'date-time' },
    ...basicDefinitions,
  },
}
