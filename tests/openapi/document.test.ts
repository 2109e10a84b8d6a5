/** The OpenAPI document is valid, allows what the interface allows, and is enough for a server. A client of it: `client.program`. */
import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { acceptedPairs } from '../../catalogue/catalogue.ts'
import { operationOf, operations } from '../../catalogue/operations.ts'
import { runConformance } from '../../library/index.ts'
import { createReference, targetFile } from '../../reference/server.ts'
import { answerFits, document, fits, place } from './fits.ts'

const path = new URL('../../schemas/openapi.json', import.meta.url)
const text = readFileSync(path, 'utf8')

const bySchema = (source: string): Promise<unknown> => new Validator().validate(JSON.parse(source))

async function byRules(source: string): Promise<string> {
  const rules = {
    // The interface has two paths that only differ in what a parameter may be, and they have different methods.
    'no-ambiguous-paths': 'off',
    // The interface names no license.
    'info-license': 'off',
    // Additional members are allowed everywhere.
    'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
  } as const
  const config = await createConfig({ extends: ['recommended-strict'], rules })
  const problems = await lintFromString({ source, absoluteRef: path.pathname, config })
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`).join('\n')
}

test('two linters that share no code accept the document, and find what is wrong', async () => {
  expect(await bySchema(text)).toEqual({ valid: true })
  expect(await byRules(text)).toBe('')
  const misplaced = text.replace('"in": "path"', '"in": "tea"')
  expect(await bySchema(misplaced)).toMatchObject({ valid: false })
  const unresolved = text.replace('#/components/schemas/Job"', '#/components/schemas/Tea"')
  expect(await byRules(unresolved)).toContain('no-unresolved-refs')
})

test('the document has every operation, with its paths', () => {
  const found = Object.entries<object>(document.paths).flatMap(([at, item]) =>
    Object.entries<any>(item).map(([method, { operationId }]) => `${operationId} ${method} ${at}`),
  )
  const wanted = operations.flatMap(({ id, method, path: first, otherPaths }) =>
    [first, ...otherPaths].map(
      (one, at) => `${at === 0 ? id : `${id}-${at + 1}`} ${method.toLowerCase()} ${one}`,
    ),
  )
  expect(found.sort()).toEqual(wanted.sort())
})

const envelope = (tpe: string) => ({ tpe, errors: [], extras: {} })

test('every pair that a requirement accepts fits, and a type of another name does not', () => {
  for (const { id } of operations) {
    for (const [status, ...types] of acceptedPairs(id)) {
      if (typeof status !== 'number') continue
      const misfits = types.filter((tpe) => !answerFits(id, status, envelope(tpe)))
      expect({ id, status, misfits }).toEqual({ id, status, misfits: [] })
      if (types.length > 0)
        expect([id, status, answerFits(id, status, envelope('Tea'))]).toContain(false)
    }
  }
})

const sent = 'requestBody content application/json schema'.split(' ')

function successIn(responses: object) {
  const [key, { content }] = Object.entries<any>(responses).find(([one]) => one.startsWith('2'))!
  return { status: Number(key.replace('XX', '00')), json: content?.['application/json'] }
}

const { operations: declaredOf, resources } = targetFile as any

test('what is known to be granted fits, and so do the examples of each operation', () => {
  for (const { id, body } of operations) {
    const { requestBody, responses } = place(id).reduce((part, key) => part[key], document)
    const { status, json } = successIn(responses)
    expect([id, answerFits(id, status, json?.example)]).toContain(true)
    if (body !== 'json') continue
    const own = { 'pdf.parse': { format: 'text' }, 'jobs.create': resources.application }
    const declared = { ...own, ...mapped(declaredOf) }[id as string]
    for (const one of [declared, requestBody.content['application/json'].example])
      expect([id, fits([...place(id), ...sent], one)]).toContain(true)
  }
  expect(fits([...place('pdf.parse'), ...sent], { format: 'tea' })).toBe(false)
})

const mapped = (declared: object) =>
  Object.fromEntries(Object.entries(declared).map(([id, { body }]) => [id, body]))

test('the embedded reference grants each example, with the examples of its path', async () => {
  for (const [template, item] of Object.entries<any>(document.paths))
    for (const [method, { parameters = [], requestBody }] of Object.entries<any>(item)) {
      const at = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent(parameters.find((one: any) => one.name === name).example),
      )
      const json = requestBody?.content['application/json']
      const request = new Request(`http://localhost${at}`, {
        method: method.toUpperCase(),
        headers: {
          authorization: `Bearer ${targetFile.keys.full}`,
          'content-type': json ? 'application/json' : 'text/plain',
          'content-disposition': 'attachment; filename="tea.txt"',
        },
        ...(requestBody && { body: json ? JSON.stringify(json.example) : 'Tea is a drink.' }),
      })
      const { status } = await createReference().handle(request)
      expect([method, at, Math.floor(status / 100)]).toEqual([method, at, 2])
    }
})

