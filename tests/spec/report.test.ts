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
    cleanup: { removed: 1, left: [{ operation: 'graphs.create', id: 'g', why: 'w' }] },
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
const called = (...place: string[]): string => place.join('.').replaceAll(/\.(\d+)/g, '[$1]')

/** What is wrong with the report after a change. */
function problemAfter(change: (changed: typeof whole) => void): string | undefined {
  const changed = structuredClone(whole)
  change(changed)
  const found = validate('report', changed)
  return found.valid ? undefined : found.problem
}

test('a report of every outcome fits', () => {
  expect(problemAfter(() => undefined)).toBeUndefined()
})

test.each(closed.map((place) => [called(...place) || 'the report', place] as const))(
  '%s may hold no other member',
  (_, place) => {
    expect(problemAfter((changed) => (at(changed, place)['more'] = 1))).toBe(
      `${called(...place, 'more')} is not a known member`,
    )
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
    .filter((name) => !optional.includes(name) || ['suite', 'target'].includes(place.join()))
    .map((name) => [called(...place, name), place, name] as const),
)

test.each(members)('%s may not be absent, nor of another type', (path, place, name) => {
  const absent = problemAfter((changed) => Reflect.deleteProperty(at(changed, place), name))
  expect(absent).toBe(`${path} is missing`)
  const typed = problemAfter((changed) => {
    const holder = at(changed, place)
    holder[name] = typeof holder[name] === 'number' ? 'x' : 7
  })
  expect(typed).toMatch(/ must /)
  expect(typed).toContain(path)
})

test('what was not judged has a reason', () => {
  expect(problemAfter(({ requirements }) => delete requirements[3]?.reason)).toBe(
    'requirements[3].reason is missing',
  )
})
