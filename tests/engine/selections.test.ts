import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { decide } from '../../harness/report/exit-code.ts'
import { reportOf } from '../../suites/run-report.ts'
import type { Transport } from '../../harness/http/message.ts'
import type { TargetFile } from '../../harness/target-file/model.ts'
import {
  idsOf,
  type Judged,
  judgeReference,
  type JudgeSettings,
} from '../matrix/judge-reference.ts'

const unsupported = 'envelope/unsupported-method'

/** Judges the reference with that selection alone, and keeps what the requests were sent for. */
async function judgeOnly(
  only: string[],
  settings: JudgeSettings = {},
): Promise<Judged & { sentFor: Set<string | null> }> {
  const sentFor = new Set<string | null>()
  const prepare: JudgeSettings['prepare'] = ({ client }) =>
    client.observers.push(({ purpose }) => sentFor.add(purpose.requirement))
  const judged = await judgeReference({}, { ...settings, options: { only }, prepare })
  return Object.assign(judged, { sentFor })
}

const reasonsOf = ({ results }: Judged, selected: string[]) =>
  new Set(
    results
      .filter(({ id, outcome }) => outcome !== 'not-applicable' && !selected.includes(id))
      .map(({ reason }) => reason),
  )

test('a row that sends requests of its own, selected alone, sends no others', async () => {
  const judged = await judgeOnly([unsupported])
  expect(judged.sentFor).toEqual(new Set([null, unsupported]))
  expect(judged.facts.requests).toBeLessThan(15)
  expect(idsOf(judged.results, 'passed')).toEqual([unsupported])
  expect(reasonsOf(judged, [unsupported])).toEqual(new Set(['left out: --only']))
})

test('a server without a path for POST alone gets no GET there, and the reason says so', async () => {
  const onPostAlone = operations.filter(
    ({ method, path }) => method === 'POST' && !path.includes('{'),
  )
  const change = (file: TargetFile): TargetFile => ({
    ...file,
    operations: {
      ...file.operations,
      ...Object.fromEntries(onPostAlone.map(({ id }) => [id, 'not-served'])),
    },
  })
  const judged = await judgeOnly([unsupported], { change })
  expect(judged.sentFor).not.toContain(unsupported)
  expect(judged.results.find(({ id }) => id === unsupported)?.reason).toBe(
    'the target serves no path that the interface has for POST alone',
  )
})

test('for a row of every response all requests are sent, and what nobody selected is left out, whatever it lacks', async () => {
  const change = ({ keys, resources }: TargetFile): TargetFile => ({
    keys: { full: keys?.full as string },
    resources: { application: resources!.application! },
  })
  const judged = await judgeOnly(['envelope/shape'], { change })
  expect(judged.sentFor.size).toBeGreaterThan(20)
  expect(idsOf(judged.results, 'passed')).toEqual(['envelope/shape'])
  expect(reasonsOf(judged, ['envelope/shape'])).toEqual(new Set(['left out: --only']))
})

test('a row that only throttling kept from being judged says so, and it is what the exit code is told by', async () => {
  const network = (transport: Transport): Transport => ({
    ...transport,
    async send(request, options) {
      const result = await transport.send(request, options)
      const isListed = request.path === '/v1/files' || result.kind !== 'answer'
      return isListed
        ? result
        : { ...result, status: 503, headers: [], body: Buffer.from('<html>503') }
    },
  })
  const { results, facts, run } = await judgeOnly([unsupported], { network })
  const { reason } = results.find(({ id }) => id === unsupported)!
  expect(reason).toMatch(/^throttled: 503 with a page: 503 on every try$/)
  const known = new Map(results.map((result) => [result.id, result]))
  const { target, options } = run
  const report = reportOf({
    target,
    options,
    startedAt: new Date(0),
    durationMs: 0,
    results: known,
    facts,
  })
  expect(decide(report).code).toBe(3)
  expect(report.exit.because).toContain(reason)
})
