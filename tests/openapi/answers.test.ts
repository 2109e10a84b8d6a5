import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { openapiDocument } from '../../build/openapi/document.ts'
import { acceptedPairs } from '../../catalogue/catalogue.ts'
import { operation, type OperationId, operations } from '../../catalogue/operations.ts'
import { createReference } from '../../reference/server.ts'
import { formats } from '../../schemas/formats.ts'
import { operationAt } from '../../traffic/operation-at.ts'
import { inCompany, otherPairs } from '../matrix/allowed-differences.ts'
import { judgeUrl, transportTo } from '../matrix/judge-reference.ts'
import { inVirtualTime } from '../support/virtual-time.ts'

const document = openapiDocument() as any
const ajv = new Ajv2020({ strict: false, formats, ownProperties: true }).addSchema(document, 'openapi')

/** Whether a value fits the schema at that place of the document. */
function fits(keys: readonly string[], value: unknown): boolean {
  const escaped = keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')))
  const validate = ajv.getSchema(`openapi#/${escaped.join('/')}`)
  if (!validate) throw new Error(`no schema at ${keys.join(' ')}`)
  return validate(value) as boolean
}

const place = (id: OperationId): string[] => {
  const { path, method } = operation(id)
  return ['paths', path, method.toLowerCase()]
}

/** The key of the response that a status has. */
function responseOf(id: OperationId, status: number): string {
  const [, path, method] = place(id) as [string, string, string]
  const { responses } = document.paths[path][method]
  return [String(status), `${String(status)[0]}XX`, 'default'].find((key) => key in responses)!
}

function answerFits(id: OperationId, status: number, body: unknown): boolean {
  const key = responseOf(id, status)
  const type = key === '2XX' ? Object.keys(responses(id)[key].content)[0]! : 'application/json'
  return fits([...place(id), 'responses', key, 'content', type, 'schema'], body)
}

const responses = (id: OperationId): any => document.paths[operation(id).path][place(id)[2]!].responses

test('it has the 17 operations, each with its paths', () => {
  const found = Object.entries<any>(document.paths).flatMap(([path, item]) =>
    Object.entries<any>(item).map(([method, { operationId }]) => [operationId, method, path]),
  )
  const wanted = operations.flatMap(({ id, method, path, otherPaths }) =>
    [path, ...otherPaths].map((one, at) => [at === 0 ? id : `${id}-${at + 1}`, method.toLowerCase(), one]),
  )
  expect(found.sort()).toEqual(wanted.sort())
})

test('every pair that a requirement accepts fits, and a type of another name does not', () => {
  for (const { id } of operations) {
    for (const [status, ...types] of acceptedPairs(id)) {
      if (typeof status !== 'number') continue
      for (const tpe of types) expect([id, status, tpe, answerFits(id, status, envelope(tpe))]).toContain(true)
      if (types.length > 0) expect([id, status, answerFits(id, status, envelope('Tea'))]).toContain(false)
    }
  }
})

const envelope = (tpe: string): unknown => ({ tpe, errors: [], extras: {} })

test('every request that is known to succeed fits', () => {
  const file = JSON.parse(
    readFileSync(fileURLToPath(new URL('../../fixtures/reference.target.json', import.meta.url)), 'utf8'),
  )
  const shown = ['requestBody', 'content', 'application/json', 'schema']
  for (const { id, body } of operations) {
    const declared = file.operations[id]?.body ?? (id === 'pdf.parse' ? { format: 'text' } : file.resources.application)
    if (body === 'json') expect([id, fits([...place(id), ...shown], declared)]).toContain(true)
  }
  expect(fits([...place('pdf.parse'), ...shown], { format: 'tea' })).toBe(false)
})

/** Answers of the reference in a whole run that the document does not allow. */
async function refused(variants: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  await inVirtualTime(async () => {
    const reference = createReference({ variants, jobMs: 15, slowJobMs: 1800 })
    const transport = transportTo(reference)
    await judgeUrl(reference.url, {
      transport: {
        ...transport,
        async send(request, options) {
          const result = await transport.send(request, options)
          const at = operationAt(request.method, request.path.split('?')[0]!)
          if (!at || result.kind !== 'answer') return result
          const body = json(result.body)
          if (!answerFits(at.operation, result.status, body)) {
            found.add(`${at.operation} ${result.status}: ${JSON.stringify(body)}`)
          }
          return result
        },
      },
    })
    reference.close()
  })
  return [...found]
}

function json(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}

/** Removed operations and other answers on the paths that are only named are no answers of the operation. */
const apart = /^(pdf-removed|aliases|answers)/
const hands = [[], ...inCompany('first').slice(0, 4), ...otherPairs().slice(0, 2)]

test.each(hands)('no answer of a conforming server is refused, with %s', { timeout: 60_000 }, async (...hand) => {
  expect(await refused(hand.filter((name) => !apart.test(name)))).toEqual([])
})
