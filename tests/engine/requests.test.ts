import { describe, expect, test } from 'vitest'
import target from '../../fixtures/reference.target.json' with { type: 'json' }
import { operationOf, operations } from '../../catalogue/operations.ts'
import { invalidKeys } from '../../catalogue/faults.ts'
import { decide } from '../../harness/report/verdict.ts'
import { type TargetFile } from '../../harness/target/model.ts'
import { judgeBehind, json } from './behind.ts'
import { answer, refusal, type How, judge } from './networks.ts'

/** What a run sends, and for what. */

const {
  otherApplication: _second,
  failingApplication: _failing,
  slowApplication: _slow,
  ...resources
} = target.resources
const declared = JSON.stringify(resources)

const reference = { jobMs: 15, slowJobMs: 1200 }

test('few wrong keys go to a target that wants few, all to three operations', async () => {
  const sent = new Map<string, number>()
  await judge(['*/401-*'], {
    reference,
    refusalRuns: 3,
    limits: { credentialProbes: 'few' },
    observe({ probe, purpose: { requirement, role } }) {
      const isDeclared = Object.values(probe.params).every((id) => declared.includes(id))
      if (requirement?.includes('/401-') && role === 'probe' && isDeclared)
        sent.set(requirement, (sent.get(requirement) ?? 0) + 1)
    },
  })
  const invalid = [...sent].filter(([id]) => id.endsWith('/401-invalid-key'))
  const all = invalid.filter(([, count]) => count === invalidKeys.length).map(([id]) => id)
  expect(all.toSorted()).toEqual(
    ['jobs.create', 'jobs.retrieve', 'pdf.parse'].map((id) => `${id}/401-invalid-key`),
  )
  // What is destroyed is not declared.
  const counted = operations.filter(({ id }) => operationOf(id).effect !== 'destroys')
  expect(invalid.filter(([, count]) => count === 1)).toHaveLength(counted.length - 3)
  expect(sent.get('translate.run/401-malformed-key')).toBe(1)
})

test('a word that a server remembers once it was answered is asked for after that', async () => {
  const id = 'completion.create/400-unsupported-model'
  let answered = 0
  const { failed, of } = await judgeBehind(
    async (path, reply) => {
      const remembers = answered >= 2
      const response = await reply()
      if (!path.endsWith('/completion') || response.status !== 400) return response
      // Looking it up takes a while.
      await new Promise((resolve) => setTimeout(resolve, 50))
      answered++
      return remembers ? json(200, { completion: 'Hello' }) : response
    },
    { only: [id] },
  )
  expect(failed).toEqual([id])
  expect(of(id).failures[0]?.message).toContain('asked for again')
})

const notServed = (file: TargetFile, ids: readonly string[]): TargetFile => ({
  ...file,
  operations: { ...file.operations, ...Object.fromEntries(ids.map((id) => [id, 'not-served'])) },
})

test('each operation that is declared not served is asked once, and its answer told', async () => {
  const { facts, failed } = await judge(['files.list/2xx-*'], {
    reference,
    change: (file) => notServed(file, ['vision.analyze', 'files.retrieve', 'general']),
  })
  expect(facts.hints).toEqual([])
  expect(facts.notServed).toEqual([
    { operation: 'vision.analyze', answered: '400' },
    { operation: 'files.retrieve', answered: '404' },
  ])
  expect(failed).toEqual([])
})

test('an application and a model that the target does not know are pointed to', async () => {
  const change = ({ resources, operations: declared, ...file }: TargetFile): TargetFile => {
    const completion = declared?.['completion.create'] as { body: object }
    const body = { ...completion.body, model: 'unknown' }
    const application = { id: 'cdd2d7b1-0b60-4d0f-8f5e-3f1f1b1c2a00', inputs: [] }
    return {
      ...file,
      resources: { ...resources, application },
      operations: { ...declared, 'completion.create': { ...completion, body } },
    }
  }
  const only = ['jobs.create/400-missing-inputs', 'completion.create/400-empty-prompt']
  const { facts } = await judge(only, { reference, change })
  expect(facts.hints.toSorted()).toEqual([
    expect.stringMatching(
      /^completion\.create got 400 .*: check operations\.completion\.create\.body\.model/,
    ),
    expect.stringMatching(
      /^jobs\.create got 404 .*: check resources\.application\.id in the target file$/,
    ),
  ])
})

