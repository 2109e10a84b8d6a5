import { expect, test } from 'vitest'
import { jsonFaults, malformedBy } from '../../harness/checks/bodies.ts'

const bodies = [
  '{"model":"m-1","n":1}',
  '{"a":{"b":["it\'s \\"so\\""]}}',
  '{}',
  '[{"a":1}]',
  '[]',
  '{"a b":"{\\"c\\":1}"}\n',
]

test.each(bodies)('no change of %s is JSON, and none is empty', (body) => {
  for (const { change } of jsonFaults) {
    const text = malformedBy(change, body)
    if (text === undefined) continue
    expect(text).not.toBe('')
    expect(() => JSON.parse(text) as unknown).toThrow()
  }
})

test('an object with members is changed in nine ways, each of them one thing', () => {
  expect(jsonFaults.map(({ change }) => malformedBy(change, '{"model":"m-1","n":[1]}'))).toEqual([
    '{"model":"m-',
    '{"model":"m-1","n":[1]',
    '{"model":"m-1","n":[1]}}',
    '{"model":"m-1","n":[1],}',
    '{"model":"m-1","n":[1]} and more',
    '{/* no comment */"model":"m-1","n":[1]}',
    '{"model":"m-1","n":[1],"conform":NaN}',
    "{'model':'m-1','n':[1]}",
    '{model:"m-1","n":[1]}',
  ])
})

test('a change that the grammar does not refuse is not sent', () => {
  expect(malformedBy((text) => text, '{"a":1}')).toBeUndefined()
  expect(malformedBy((text) => text.slice(0, -1), '12')).toBeUndefined()
})
