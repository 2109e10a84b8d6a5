import { expect, test } from 'vitest'
import { codeNames, keyFits, mayCarry, modelErrors } from '../../catalogue/answers.ts'
import { type OperationId, operations } from '../../catalogue/operations.ts'
import { listedPairs, pairsOf, statusRequirements } from './tables.ts'

const everywhere =
  'BadCredentials 401; BadToken 401; InsufficientAccessRights 403; QuotaExceeded 429; GuardrailBlockedError 400; BadRequest 400; ResourceNotFound 404; InternalError 500; InternalError 503'

const statuses = [...new Set(statusRequirements.map(([status]) => status))]
const names = [...new Set([...statusRequirements.map(([, name]) => name), 'GuardrailBlockedError'])]

test('every status of §7.2 has the code names of its row, in order', () => {
  for (const status of statuses) {
    expect(codeNames[status]).toEqual(
      statusRequirements.filter(([of]) => of === status).map(([, name]) => name),
    )
  }
})

test.each([402, 405, 415, 418, 502, 504, 0, -1])(
  'status %i is in no row and may carry any tpe',
  (status) => {
    expect(codeNames[status]).toBeUndefined()
    expect(mayCarry('jobs.create', status, 'Whatever')).toBe(true)
  },
)

test('each operation may answer exactly what §7.2, its row of §7.3, the guardrails and the lead sentence give it', () => {
  const wrong = operations.flatMap(({ id }) => {
    const allowed = new Set([
      ...statusRequirements.map(([status, name]) => `${status} ${name}`),
      ...[...pairsOf(everywhere), ...listedPairs(id)].map(([name, status]) => `${status} ${name}`),
    ])
    return statuses.flatMap((status) =>
      names
        .filter((name) => name !== 'CompletionModelQuotaError')
        .filter((name) => mayCarry(id, status, name) !== allowed.has(`${status} ${name}`))
        .map((name) => `${id}: ${status} ${name}`),
    )
  })
  expect(wrong).toEqual([])
})

test('a model error may stand with any status, on any operation', () => {
  expect(modelErrors).toHaveLength(7)
  for (const tpe of modelErrors) {
    for (const status of statuses) expect(mayCarry('files.list', status, tpe)).toBe(true)
  }
})

test.each<[operation: OperationId | null, status: number, tpe: string, may: boolean]>([
  ['jobs.create', 400, 'badrequest', false],
  ['jobs.create', 400, '', false],
  ['jobs.create', 400, '__proto__', false],
  ['jobs.create', 503, 'InternalError', true],
  [null, 404, 'NotFound', true],
  [null, 409, 'BadRequest', false],
])('%s %i %s: %s', (operation, status, tpe, may) => {
  expect(mayCarry(operation, status, tpe)).toBe(may)
})

test.each<[key: string, tpe: string, status: number]>([
  ['fail.unauthorized.badToken', 'Unauthorized', 401],
  ['fail.forbidden.insufficientAccessRights', 'Forbidden', 403],
  ['fail.badRequest.invalidParameters', 'BadRequest', 400],
  ['fail.notFound.resource', 'NotFound', 404],
  ['fail.tooManyRequests.quotaExceeded', 'TooManyRequests', 429],
  ['fail.internalServerError.generic', 'InternalServerError', 500],
  ['fail.serviceUnavailable.temporary', 'ServiceUnavailable', 503],
  ['fail.model.quotaExceeded', 'CompletionModelQuotaError', 429],
  ['fail.guardrail.blocked', 'BadRequest', 400],
])('the key %s fits %s and with the names of %i', (key, tpe, status) => {
  expect(keyFits(key, 'jobs.create', { status, tpe })).toBe(true)
  for (const name of [...(codeNames[status] ?? []), ...modelErrors])
    expect(keyFits(key, null, { status, tpe: name })).toBe(true)
  const other = status === 401 ? [404, 'NotFound'] : [401, 'BadCredentials']
  expect(keyFits(key, 'jobs.create', { status: Number(other[0]), tpe: String(other[1]) })).toBe(
    false,
  )
})

const invalid = 'fail.badRequest.invalidParameters'
const notFound = 'fail.notFound.resource'
const quota = 'fail.tooManyRequests.quotaExceeded'

test.each<[key: string, operation: OperationId, pair: string, fits: boolean | undefined]>([
  ['fail.guardrail.blocked', 'jobs.create', '400 GuardrailBlockedError', true],
  ['fail.guardrail.blocked', 'jobs.create', '422 UnprocessableEntity', true],
  ['fail.serviceUnavailable.temporary', 'translate.run', '503 InternalError', true],
  [quota, 'files.upload', '429 QuotaExceeded', true],
  [quota, 'files.upload', '507 QuotaExceeded', true],
  [quota, 'graphs.create', '507 InsufficientStorage', true],
  ['fail.model.quotaExceeded', 'graphs.create', '507 InsufficientStorage', true],
  [quota, 'jobs.create', '400 BadRequest', false],
  [quota, 'jobs.create', '404 ResourceNotFound', false],
  [notFound, 'files.retrieve', '410 ResourceNotFound', true],
  [notFound, 'files.retrieve', '410 Gone', true],
  [notFound, 'jobs.create', '403 InsufficientAccessRights', false],
  [notFound, 'jobs.create', '409 Conflict', false],
  [invalid, 'jobs.create', '409 BadRequest', true],
  [invalid, 'graphs.query', '409 Conflict', true],
  [invalid, 'graphs.query', '422 UnprocessableEntity', true],
  [invalid, 'jobs.create', '404 ResourceNotFound', true],
  [invalid, 'jobs.create', '403 InsufficientAccessRights', false],
  [invalid, 'jobs.create', '401 BadToken', false],
  [invalid, 'jobs.create', '405 MethodNotAllowed', true],
  ['fail.unauthorized.badToken', 'jobs.create', '418 Teapot', true],
  ['fail.unknown.key', 'jobs.create', '400 BadRequest', undefined],
  ['constructor', 'jobs.create', '400 BadRequest', undefined],
  ['__proto__', 'jobs.create', '400 BadRequest', undefined],
])('the key %s on %s with %s: %s', (key, operation, pair, fits) => {
  const [status = '', tpe = ''] = pair.split(' ')
  expect(keyFits(key, operation, { status: Number(status), tpe })).toBe(fits)
})
