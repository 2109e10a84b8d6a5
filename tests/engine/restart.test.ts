import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type {
  WireResponse,
  HttpResult,
  NoResponse,
  SendOptions,
  Transport,
} from '../../harness/http/message.ts'
import { runNotes } from '../../reporters/view/standing.ts'
import { reportOf } from '../../suites/run-report.ts'
import {
  idsOf,
  type Judged,
  judgeReference,
  type JudgeSettings,
} from '../matrix/judge-reference.ts'

const only = ['files.*', 'translate.run/*', 'pdf.parse/4*', 'envelope/*']

/** The fate of a request: nothing if it goes on to the target. */
type Instead = Partial<WireResponse> | Partial<NoResponse> | undefined
type Meanwhile = (number: number, options: SendOptions) => Promise<Instead> | Instead

/** Judges the reference with its real pauses, in virtual time. */
function judgeWhile(meanwhile: Meanwhile, settings: JudgeSettings = {}): Promise<Judged> {
  let number = 0
  const network = (transport: Transport): Transport => ({
    ...transport,
    async send(request, options) {
      const instead = await meanwhile(number++, options)
      if (!instead) return transport.send(request, options)
      await sleep(1)
      const times = { sentAt: performance.now(), endedAt: performance.now() }
      return {
        ...times,
        headers: [],
        cut: false,
        staleConnection: false,
        ...instead,
      } as unknown as HttpResult
    },
  })
  return judgeReference(
    { jobMs: 20 },
    { ...settings, network, options: { only, backoffMs: 250, ...settings.options } },
  )
}

const refused = {
  kind: 'no-answer',
  cause: 'refused',
  detail: 'nobody-listens',
  message: 'connection refused',
} as const

/** Takes no connections for that long, from that request on. */
function closedFor(ms: number, from: number, instead: Instead = refused): Meanwhile {
  let since: number | undefined
  return (number) => {
    if (number < from) return undefined
    since ??= performance.now()
    return performance.now() - since < ms ? instead : undefined
  }
}

const reset = {
  kind: 'no-answer',
  cause: 'reset',
  message: 'the connection was reset before any byte of an answer',
} as const

test.each([100, 1000, 8000])(
  'a port that resets what it takes for %i ms is waited for',
  async (ms) => {
    const { results, facts } = await judgeWhile(closedFor(ms, 181, reset))
    expect(facts.ended).toBeNull()
    expect(idsOf(results, 'failed')).toEqual([])
    expect(idsOf(results, 'passed').length).toBeGreaterThan(40)
  },
)

test('a request that brings the target down for a while is blamed, and none that was under way with it', async () => {
  let upAt = -Infinity
  const { results, facts } = await judgeWhile((_, { tag }) => {
    const sent = tag as { purpose: { requirement: string | null } } | undefined
    if (performance.now() < upAt) return reset
    if (sent?.purpose.requirement !== 'translate.run/400-wrong-content-type') return undefined
    upAt = performance.now() + 1000
    return reset
  })
  expect(facts.ended).toBeNull()
  expect(idsOf(results, 'failed')).toEqual(['translate.run/400-wrong-content-type'])
})

test.each([
  [2000, 0],
  [8000, 40],
])('a port that is closed for %i ms, from request %i on, is waited for', async (ms, from) => {
  const { results, facts } = await judgeWhile(closedFor(ms, from))
  expect(facts.ended).toBeNull()
  expect(idsOf(results, 'failed')).toEqual([])
  expect(idsOf(results, 'passed').length).toBeGreaterThan(40)
})

/** A gateway that answers for its service meanwhile. */
const badGateway = {
  kind: 'answer',
  status: 502,
  headers: [{ name: 'content-type', value: 'text/html' }],
  body: Buffer.from('<html><head><title>502 Bad Gateway</title></head></html>'),
} as const

/** One that answers with an envelope. */
const enveloped = {
  ...badGateway,
  headers: [{ name: 'content-type', value: 'application/json' }],
  body: Buffer.from('{"tpe":"ServiceUnavailable","errors":[],"extras":{}}'),
}

test.each([
  [200, badGateway],
  [6000, badGateway],
  [6000, enveloped],
])(
  'a service that starts again behind its gateway within %i ms is waited for',
  async (ms, answer) => {
    let since: number | undefined
    const { results, facts } = await judgeWhile((number) => {
      if (number < 40) return undefined
      since ??= performance.now()
      return performance.now() - since < ms ? answer : undefined
    })
    expect(facts.ended).toBeNull()
    // What came in between was no envelope: a client would have met it too.
    expect(idsOf(results, 'failed').filter((id) => !id.startsWith('envelope/'))).toEqual([])
    expect(facts.retried).toBeGreaterThan(0)
  },
)

