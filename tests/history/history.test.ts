/** What a history keeps, and how it is looked up: pure data, no server. */
import { describe, expect, test } from 'vitest'
import type { Exchange } from '../../harness/journal/exchange.ts'
import type { Target } from '../../harness/target/model.ts'
import { Journal, derived } from '../../harness/journal/journal.ts'
import {
  eventOf,
  type HistoryEvent,
  readsTheSame,
  sameId,
  trimmedBody,
} from '../../harness/journal/event.ts'
import { eventAt } from './events.ts'

const limits = { settleMs: 5000, jobTimeoutMs: 60_000 }
const id = '6f1c1a52-93f4-4a53-9d3c-0a8b3c8f4a11'

describe('events are found by what they are about', () => {
  const history = new Journal(limits)
  const creation = eventAt(0, { kind: 'creation', object: id, within: 'app-1', isGranted: true })
  const reading = eventAt(10, { kind: 'reading', object: id.toUpperCase() })
  const refusal = eventAt(20, { kind: 'creation', object: undefined, within: 'app-1', status: 409 })
  const odd = eventAt(30, { kind: 'reading', object: '' })
  for (const event of [creation, reading, refusal, odd, undefined]) history.append(event)

  test('in order', () => expect(history.events).toEqual([creation, reading, refusal, odd]))
  test('a uuid in either letter case', () => {
    expect(history.of(id)).toEqual([creation, reading])
    expect(sameId(id, id.toUpperCase())).toBe(true)
    expect(sameId('job-A', 'job-a')).toBe(false)
  })
  test('what was made, or refused, within an object', () =>
    expect(history.within('app-1')).toEqual([creation, refusal]))
  test('nothing is known of any other', () => expect(history.of('app-2')).toEqual([]))
  test('an empty id names nothing', () => expect(history.of('')).toEqual([]))
})

test('a recording keeps the first two and the last of what says the same, a run keeps all', () => {
  const readings = Array.from({ length: 9 }, (_, at) =>
    eventAt(at * 10, { kind: 'reading', object: id, body: { status: 'in_progress' } }),
  )
  const ended = eventAt(100, { kind: 'reading', object: id, body: { status: 'completed' } })
  const [run, recording] = [new Journal(limits), new Journal(limits, true)]
  for (const history of [run, recording]) {
    for (const event of [...readings, ended]) history.append(event)
    expect(history.of(id)).toEqual(history.events)
  }
  expect(run.events).toHaveLength(10)
  expect(recording.events.map(({ sentAt }) => sentAt)).toEqual([0, 10, 80, 100])
})

test('a recording keeps what is the first of its place, also if it says what was said before', () => {
  const history = new Journal(limits, true)
  const within = [undefined, undefined, undefined, 'app-1', undefined]
  const events = within.map((place, at) => eventAt(at * 10, { object: id, within: place }))
  for (const event of events) history.append(event)
  expect(history.of(id)).toEqual(events)
  expect(history.within('app-1')).toEqual([events[3]])
})

test('a recording of refused creations that ask for the same does not grow', () => {
  const history = new Journal(limits, true)
  const ask = (at: number, name: string) =>
    eventAt(at, {
      operation: 'graphs.create',
      kind: 'creation',
      object: undefined,
      name,
      status: 401,
    })
  for (let at = 0; at < 9; at++) history.append(ask(at, 'tea'))
  for (let at = 9; at < 12; at++) history.append(ask(at, 'milk'))
  expect(history.events.map(({ sentAt }) => sentAt)).toEqual([0, 1, 8, 9, 10, 11])
})

test('what follows a history gets each event once, and has what took its place', () => {
  const history = new Journal(limits, true)
  const events: HistoryEvent[] = []
  history.follow((event) => events.push(event))
  for (let at = 0; at < 9; at++) {
    history.append(eventAt(at, { object: id, status: 404 }))
    expect(events.at(-1)?.sentAt).toBe(at)
  }
  expect(events).toHaveLength(3)
})

test('what is derived is made anew only once the history has changed', () => {
  let made = 0
  const count = derived((history) => [++made, history.events.length])
  const history = new Journal(limits)
  expect([count(history), count(history)]).toEqual([
    [1, 0],
    [1, 0],
  ])
  history.append(eventAt(0, { object: id }))
  expect(count(history)).toEqual([2, 1])
})

