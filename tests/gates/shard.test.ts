import { expect, test } from 'vitest'
import { isAssignedTo, isObserved, parseShard, shardOf } from '../../harness/report/selection.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { operations } from '../../catalogue/operations.ts'

const areas = [...operations.map((operation) => operation.id), 'guardrails', 'general']
const none = new Set<string>()

test('a part is read, anything else is refused', () => {
  expect(parseShard('2/3')).toEqual({ index: 2, count: 3 })
  for (const text of ['0/3', '4/3', '1', '1/0', 'a/b', '1/3/4', ' 1/3', '01/3']) {
    expect(() => parseShard(text), text).toThrow(/give the part/)
  }
})

test('whatever the count, every requirement is dealt to exactly one shard', () => {
  for (const count of [1, 2, 3, 7]) {
    for (const area of areas) {
      const row = { id: `${area}/x`, operation: area }
      const shards = Array.from({ length: count }, (_, at) =>
        isAssignedTo(row, { index: at + 1, count }, none),
      )
      expect(shards.filter(Boolean), `${area} of ${count}`).toHaveLength(1)
    }
  }
})

test('all of jobs is one group, and the deal is the same on every machine', () => {
  expect(shardOf('jobs.create/a', 'jobs.create', 5, none)).toBe(
    shardOf('jobs.retrieve/b', 'jobs.retrieve', 5, none),
  )
  const some = ['jobs.create', 'pdf.parse', 'chat.create', 'files.list', 'guardrails', 'general']
  expect(some.map((area) => shardOf(`${area}/x`, area, 3, none))).toEqual([3, 2, 1, 2, 1, 3])
})

// Another operation may well make one of them larger than others; if it is by half, SALT has to be chosen anew.
test('two to five shards are nearly even', () => {
  for (const count of [2, 3, 4, 5]) {
    const sizes = Array.from({ length: count }, () => 0)
    for (const { id, operation } of catalogue) sizes[shardOf(id, operation, count, none) - 1]! += 1
    expect(Math.max(...sizes) / (catalogue.length / count), sizes.join(' ')).toBeLessThan(1.5)
  }
})

test('what runs alone and the active envelope rows are in the last shard, the observed ones in all', () => {
  expect(
    shardOf(
      'chat.create/429-model-quota',
      'chat.create',
      9,
      new Set(['chat.create/429-model-quota']),
    ),
  ).toBe(9)
  expect(shardOf('envelope/unknown-path', 'envelope', 9, none)).toBe(9)
  expect(shardOf('envelope/unsupported-method', 'envelope', 9, none)).toBe(9)
  expect(isObserved('envelope/shape')).toBe(true)
  expect(
    isAssignedTo({ id: 'envelope/shape', operation: 'envelope' }, { index: 4, count: 9 }, none),
  ).toBe(true)
})
