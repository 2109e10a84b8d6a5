import { describe, expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { invalidKeys, isFormOn, malformedKeys, turnOf } from '../../catalogue/faults.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import type { RequirementResult } from '../../harness/report/report-schema.ts'
import { type TargetFile, defaultLimits } from '../../harness/target-file/model.ts'
import { idsOf, judgeReference, type JudgeSettings } from '../matrix/judge-reference.ts'
import { judgeBehind, json } from './behind.ts'

const pace = { jobMs: 15, slowJobMs: 1200 }

async function credentialsSent(settings: JudgeSettings): Promise<ReadonlyMap<string, number>> {
  const sent = new Map<string, number>()
  const count = ({ purpose: { requirement, role } }: Exchange): void => {
    if (requirement?.includes('/401-') && role === 'probe')
      sent.set(requirement, (sent.get(requirement) ?? 0) + 1)
  }
  const options = { only: ['*/401-*'], refusalRuns: 3 }
  await judgeReference(pace, {
    options,
    ...settings,
    prepare: ({ client }) => client.observers.push(count),
  })
  return sent
}

describe('wrong keys', () => {
  test('every form goes to every operation, of those that are alike every third one, generated ones to one of them', async () => {
    const sent = await credentialsSent({})
    const formsOn = (id: string): number =>
      invalidKeys.filter((kind) =>
        isFormOn(id as OperationId, kind, turnOf(id as OperationId, 421)),
      ).length
    expect([2, 3]).toContain(malformedKeys.length - sent.get('translate.run/401-malformed-key')!)
    expect(sent.get('jobs.retrieve/401-malformed-key')).toBe(malformedKeys.length + 3)
    const invalid = [...sent].filter(([id]) => id.endsWith('/401-invalid-key'))
    expect(invalid.map(([, count]) => count)).toEqual(
      invalid.map(([id]) => formsOn(id.split('/')[0]!)),
    )
    expect(invalid).toHaveLength(operations.length)
  })

  test('few go to a target that wants few, all to three operations', async () => {
    const sent = await credentialsSent({ limits: { credentialProbes: 'few' } })
    const invalid = [...sent].filter(([id]) => id.endsWith('/401-invalid-key'))
    const all = invalid.filter(([, count]) => count === invalidKeys.length).map(([id]) => id)
    expect(all.toSorted()).toEqual(
      ['jobs.create', 'jobs.retrieve', 'pdf.parse'].map((id) => `${id}/401-invalid-key`),
    )
    expect(invalid.filter(([, count]) => count === 1)).toHaveLength(operations.length - 3)
    expect(sent.get('translate.run/401-malformed-key')).toBe(1)
  })
})

describe('answers that take their time, or are long', () => {
  const only = [
    'completion.create/400-unsupported-model',
    'jobs.create/404-unknown-application',
    'graphs.query/404-*',
  ]
  const slow = { ...pace, variants: ['slow/refusals'], slowRefusalMs: 20_000 }

  test('a slow refusal within the declared timeoutMs passes', async () => {
    const { results } = await judgeReference(slow, {
      options: { only },
      limits: { timeoutMs: 30_000 },
    })
    expect(idsOf(results, 'failed')).toEqual([])
  })

  test('a word that a server remembers once it was answered is asked for after that', async () => {
    let answered = 0
    const { report } = await judgeBehind(
      async (path, answer) => {
        const remembers = answered >= 2
        const response = await answer()
        if (!path.endsWith('/completion') || response.status !== 400) return response
        // Looking it up takes a while.
        await new Promise((resolve) => setTimeout(resolve, 50))
        answered++
        return remembers ? json(200, { completion: 'Hello' }) : response
      },
      { only: ['completion.create/400-unsupported-model'] },
    )
    const [failed, ...others] = report.requirements.filter(({ outcome }) => outcome === 'failed')
    expect(others).toEqual([])
    expect(failed?.failures[0]?.message).toContain('asked for again')
  })

  test('a large answer is no fault, and one that is too large to be read is judged by its status', async () => {
    const options = { only: ['files.list/2*', 'files.retrieve/*2*', 'jobs.retrieve/200-job'] }
    const large = await judgeReference({ ...pace, variants: ['answers/large'] }, { options })
    expect(idsOf(large.results, 'failed')).toEqual([])
    expect(unexercised(large.results)).toEqual([])
    const huge = await judgeReference({ ...pace, variants: ['answers/huge'] }, { options })
    expect(idsOf(huge.results, 'failed')).toEqual([])
    expect(unexercised(huge.results)).toEqual([])
    expect(idsOf(huge.results, 'passed')).toContain('files.retrieve/2xx-accepted')
    expect(defaultLimits.maxAnswerBytes).toBeLessThan(9 * 1024 * 1024)
  })
})

/** Lists the requirements that were chosen and gave no evidence. */
function unexercised(results: readonly RequirementResult[]): string[] {
  const silent = results.filter(
    ({ outcome, reason }) => outcome === 'not-exercised' && reason !== 'left out: --only',
  )
  return silent.map(({ id, reason }) => `${id}: ${reason}`)
}

const notServing = (file: TargetFile): TargetFile => ({
  ...file,
  operations: {
    ...file.operations,
    'vision.analyze': 'not-served',
    'files.retrieve': 'not-served',
    general: 'not-served',
  },
})

test('each operation that is declared not served is asked once, and its answer told', async () => {
  const { facts, results } = await judgeReference(pace, {
    options: { only: ['files.list/2xx-*'] },
    change: notServing,
  })
  expect(facts.notServed).toEqual([
    { operation: 'vision.analyze', answered: '400' },
    { operation: 'files.retrieve', answered: '404' },
  ])
  expect(idsOf(results, 'failed')).toEqual([])
})

describe('what to look at', () => {
  const hintsOf = async (settings: JudgeSettings): Promise<readonly string[]> =>
    (await judgeReference(pace, settings)).facts.hints

  test('is not said of a target that is as its file says', async () => {
    expect(await hintsOf({ options: { only: ['*/2xx-accepted', '*/400-missing-*'] } })).toEqual([])
  })

  test('is said of an application and a model that the target does not know', async () => {
    const change = (file: TargetFile): TargetFile => {
      const { 'completion.create': completion, ...others } = file.operations ?? {}
      const body = { ...(completion as { body: object }).body, model: 'unknown' }
      return {
        ...file,
        resources: {
          ...file.resources,
          application: { id: 'cdd2d7b1-0b60-4d0f-8f5e-3f1f1b1c2a00', inputs: [] },
        },
        operations: { ...others, 'completion.create': { ...(completion as object), body } },
      }
    }
    const only = ['jobs.create/400-missing-inputs', 'completion.create/400-empty-prompt']
    const [model, application] = (await hintsOf({ options: { only }, change })).toSorted()
    expect(application).toMatch(
      /^jobs\.create was answered 404 .*: check resources\.application\.id in the target file$/,
    )
    expect(model).toMatch(
      /^completion\.create was answered 400 .*: check operations\.completion\.create\.body\.model/,
    )
  })
})
