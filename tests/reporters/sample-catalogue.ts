import { operations } from '../../catalogue/operations.ts'
import type { RequirementResult } from '../../harness/report/report-schema.ts'

type Row = Pick<RequirementResult, 'id' | 'operation' | 'level' | 'section' | 'statement'>

const everywhere = [
  ['401-missing-credentials', '5, 7.3', 'A request without credentials gets 401 BadCredentials.'],
  ['401-malformed-key', '5', 'A key that is not a key at all gets 401 BadCredentials.'],
  ['401-invalid-key', '5, 7.1', 'A changed key gets 401 BadCredentials or BadToken.'],
  ['401-expired-key', '5', 'An expired key gets 401 BadToken.'],
  [
    '403-insufficient-rights',
    '5, 7.3',
    'A valid key without the right gets 403 InsufficientAccessRights.',
  ],
  ['429-quota-exceeded', '7.2, 7.3', 'A spent quota gets 429 QuotaExceeded.'],
  [
    '400-malformed-json',
    '7.2, 7.3',
    'A body that is not JSON gets 400 InvalidContentType or BadRequest.',
  ],
  [
    '400-wrong-content-type',
    '7.2, 7.3',
    'A body under another media type gets 400 InvalidContentType or BadRequest.',
  ],
  ['500-internal-error', '7.3', 'A fault of the server gets 500 InternalError.'],
  ['2xx-accepted', '4.4', 'A valid request returns a success.'],
  ['404-unknown', '4.2, 7.3', 'An unknown id gets 404 ResourceNotFound.'],
] as const

const envelope = [
  'shape',
  'status-tpe-pair',
  'content-type',
  'message-keys',
  'unknown-path',
  'bad-input-no-5xx',
]

/** Rows that look like the catalogue's, `size` of them; operations come in its order, `envelope` first. */
export function sampleCatalogue(size: number): Row[] {
  const areas = operations.map(({ id }) => id)
  const each = Math.ceil((size - envelope.length) / areas.length)
  const rows: Row[] = envelope.map((name, at) => ({
    id: `envelope/${name}`,
    operation: 'envelope',
    level: at < 2 ? 'must' : 'should',
    section: '7.1',
    statement: `Every error response keeps the rule ${name}.`,
  }))
  for (const area of areas) {
    for (let at = 0; at < each && rows.length < size; at++) {
      const [name, section, statement] = everywhere[at] ?? [
        `400-fault-${at}`,
        '7.3',
        `Fault number ${at} in the body gets 400 BadRequest.`,
      ]
      rows.push({
        id: `${area}/${name}`,
        operation: area,
        level: at % 9 === 8 ? 'should' : 'must',
        section,
        statement,
      })
    }
  }
  return rows
}