test('a service that does not come back behind its gateway ends the run', async () => {
  const { results, facts } = await judgeWhile((number) => (number < 40 ? undefined : badGateway))
  expect(facts.ended).toEqual({
    cause: 'unreachable',
    reason: expect.stringMatching(
      /^the target stopped answering: a gateway answered, and not the service behind it: 502 with a page: 502 Bad Gateway/,
    ) as string,
  })
  expect(idsOf(results, 'failed').filter((id) => !id.startsWith('envelope/'))).toEqual([])
})

test('a gateway that answers for one operation alone is judged there', async () => {
  const network = (transport: Transport): Transport => ({
    ...transport,
    async send(request, options) {
      const result = await transport.send(request, options)
      const isTranslation = request.path === '/v1/translate' && result.kind === 'answer'
      return isTranslation ? { ...result, ...badGateway } : result
    },
  })
  const { results, facts } = await judgeReference({ jobMs: 20 }, { network, options: { only } })
  expect(facts.ended).toBeNull()
  expect(idsOf(results, 'failed')).toContain('translate.run/2xx-accepted')
  // What it answers to everything says nothing of bad input.
  expect(idsOf(results, 'failed')).not.toContain('envelope/bad-input-no-5xx')
})

test('a target that stays away ends the run, and all that it could not answer has one reason', async () => {
  const { results, facts } = await judgeWhile(closedFor(60_000, 40))
  expect(facts.ended?.cause).toBe('unreachable')
  expect(idsOf(results, 'failed')).toEqual([])
  const reasons = results.filter(
    ({ outcome, reason }) => outcome === 'not-exercised' && !reason?.startsWith('left out'),
  )
  expect(new Set(reasons.map(({ reason }) => reason))).toEqual(new Set([facts.ended?.reason]))
})

test('the first answer may take as long as limits.timeoutMs says', async () => {
  const slow: Meanwhile = async (number) => (number === 0 ? void (await sleep(15_000)) : undefined)
  const { results, facts } = await judgeWhile(slow, { limits: { timeoutMs: 20_000 } })
  expect(facts.ended).toBeNull()
  expect(idsOf(results, 'passed').length).toBeGreaterThan(40)
})

/** Answers at most so many requests a second, and the rest with a gateway's page. */
function limitedTo(most: number): Meanwhile {
  const taken = new Map<number, number>()
  const body = Buffer.from('<html><head><title>429 Too Many Requests</title></head></html>')
  return () => {
    const second = Math.floor(performance.now() / 1000)
    taken.set(second, (taken.get(second) ?? 0) + 1)
    const headers = [{ name: 'content-type', value: 'text/html' }]
    return taken.get(second)! > most ? { kind: 'answer', status: 429, headers, body } : undefined
  }
}

test('what a limit of requests kept from being judged says so, and one line tells the rate to ask for', async () => {
  const { results, facts, run } = await judgeWhile(limitedTo(2))
  const reasons = results
    .flatMap(({ reason }) => reason ?? [])
    .filter((reason) => reason.includes('429'))
  expect(reasons.length).toBeGreaterThan(0)
  expect(reasons.filter((reason) => !reason.startsWith('throttled'))).toEqual([])
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
  expect(runNotes(report)).toContainEqual(
    expect.stringMatching(
      /^throttled: \d+ answers .*; --rate (?:2|1[01]\d\/min|[6-9]\d\/min) asks for no more/,
    ),
  )
})

test('answers that are cut off and asked for again are counted, and told', async () => {
  // What is asked for again goes on: a target that gives no answer on two connections may be failed for it.
  const cut: Meanwhile = (number, { fresh }) =>
    !fresh && number > 10 && number % 40 === 0
      ? { kind: 'no-answer', cause: 'reset', message: 'cut off' }
      : undefined
  const { results, facts, run } = await judgeWhile(cut)
  expect(idsOf(results, 'failed')).toEqual([])
  expect(facts.retried).toBeGreaterThan(1)
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
  expect(runNotes(report)).toContain(
    `retried: ${facts.retried} answers were cut off, reset or a gateway's 502 or 504, and asked for again`,
  )
})