test('a streamed chat is in it, every array says what it holds, and something leads to every schema', () => {
  const { content } = document.paths['/v1/chat/completions'].post.responses['2XX']
  expect(Object.keys(content)).toEqual(['text/event-stream', 'application/json'])
  const isBare = (value: any): boolean =>
    typeof value === 'object' &&
    value !== null &&
    (value.type === 'array' ? !('items' in value) : Object.values(value).some(isBare))
  expect(isBare(document)).toBe(false)
  const whole = JSON.stringify(document)
  const names = Object.keys(document.components.schemas)
  expect(names.filter((name) => !whole.includes(`"#/components/schemas/${name}"`))).toEqual([])
})

const key = 'the-key-of-the-mock-server'
const refusal = (status: number, tpe: string) => Response.json(envelope(tpe), { status })

/** A server that knows the document and nothing else: a request that it allows gets the example of the success. */
async function mock(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  const method = request.method.toLowerCase()
  const [at, item] =
    Object.entries<any>(document.paths).find(
      ([template, methods]) =>
        method in methods &&
        new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
    ) ?? []
  if (at === undefined) return refusal(404, 'NotFound')
  const { requestBody, responses } = item[method]
  if (request.headers.get('authorization') !== `Bearer ${key}`)
    return refusal(401, 'BadCredentials')
  const isJson = requestBody?.content['application/json'] !== undefined
  const body: unknown = isJson ? await request.json().catch(() => undefined) : {}
  if (isJson && !fits(['paths', at, method, ...sent], body)) return refusal(400, 'BadRequest')
  const { status, json } = successIn(responses)
  return json ? Response.json(json.example, { status }) : new Response(null, { status })
}

test('a server that is driven by the document passes what needs no state', async () => {
  const target = {
    ...{ fetch: mock, keys: { full: key }, limits: { jobTimeoutMs: 500, settleMs: 100 } },
    resources: {
      application: { id: 'app', inputs: [{ id: 'topic', value: ['tea'] }] },
      pdfFile: 'file',
    },
    operations: {
      'completion.create': { body: { model: 'm-1', prompt: 'Hello' } },
      'medical.comprehend': { body: { content: 'Tea', response_type: 'Entities' } },
      'translate.run': { body: { text: 'tea' } },
    },
  }
  const only = [
    ...([
      '*/401-missing-credentials',
      '*/401-invalid-key',
      'envelope/*',
      '*/2xx-accepted',
    ] as const),
    ...(['pdf.parse/200-*', 'jobs.create/202-created', 'jobs.create/400-m*'] as const),
    ...(['pdf.parse/400-malformed-json', 'medical.comprehend/200-entities'] as const),
  ]
  const { requirements } = await runConformance(target, { only, depth: 'quick', seed: 1 }).report
  const ids = (asked: string) =>
    requirements.flatMap(({ id, outcome }) => (outcome === asked ? [id] : []))
  expect(ids('failed')).toEqual([])
  expect(ids('passed')).toEqual(
    expect.arrayContaining([
      ...['pdf.parse/200-text', 'jobs.create/202-created', 'jobs.create/400-malformed-json'],
      ...['jobs.create/400-missing-inputs', 'medical.comprehend/200-entities', 'envelope/shape'],
      // What is destroyed is made before, and the document shows no id of it.
      ...operations.flatMap(({ id }) =>
        operationOf(id).effect === 'destroys' ? [] : `${id}/401-missing-credentials`,
      ),
    ]),
  )
})
