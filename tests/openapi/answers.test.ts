import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { acceptedPairs } from '../../catalogue/catalogue.ts'
import { operations } from '../../catalogue/operations.ts'
import { createReference, targetFile } from '../../reference/server.ts'
import { answerFits, document, fits, place } from './fits.ts'

test('it has every operation, with its paths', () => {
  const found = Object.entries<any>(document.paths).flatMap(([path, item]) =>
    Object.entries<any>(item).map(([method, { operationId }]) => [operationId, method, path]),
  )
  const wanted = operations.flatMap(({ id, method, path, otherPaths }) =>
    [path, ...otherPaths].map((one, at) => [
      at === 0 ? id : `${id}-${at + 1}`,
      method.toLowerCase(),
      one,
    ]),
  )
  expect(found.sort()).toEqual(wanted.sort())
})

test('every pair that a requirement accepts fits, and a type of another name does not', () => {
  for (const { id } of operations) {
    for (const [status, ...types] of acceptedPairs(id)) {
      if (typeof status !== 'number') continue
      for (const tpe of types)
        expect([id, status, tpe, answerFits(id, status, envelope(tpe))]).toContain(true)
      if (types.length > 0)
        expect([id, status, answerFits(id, status, envelope('Tea'))]).toContain(false)
    }
  }
})

const envelope = (tpe: string): unknown => ({ tpe, errors: [], extras: {} })

test('every request that is known to succeed fits', () => {
  const file = JSON.parse(
    readFileSync(
      fileURLToPath(new URL('../../fixtures/reference.target.json', import.meta.url)),
      'utf8',
    ),
  )
  const shown = ['requestBody', 'content', 'application/json', 'schema']
  for (const { id, body } of operations) {
    const declared =
      file.operations[id]?.body ??
      (id === 'pdf.parse' ? { format: 'text' } : file.resources.application)
    if (body === 'json') expect([id, fits([...place(id), ...shown], declared)]).toContain(true)
  }
  expect(fits([...place('pdf.parse'), ...shown], { format: 'tea' })).toBe(false)
})

test('each operation has an example of its request and of its success, and both fit', () => {
  for (const { id, body } of operations) {
    const { requestBody, responses } = place(id).reduce((part, key) => part[key], document)
    const [status] = Object.keys(responses).filter((key) => key.startsWith('2'))
    const { example } = responses[status!].content['application/json']
    expect([
      id,
      typeof example,
      answerFits(id, Number(status!.replace('XX', '00')), example),
    ]).toEqual([id, 'object', true])
    if (body !== 'json') continue
    const shown = requestBody.content['application/json']
    expect([
      id,
      fits([...place(id), 'requestBody', 'content', 'application/json', 'schema'], shown.example),
    ]).toContain(true)
  }
})

test('the embedded reference grants each example, with the examples of its path', async () => {
  const reference = createReference()
  for (const [path, item] of Object.entries<any>(document.paths))
    for (const [method, { parameters = [], requestBody }] of Object.entries<any>(item)) {
      const at = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
        const { example } = parameters.find((one: any) => one.name === name)
        return encodeURIComponent(example)
      })
      const json = requestBody?.content['application/json']
      const body = json ? JSON.stringify(json.example) : requestBody && 'Tea is a drink.'
      const headers = {
        authorization: `Bearer ${targetFile.keys.full}`,
        'content-type': json ? 'application/json' : 'text/plain',
        'content-disposition': 'attachment; filename="tea.txt"',
      }
      const request = new Request(`http://localhost${at}`, {
        method: method.toUpperCase(),
        headers,
        ...(body !== undefined && { body }),
      })
      const { status } = await reference.handle(request)
      expect([method, path, Math.floor(status / 100)]).toEqual([method, path, 2])
    }
})

test('a streamed chat is reported, and every array says what it holds', () => {
  const { content } = document.paths['/v1/chat/completions'].post.responses['2XX']
  expect(Object.keys(content)).toEqual(['text/event-stream', 'application/json'])
  const isBare = (value: any): boolean =>
    value?.type === 'array' ? !('items' in value) : Object.values(value ?? {}).some(isBareObject)
  const isBareObject = (value: unknown): boolean => typeof value === 'object' && isBare(value)
  expect(isBare(document)).toBe(false)
})

test('no schema is there that nothing leads to', () => {
  const text = JSON.stringify(document)
  const names = Object.keys(document.components.schemas)
  expect(names.filter((name) => !text.includes(`"#/components/schemas/${name}"`))).toEqual([])
})
