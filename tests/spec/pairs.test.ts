import { expect, test } from 'vitest'
import { isRefusal, type Pairs, pairsOf } from '../../catalogue/answers.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { isOperationId, type OperationId } from '../../catalogue/operations.ts'
import { responseOf } from '../support/response.ts'
import type { Exchange } from '../../harness/journal/exchange.ts'
import { comparePairs } from '../../harness/run/check.ts'
import type { CheckContext } from '../../harness/run/index.ts'
import type { Given } from '../../harness/client/index.ts'
import {
  listedPairs,
  pairsOf as pairsIn,
  requirementsByHand,
  statusRequirements,
} from './tables.ts'

/** Every status of §7.2, and some that it does not list. */
const statuses = [
  ...new Set([200, 202, 302, 405, 415, 418, 502, ...statusRequirements.map(([status]) => status)]),
]
const models = [
  'Unavailable',
  'Internal',
  'Quota',
  'Unauthorized',
  'UnderlyingRequest',
  'UnsafeRequest',
  'NoPrediction',
]
/** Every type that §7 names, one that it does not, one in another letter case, and none. */
const types = [
  ...new Set(statusRequirements.map(([, name]) => name)),
  ...models.map((name) => `CompletionModel${name}Error`),
  ...['GuardrailBlockedError', 'ValidationError', 'badrequest', undefined],
]

type Verdict = 'passes' | 'only the name differs' | 'fails'

/** `400 BadRequest | InvalidContentType, 413 PayloadTooLarge`, as the snapshot has it. */
function readPairs(text: string): { readonly status: string; readonly names: readonly string[] }[] {
  return text.split(', ').flatMap((pair) => {
    const [status = '', ...rest] = pair.split(' ')
    return [{ status, names: rest.filter((word) => word !== '|') }]
  })
}

const scopes: Readonly<Record<string, (status: number, tpe?: string) => boolean>> = {
  '4xx-body': (status) => status >= 400 && status < 500 && ![401, 403, 404, 429].includes(status),
  '4xx-id': (status) => [400, 403, 404, 410, 422].includes(status),
  // Throttling is looked at before; 507 and model errors may come and go.
  'no-5xx': (status, tpe) =>
    ![429, 503].includes(status) &&
    (status < 500 || status === 507 || tpe?.startsWith('CompletionModel') === true),
  any: (status) => status >= 400,
  '4xx': (status) => status >= 400 && status < 500 && status !== 401 && status !== 429,
}

/** §7.3: what guardrails add to any operation. */
const ofGuardrails = pairsIn(
  'GuardrailBlockedError 400; BadRequest 400; BadCredentials 401; InsufficientAccessRights 403; ResourceNotFound 404; InternalError 500; InternalError 503',
)

/** The contract's verdict on such a response to a requirement that takes `given`, worked out from the lists written by hand. */
function expected(
  given: string,
  operation: OperationId,
  status: number,
  tpe: string | undefined,
): Verdict {
  const [text = '', asListed] = given.split(', or as ')
  const pairs = readPairs(text).filter(
    (pair) => scopes[pair.status]?.(status, tpe) ?? Number(pair.status) === status,
  )
  const listed =
    asListed && pairs.length > 0
      ? [...listedPairs(operation), ...ofGuardrails].filter(([, of]) => of === status)
      : []
  const names = [...pairs.flatMap((pair) => pair.names), ...listed.map(([name]) => name)]
  if (pairs.some((pair) => pair.names.length === 0)) {
    // A bare 4xx asks for an envelope, whatever its name; a bare status for nothing else.
    return tpe !== undefined ||
      pairs.some((pair) => !pair.status.startsWith('4xx') && pair.names.length === 0)
      ? 'passes'
      : 'fails'
  }
  if (tpe !== undefined && names.includes(tpe)) return 'passes'
  const isFamily = pairs.some((pair) => scopes[pair.status] === undefined)
  const ofRequirement = statusRequirements.some(([of, name]) => of === status && name === tpe)
  return isFamily && ofRequirement ? 'only the name differs' : 'fails'
}

function received(status: number, tpe: string | undefined): Exchange {
  const body = JSON.stringify(
    tpe === undefined ? { message: 'no' } : { tpe, errors: [], extras: {} },
  )
  return {
    response: responseOf(status, body, { 'content-type': 'application/json' }),
    probe: { operation: null, headers: [] },
    recorded: () => ({ response: { status, headers: {}, body } }),
  } as unknown as Exchange
}

function verdict(pairs: Pairs, exchange: Exchange): Verdict {
  const given = { objects: { created: [] }, options: { tpe: 'exact' } } as unknown as Given
  const found = comparePairs({ given } as CheckContext, exchange, pairs, 'granted')
  if (typeof found === 'object') throw new Error(found.why)
  return found === 'held' ? 'passes' : found === 'name' ? 'only the name differs' : 'fails'
}

/** Answers by what they depend on: many rows take the same pairs. */
function remembered<T>(
  known: Map<string, readonly T[]>,
  key: string,
  make: () => readonly T[],
): readonly T[] {
  const values = known.get(key) ?? make()
  known.set(key, values)
  return values
}

test('each refusal takes the answers that its line in requirements.txt gives, and no other', () => {
  const exchanges = statuses.flatMap((status) =>
    types.map((tpe) => ({ status, tpe, exchange: received(status, tpe) })),
  )
  const verdicts = new Map<string, readonly Verdict[]>()
  const asWritten = new Map<string, readonly Verdict[]>()
  const wrong = catalogue.flatMap((row) => {
    if (!isRefusal(row.expects)) return []
    // A general row takes in what §7.3 lists for the operation that its scenario names.
    const operation: OperationId = isOperationId(row.operation) ? row.operation : 'files.upload'
    const pairs = pairsOf(row, operation)
    const all = remembered(verdicts, JSON.stringify(pairs), () =>
      exchanges.map((each) => verdict(pairs, each.exchange)),
    )
    const [, text = ''] = requirementsByHand.get(row.id) ?? []
    // Only of what a row takes as it is listed has the operation a say.
    const asked = text.includes(', or as ') ? `${operation} ${text}` : text
    const right = remembered(asWritten, asked, () =>
      exchanges.map(({ status, tpe }) => expected(text, operation, status, tpe)),
    )
    return exchanges.flatMap(({ status, tpe }, at) =>
      all[at] === right[at]
        ? []
        : [`${row.id}, ${status} ${tpe}: ${all[at]}, and should be: ${right[at]}`],
    )
  })
  expect(wrong.slice(0, 20)).toEqual([])
})
