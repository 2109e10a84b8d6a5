import fc from 'fast-check'
import { expect, test } from 'vitest'
import { preview } from '../../schemas/json.ts'
import { runSchemas, validate } from '../../schemas/validate.ts'
import { anyCharacter } from '../support/any-character.ts'

const id = '7c1f2b3a-0000-4000-8000-0123456789ab'
const created = { id, status: 'in_progress', created_at: '2025-01-02T10:00:00Z' }

test('a body nested 200,000 deep is judged, and shown in a few characters', () => {
  let deep: unknown = []
  for (let level = 1; level < 200_000; level++) deep = [deep]
  expect(validate('created-job', { ...created, more: deep })).toEqual({ valid: true })
  expect(validate('created-job', { ...created, id: deep })).toEqual({
    valid: false,
    problem: 'id must be a string, got [[[[[…]]]]]',
  })
})

test.each([
  ['__proto__', '{"__proto__": {"id": 1, "status": "failed", "created_at": "x"}}'],
  ['toString', '{"toString": 1, "hasOwnProperty": 2, "constructor": null}'],
])('a member called %s is one like any other', (_, text) => {
  expect(validate('created-job', JSON.parse(text))).toMatchObject({
    valid: false,
    problem: 'id is missing',
  })
  expect(validate('created-job', { ...created, ...JSON.parse(text) })).toEqual({ valid: true })
})

test('what only a prototype has is no member of the body', () => {
  expect(validate('created-job', Object.create(created))).toMatchObject({
    valid: false,
    problem: 'id is missing',
  })
  const envelope = JSON.parse('{"tpe": "x", "errors": [], "__proto__": {"extras": {}}}') as unknown
  expect(validate('error-envelope', envelope)).toMatchObject({ problem: 'extras is missing' })
})

test('a report may have no member that is not shown, whatever it is called', () => {
  const names = ['__proto__', 'constructor', 'more', 'a/b~c', '']
  const problems = names.map((name) =>
    validate('report', JSON.parse(`{${JSON.stringify(name)}: 1}`)),
  )
  expect(problems.every(({ valid }) => !valid)).toBe(true)
})

test('a preview is short, well-formed, and the JSON itself where that is short', () => {
  const property = fc.property(
    fc.jsonValue({ maxDepth: 8, depthSize: 'large', stringUnit: anyCharacter }),
    (value) => {
      const text = preview(value)
      expect([...text].length).toBeLessThanOrEqual(60)
      expect(Buffer.from(text).toString()).toBe(text)
    },
  )
  fc.assert(property, { seed: 7, numRuns: 500 })
  for (const value of [
    null,
    true,
    0,
    -1.5,
    'x',
    '"\n',
    [],
    {},
    [1, 'a', [null]],
    { a: { b: [1] } },
  ]) {
    expect(preview(value)).toBe(JSON.stringify(value))
  }
})

test.each([
  ['a'.repeat(61), `"${'a'.repeat(58)}…`],
  [`a${'😀'.repeat(40)}`, `"a${'😀'.repeat(28)}…`],
  ['😀'.repeat(40), `"${'😀'.repeat(29)}…`],
  [Array(100).fill('ab'), '["ab","ab","ab","ab","ab","ab","ab","ab","ab","ab","ab","ab…'],
  [{ a: { b: { c: { d: { e: 1 } } } } }, '{"a":{"b":{"c":{"d":{…}}}}}'],
])('%# a long value is cut', (value, text) => {
  expect(preview(value)).toBe(text)
})

test('any JSON at all is judged without an exception', () => {
  const names = [...runSchemas, 'report'] as const
  const property = fc.property(
    fc.constantFrom(...names),
    fc.jsonValue({ maxDepth: 6 }),
    (name, value) => {
      const found = validate(name, value)
      if (!found.valid) expect(found.problem).toMatch(/^[^\n]+$/)
    },
  )
  fc.assert(property, { seed: 11, numRuns: 1000 })
})