test.each([
  ['2026-03-01T12:00:00Z', '2026-03-01t13:00:00.0+01:00', true],
  [id, id.toUpperCase(), true],
  ['tea', 'Tea', false],
  [{ title: 'tea' }, { title: 'tea' }, true],
  [undefined, null, false],
])('%j and %j say the same: %j', (one, other, same) => expect(readsTheSame(one, other)).toBe(same))

test('a large member is kept by a digest, whatever the order of its own members', () => {
  const [one, other] = [
    trimmedBody({ data: { a: 1, b: [2] } }),
    trimmedBody({ data: { b: [2], a: 1 } }),
  ]
  expect(one).toEqual(other)
  expect(one).not.toEqual(trimmedBody({ data: { a: 1, b: [3] } }))
  expect(trimmedBody({ status: 'completed', errors: [] })).toMatchObject({ status: 'completed' })
  const odd = { toString: 'a', valueOf: null, constructor: [1] }
  expect(trimmedBody({ data: odd })).toEqual(trimmedBody({ data: { ...odd } }))
})

test.each([
  ['a reading of what is there', undefined, 'valid'],
  ['one that a scenario has refused', [[403, 'InsufficientAccessRights']], 'faulty'],
])('%s is known by what it is sent for', (_, expects, request) => {
  const exchange = {
    probe: {
      operation: 'jobs.retrieve',
      params: { job_id: id },
      query: {},
      headers: [],
      credential: { full: true },
      effect: 'none',
    },
    purpose: { requirement: 'jobs.retrieve/4xx-foreign-job', role: 'probe', expects },
    sentAt: 0,
    endedAt: 5,
  } as unknown as Exchange
  const target = { resources: {}, operations: {} } as unknown as Target
  expect(eventOf(target, exchange)).toMatchObject({ kind: 'reading', object: id, request })
})

test.each([
  [
    'a graph by its name',
    { operation: 'graphs.create', body: '{"title":"tea"}' },
    { kind: 'creation', name: 'tea', object: undefined },
  ],
  [
    'one whose body is no JSON by what it was to be called',
    { operation: 'graphs.create', body: '{"title":"tea"}}', creates: 'tea' },
    { kind: 'creation', name: 'tea' },
  ],
  [
    'a file by its name, and the graph that it is attached to',
    {
      operation: 'files.upload',
      query: { graphId: ['g1'] },
      headers: [{ name: 'Content-Disposition', value: 'attachment; filename="a \\"b\\".txt"' }],
    },
    { kind: 'creation', name: 'a \\"b\\".txt', within: 'g1' },
  ],
  [
    'an addition by its file',
    { operation: 'graphs.add-file', params: { graph_id: 'g1' }, body: '{"file":7}' },
    { kind: 'creation', object: '7', within: 'g1' },
  ],
  [
    'a listing by the types that it asks for',
    { operation: 'files.list', query: { file_types: 'pdf,txt' } },
    { kind: 'listing', object: 'file_types pdf,txt' },
  ],
])('a history knows %s', (_, probe, event) => {
  const target = {
    resources: {},
    operations: {
      'graphs.create': { fields: { name: '/title' } },
      'graphs.add-file': { fields: { file: '/file' } },
    },
  } as unknown as Target
  const exchange = {
    probe: { params: {}, query: {}, headers: [], credential: { full: true }, ...probe },
    purpose: { requirement: null, role: 'probe' },
  } as unknown as Exchange
  expect(eventOf(target, exchange)).toMatchObject(event)
})

test('two creations are told apart by what they send', () => {
  const contentOf = (body?: string) =>
    eventOf(
      { resources: {}, operations: {} } as unknown as Target,
      {
        probe: {
          operation: 'files.upload',
          params: {},
          query: {},
          headers: [],
          credential: {},
          body,
        },
        purpose: { requirement: null, role: 'probe' },
      } as unknown as Exchange,
      { request: 'unknown' },
    )?.content
  expect(contentOf('tea')).toBe(contentOf('tea'))
  expect(contentOf('tea')).not.toBe(contentOf('mint'))
  expect(contentOf(undefined)).toBeUndefined()
})
