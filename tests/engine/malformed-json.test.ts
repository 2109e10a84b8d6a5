import { expect, test } from 'vitest'
import { jsonFaults, malformedBy } from '../../harness/checks/conditions.ts'

const bodies = [
  '{"model":"m-1","n":1}',
  '{"a":{"b":["it\'s \\"so\\""]}}',
  '{}',
  '[{"a":1}]',
  '[]',
  '{"a b":"{\\"c\\":1}"}\n',
]

test.each(bodies)('no change of %s is JSON, and none is empty', (body) => {
  for (const [, change] of Object.values(jsonFaults)) {
    const text = malformedBy(change, body)
    if (text === undefined) continue
    expect(text).not.toBe('')
    expect(() => JSON.parse(text) as unknown).toThrow()
  }
})

test('an object with members is changed in sixteen ways, each of them one thing', () => {
  const text = '{"model":"m-1","n":[1]}'
  expect(Object.values(jsonFaults).map(([, change]) => malformedBy(change, text))).toEqual([
    '{"model":"m-1","n":[1]',
    `${text}}`,
    '{"model":"m-1","n":[1],}',
    `${text} and more`,
    `${text}\n${text}`,
    '{/* no comment */"model":"m-1","n":[1]}',
    '{ # no comment\n"model":"m-1","n":[1]}',
    ...['NaN', 'Infinity', '+1', '01', '.5'].map(
      (value) => `{"model":"m-1","n":[1],"conform":${value}}`,
    ),
    "{'model':'m-1','n':[1]}",
    '{model:"m-1","n":[1]}',
    '{"model":"m-1","n":[1],"conform":"two\nlines"}',
    '{"model":"m-1","n":[1],"conform":"two\twords"}',
  ])
})

test('a change that the grammar does not refuse is not sent', () => {
  expect(malformedBy((text) => text, '{"a":1}')).toBeUndefined()
  expect(malformedBy((text) => text.slice(0, -1), '12')).toBeUndefined()
})