describe('a requirement that is selected alone', () => {
  const unsupported = 'envelope/unsupported-method'

  /** Judges it, and keeps what the requests were sent for. */
  async function judgeOnly(id: string, how: How = {}) {
    const sentFor = new Set<string | null>()
    const observe: How['observe'] = ({ purpose }) => sentFor.add(purpose.requirement)
    const judged = await judge([id], { ...how, observe })
    const others = judged.results.filter(
      (result) => result.outcome !== 'not-applicable' && result.id !== id,
    )
    return { judged, sentFor, reasons: new Set(others.map(({ reason }) => reason)) }
  }

  test('sends no other requests, if it sends requests of its own', async () => {
    const { judged, sentFor, reasons } = await judgeOnly(unsupported)
    expect(sentFor).toEqual(new Set([null, unsupported]))
    expect(judged.facts.requests).toBeLessThan(15)
    expect(judged.passed).toEqual([unsupported])
    expect(reasons).toEqual(new Set(['left out: --only']))
  })

  test('of methods sends no GET to a server without a path for POST alone, and the reason says so', async () => {
    const onPostAlone = operations.filter(
      ({ method, path }) => method === 'POST' && !path.includes('{'),
    )
    const ids = onPostAlone.map(({ id }) => id)
    const { judged, sentFor } = await judgeOnly(unsupported, {
      change: (file) => notServed(file, ids),
    })
    expect(sentFor).not.toContain(unsupported)
    expect(judged.of(unsupported).reason).toBe(
      'the target serves no path that the interface only has for POST',
    )
  })

  test('of every response sends all requests, and what nobody selected is left out, whatever it lacks', async () => {
    const change = ({ keys, resources }: TargetFile): TargetFile => ({
      keys: { full: keys?.full as string },
      resources: { application: resources!.application! },
    })
    const { judged, sentFor, reasons } = await judgeOnly('envelope/shape', {
      change,
      depth: 'quick',
    })
    expect(sentFor.size).toBeGreaterThan(20)
    expect(judged.passed).toEqual(['envelope/shape'])
    expect(reasons).toEqual(new Set(['left out: --only']))
  })

  test('and that only throttling kept from being judged says so, and it is what the exit code is reported by', async () => {
    const { judged } = await judgeOnly(unsupported, {
      way: ({ path }, send) => (path === '/v1/files' ? send() : answer(503, '<html>503')),
    })
    const { reason } = judged.of(unsupported)
    expect(reason).toMatch(/^throttled: 503 with a page: 503 on every try$/)
    const { report } = judged
    expect(decide(report).code).toBe(3)
    expect(report.exit.because).toContain(reason)
  })
})

const overload = 'completion.create/500-model-overload'
const quota = 'completion.create/429-quota-exceeded'

test.each([
  [
    overload,
    'the model error that its scenario asks for',
    'CompletionModelInternalError',
    'failed',
  ],
  [overload, 'another type', 'InternalError', 'not-exercised'],
  [quota, 'the type that its scenario asks for', 'QuotaExceeded', 'failed'],
  [quota, 'another type', 'ServiceUnavailable', 'failed'],
])('%s: a 503 on every try, with %s: %s', async (id, _, tpe, outcome) => {
  const { of } = await judge([id], {
    way: (_request, send, { purpose }) =>
      purpose?.requirement === id ? refusal(503, tpe) : send(),
  })
  expect(of(id).outcome).toBe(outcome)
})
