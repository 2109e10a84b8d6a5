import { expect, test } from 'vitest'
import { validate } from '../../schemas/validate.ts'
import { failed, missed, notApplicable, report, result } from '../gates/results.ts'

const whole = report(
  [
    result('jobs.create/202-created'),
    failed('jobs.create/404-unknown-application', {}, { path: '0:1' }),
    missed('jobs.create/409-atomic'),
    notApplicable('pdf.parse/200-text'),
  ],
  {
    baseline: {
      file: 'b.json',
      expected: ['a'],
      stale: [{ id: 'b', why: 'passed' }],
      notExercised: [],
    },
    created: [
      { operation: 'graphs.create', id: 'g' },
      { operation: 'graphs.create', id: 'g', name: 'n' },
    ],
  },
)

/** The places of all objects in a value, as lists of keys. */
function objectsIn(value: unknown, place: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, item]) => objectsIn(item, [...place, key]))
  return Array.isArray(value) ? inner : [place, ...inner]
}

function at(root: unknown, place: readonly string[]): Record<string, unknown> {
  return place.reduce<unknown>(
    (value, key) => (value as Record<string, unknown>)[key],
    root,
  ) as Record<string, unknown>
}

const closed = objectsIn(whole).filter((place) => place.at(-1) !== 'headers')

test('a report of every outcome fits', () => {
  expect(validate('report', whole)).toEqual({ valid: true })
})

test.each(closed.map((place) => [place.join('.') || 'the report', place] as const))(
  '%s may hold no other member',
  (_, place) => {
    const changed = structuredClone(whole)
    at(changed, place)['more'] = 1
    const problem = `${[...place, 'more'].join('.').replaceAll(/\.(\d+)/g, '[$1]')} is not a known member`
    expect(validate('report', changed)).toEqual({
      valid: false,
      place: ['', ...place, 'more'].join('/'),
      problem,
    })
  },
)

const optional = [
  'path',
  'exchange',
  'response',
  'name',
  'bodyEncoding',
  'bodyLength',
  'bodySha256',
]
const members = closed.flatMap((place) =>
  Object.keys(at(whole, place))
    .filter(
      (name) => !optional.includes(name) || place.join() === 'suite' || place.join() === 'target',
    )
    .map((name) => [[...place, name].join('.'), place, name] as const),
)

test.each(members)('%s may not be absent', (_, place, name) => {
  const changed = structuredClone(whole)
  Reflect.deleteProperty(at(changed, place), name)
  expect(validate('report', changed)).toMatchObject({
    valid: false,
    place: ['', ...place, name].join('/'),
  })
})

test('what was not judged has a reason', () => {
  const changed = structuredClone(whole)
  delete changed.requirements[3]?.reason
  expect(validate('report', changed)).toMatchObject({ place: '/requirements/3/reason' })
})

test.each(members)('%s may not be of another type', (_, place, name) => {
  const changed = structuredClone(whole)
  at(changed, place)[name] = typeof at(changed, place)[name] === 'number' ? 'x' : 7
  const found = validate('report', changed)
  expect(found).toMatchObject({ valid: false, place: ['', ...place, name].join('/') })
})
