import { describe, expect, test } from 'vitest'
import target from '../../fixtures/reference.target.json' with { type: 'json' }
import { operations } from '../../catalogue/operations.ts'
import { invalidKeys, isFormOn, malformedKeys, turnOf } from '../../catalogue/faults.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { decide } from '../../harness/report/exit-code.ts'
import { type TargetFile } from '../../harness/target/model.ts'
import { judgeBehind, json } from './behind.ts'
import { answer, judge } from './networks.ts'

/** What a run sends, and for what. */

const { otherApplication: _, ...resources } = target.resources
const declared = JSON.stringify(resources)

const reference = { jobMs: 15, slowJobMs: 1200 }

type How = NonNullable<Parameters<typeof judge>[1]>

describe('wrong keys', () => {
  /** How many keys each requirement of that name was asked with. */
  async function keysSent(how: How = {}) {
    const sent = new Map<string, number>()
    await judge(['*/401-*'], {
      reference,
      refusalRuns: 3,
      ...how,
      prepare: ({ client }) =>
        client.observers.push(({ probe, purpose: { requirement, role } }) => {
          const isDeclared = Object.values(probe.params).every((id) => declared.includes(id))
          if (requirement?.includes('/401-') && role === 'probe' && isDeclared)
            sent.set(requirement, (sent.get(requirement) ?? 0) + 1)
        }),
    })
    return { sent, invalid: [...sent].filter(([id]) => id.endsWith('/401-invalid-key')) }
  }

  test('every form goes to every operation, of those that are alike every third one, generated ones to one of them', async () => {
    const { sent, invalid } = await keysSent()
    const formsOn = (id: OperationId): number =>
      invalidKeys.filter((kind) => isFormOn(id, kind, turnOf(id, 421))).length
    expect([2, 3]).toContain(malformedKeys.length - sent.get('translate.run/401-malformed-key')!)
    expect(sent.get('jobs.retrieve/401-malformed-key')).toBe(malformedKeys.length + 3)
    expect(invalid.map(([, count]) => count)).toEqual(
      invalid.map(([id]) => formsOn(id.split('/')[0] as OperationId)),
    )
    expect(invalid).toHaveLength(operations.length)
  })

  test('few go to a target that wants few, all to three operations', async () => {
    const { sent, invalid } = await keysSent({ limits: { credentialProbes: 'few' } })
    const all = invalid.filter(([, count]) => count === invalidKeys.length).map(([id]) => id)
    expect(all.toSorted()).toEqual(
      ['jobs.create', 'jobs.retrieve', 'pdf.parse'].map((id) => `${id}/401-invalid-key`),
    )
    expect(invalid.filter(([, count]) => count === 1)).toHaveLength(operations.length - 3)
    expect(sent.get('translate.run/401-malformed-key')).toBe(1)
  })
})

describe('answers that take their time, or are long', () => {
  test('a slow refusal within the declared timeoutMs passes', async () => {
    const only = [
      'completion.create/400-unsupported-model',
      'jobs.create/404-unknown-application',
      'graphs.query/404-*',
    ]
    const slow = { ...reference, variants: ['slow/refusals'], slowRefusalMs: 20_000 }
    const { failed } = await judge(only, { reference: slow, limits: { timeoutMs: 30_000 } })
    expect(failed).toEqual([])
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
  expect(facts.notServed).toEqual([
    { operation: 'vision.analyze', answered: '400' },
    { operation: 'files.retrieve', answered: '404' },
  ])
  expect(failed).toEqual([])
})

describe('what to look at', () => {
  test('is not said of a target that is as its file says', async () => {
    const { facts } = await judge(['*/2xx-accepted', '*/400-missing-*'], { reference })
    expect(facts.hints).toEqual([])
  })

  test('is said of an application and a model that the target does not know', async () => {
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
    const [model, application] = facts.hints.toSorted()
    expect(application).toMatch(
      /^jobs\.create got 404 .*: check resources\.application\.id in the target file$/,
    )
    expect(model).toMatch(
      /^completion\.create got 400 .*: check operations\.completion\.create\.body\.model/,
    )
  })
})

describe('a requirement that is selected alone', () => {
  const unsupported = 'envelope/unsupported-method'

  /** Judges it, and keeps what the requests were sent for. */
  async function judgeOnly(id: string, how: How = {}) {
    const sentFor = new Set<string | null>()
    const prepare: How['prepare'] = ({ client }) =>
      client.observers.push(({ purpose }) => sentFor.add(purpose.requirement))
    const judged = await judge([id], { ...how, prepare })
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
