import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { HttpResult } from '../../harness/http/message.ts'
import { runNotes } from '../../reporters/view/standing.ts'
import { reasons } from '../matrix/judge-reference.ts'
import { Breaker } from '../../harness/client/pace.ts'
import { answer, judge, losing, lost, refusal, type Way } from './networks.ts'

/** Networks and services that lose answers, by chance or for a while; `chance.servers.ts` has more of them. */

const backoffMs = 250

test('a network that loses a tenth of all answers fails no requirement', async () => {
  const only = ['graphs.*', 'files.*', 'translate.run/*', 'applications.*', 'envelope/large-body']
  const network = losing({ seed: 14, lost: 0.1 })
  const { results, facts } = await judge(only, { network, depth: 'quick', seed: 14, backoffMs })
  expect(reasons(results.filter(({ outcome }) => outcome === 'failed'))).toBe('')
  expect(facts.retried).toBeGreaterThan(10)
})

const isEmptyText = (body: unknown): boolean => String(body).includes('"text":""')

test.each(['reset', 'timeout'] as const)(
  'what is lost each time, by a %s, is told apart from chance',
  async (cause) => {
    const network = losing({ seed: 1, lost: 0.1, always: isEmptyText, cause })
    const { failed } = await judge(['translate.run/*'], { network, backoffMs })
    expect(failed).toEqual(['translate.run/400-empty-text'])
  },
)

test.each([
  [Infinity, 'failed'],
  [5, 'not-exercised'],
])(
  'a request that hangs twice before each %d. one of the others does is %s',
  async (every, outcome) => {
    let [own, others] = [0, 0]
    const { of, failed } = await judge(['translate.run/*'], {
      way({ body }, send, { options }) {
        const isHanging = isEmptyText(body)
          ? ++own <= 2
          : own >= 2 && !options.fresh && ++others % every === 0
        return isHanging ? lost({ cause: 'timeout' }) : send()
      },
    })
    const id = 'translate.run/400-empty-text'
    expect(of(id).outcome).toBe(outcome)
    expect(failed.filter((one) => one !== id)).toEqual([])
  },
)

const badInput = 'translate.run/bad-input-no-5xx'

test.each([
  ['which goes on then', () => undefined],
  ['which answers no valid request after that', lost],
])('bad input breaks the server, %s: the breakdown is reported', async (_, after) => {
  let isDown = false
  const way: Way = (_request, send, { probe, purpose }) => {
    if (probe?.operation !== 'translate.run') return send()
    const isBad = purpose?.requirement === badInput
    isDown ||= isBad
    return isBad ? refusal(500, 'InternalError') : (isDown && after()) || send()
  }
  const { failed } = await judge(['translate.run/2*', badInput], { way, backoffMs })
  expect(failed).toContain(badInput)
  if (!after()) expect(failed).toEqual([badInput])
})

const only = ['files.*', 'translate.run/*', 'pdf.parse/4*', 'envelope/shape']

/** Judges the reference with its real pauses; what `meanwhile` gives comes a ms later in place of an answer. */
function judgeWhile(
  meanwhile: (number: number, ...sent: Parameters<Way>) => HttpResult | undefined | Promise<void>,
  { only: judged = only, ...settings }: Parameters<typeof judge>[1] = {},
) {
  let number = 0
  const way: Way = async (request, send, sent) => {
    const instead = await meanwhile(number++, request, send, sent)
    if (instead) await sleep(1)
    return instead ? { ...instead, endedAt: performance.now() } : send()
  }
  return judge(judged, { reference: { jobMs: 20 }, way, depth: 'quick', backoffMs, ...settings })
}

const refused = () =>
  lost({ cause: 'refused', detail: 'nobody-listens', message: 'connection refused' })
/** A gateway that answers for its service meanwhile. */
const badGateway = () =>
  answer(502, '<html><head><title>502 Bad Gateway</title></head></html>', {
    'content-type': 'text/html',
  })
/** One that answers with an envelope. */
const enveloped = () => refusal(502, 'ServiceUnavailable')

/** What comes for that long, from that request on. */
function awayFor(ms: number, from: number, instead: () => HttpResult) {
  let since: number | undefined
  return (number: number) => {
    if (number < from) return undefined
    since ??= performance.now()
    return performance.now() - since < ms ? instead() : undefined
  }
}

const ofOthers = (failed: readonly string[]) => failed.filter((id) => !id.startsWith('envelope/'))

test.each([
  ['resets what it takes', 8000, 81, lost],
  ['takes no connection', 8000, 40, refused],
  ['is behind a gateway that answers for it', 6000, 40, badGateway],
  ['is behind a gateway with envelopes', 6000, 40, enveloped],
])('a port that %s for %i ms, from request %i on, is waited for', async (_, ms, from, instead) => {
  const { facts, failed, passed } = await judgeWhile(awayFor(ms, from, instead))
  expect(facts.ended).toBeNull()
  const isGateway = instead().kind === 'answer'
  // What came from a gateway was no envelope: a client would have met it too.
  expect(isGateway ? ofOthers(failed) : failed).toEqual([])
  if (isGateway) expect(facts.retried).toBeGreaterThan(0)
  else expect(passed.length).toBeGreaterThan(40)
})

test.each([
  ['resets all', lost, []],
  ['resets all', lost, ['graphs.query/401*']],
  ['resets all', lost, ['jobs.retrieve/*']],
  ['takes no connection', refused, ['graphs.query/401*']],
  ['is behind its gateway', badGateway, ['graphs.*']],
])(
  'a request after which the target %s for a while is blamed, and none that was under way with it',
  async (_, instead, more) => {
    let upAt = -Infinity
    const { failed, facts } = await judgeWhile(
      (_number, _request, _send, { purpose }) => {
        if (performance.now() < upAt) return instead()
        if (purpose?.requirement !== 'translate.run/400-wrong-content-type') return undefined
        upAt = performance.now() + 1000
        return lost()
      },
      { only: [...only, ...more] },
    )
    expect(facts.ended).toBeNull()
    const all = instead === badGateway ? ofOthers(failed) : failed
    expect(all).toEqual(['translate.run/400-wrong-content-type'])
  },
)

const stopped = 'the target stopped answering: '

test.each([
  [
    'stays away behind its gateway',
    ...[40, badGateway],
    RegExp(`^${stopped}.*the service is down or still starting: 502 with a page: 502 B`),
  ],
  ['stays away', 40, refused, RegExp(`^${stopped}.*connection refused`)],
  ['was never there', 0, refused, /^http:\S+ cannot be judged: connection refused; /],
] as const)(
  'a target that %s ends the run, and all that it could not answer has one reason',
  async (_, from, instead, reason) => {
    const { failed, facts, results } = await judgeWhile(awayFor(Infinity, from, instead))
    expect(facts.ended?.cause).toBe('unreachable')
    expect(facts.ended?.reason).toMatch(reason)
    expect(ofOthers(failed)).toEqual([])
    const open = results.filter(
      ({ outcome, reason }) => outcome === 'not-exercised' && !reason?.startsWith('left out'),
    )
    expect(new Set(open.map(({ reason }) => reason))).toEqual(new Set([facts.ended?.reason]))
  },
)

test.each([
  ['resets', 1, {}],
  ['cuts its answers off', 0, { detail: 'cut-off' }],
  ['never ends its answers', 0, { cause: 'timeout', detail: 'cut-off' }],
] as const)(
  'an operation that %s fails, even if by it the target is looked for',
  async (_, from, how) => {
    const { failed, facts } = await judgeWhile(
      (number, _request, _send, { probe }) =>
        probe?.operation === 'files.list' && number >= from ? lost(how) : undefined,
      { only: ['files.list/2xx-accepted', 'translate.run/400-*'] },
    )
    expect(facts.ended).toBeNull()
    expect(failed).toEqual(['files.list/2xx-accepted'])
  },
)

test('answers that do not end are no sign of a server for one connection at a time', async () => {
  const endless = { cause: 'timeout', detail: 'cut-off', message: 'it did not end' } as const
  const { facts } = await judgeWhile((number) => (number >= 40 ? lost(endless) : undefined))
  expect(facts.ended?.reason).toMatch(/^the target stopped answering: it did not end; under way/)
})

test('the first answer may take as long as limits.timeoutMs says', async () => {
  const slow = async (number: number): Promise<void> => void (number || (await sleep(15_000)))
  const { facts, passed } = await judgeWhile(slow, { limits: { timeoutMs: 20_000 } })
  expect(facts.ended).toBeNull()
  expect(passed.length).toBeGreaterThan(40)
})

test('answers that are cut off and asked for again are counted, and reported', async () => {
  // What is asked for again goes on: a target that gives no answer on two connections may be failed for it.
  const { failed, facts, report } = await judgeWhile((number, _request, _send, { options }) =>
    !options.fresh && number > 10 && number % 25 === 0 ? lost({ message: 'cut off' }) : undefined,
  )
  expect(failed).toEqual([])
  expect(facts.retried).toBeGreaterThan(1)
  expect(runNotes(report)).toContain(
    `retried: ${facts.retried} answers were cut off, reset or a gateway's 502 or 504, and repeated`,
  )
})

// What a user waits for, and what may be granted twice: a try more or fewer is a change to be meant.
test.each([
  ['on a stale connection is sent again: it never arrived', { staleConnection: true }, 2],
  ['whose answer is lost is not sent again: it may have been granted', {}, 1],
])('a creation %s', async (_, how, times) => {
  const sent: string[] = []
  const way: Way = ({ body }, send, { purpose }) => {
    if (purpose?.requirement !== 'jobs.create/202-any-text' || purpose.role !== 'probe')
      return send()
    sent.push(String(body))
    return sent.length === 1 ? lost(how) : send()
  }
  await judge(['jobs.create/202-any-text'], { way, backoffMs })
  expect(sent.filter((body) => body === sent[0])).toHaveLength(times)
})

test('what a gateway answers for one operation is asked for four times, and five times over before it fails', async () => {
  let asked = 0
  const way: Way = ({ path }, send) => (path === '/v1/translate' ? (asked++, badGateway()) : send())
  const id = 'translate.run/2xx-accepted'
  // What it answers to everything says nothing about bad input.
  const only = [id, 'envelope/bad-input-no-5xx']
  const { failed, facts } = await judge([id], { way, depth: 'quick', backoffMs })
  expect(failed).toEqual([id])
  expect(facts.ended).toBeNull()
  expect(asked).toBe(5 * 4)
  expect((await judge(only, { way, depth: 'quick', backoffMs })).failed).toEqual([id])
})

test('where requests hang by chance, so may the question whether the target is there, twice', async () => {
  let [requests, questions] = [0, 0]
  const way: Way = async (_request, send, { options, purpose }) => {
    const isQuestion = purpose?.role === 'liveness' && requests > 150
    const isMute = isQuestion ? ++questions % 3 !== 0 : ++requests % 10 === 0
    if (!isMute) return send()
    await sleep(options.timeoutMs)
    return lost({ cause: 'timeout', detail: 'nothing-came' })
  }
  const limits = { timeoutMs: 60_000 }
  const { failed, facts } = await judge(['translate.run/*', 'files.*'], { way, limits, backoffMs })
  expect(facts.ended).toBeNull()
  expect(failed).toEqual([])
  expect(questions).toBeGreaterThan(2)
})

test('losses among answered attempts prove less than losses in a row', () => {
  const breaker = new Breaker()
  expect(breaker.proof(30)).toBe(2)
  breaker.sent = 4000
  breaker.lostByChance = 100
  expect([breaker.proof(), breaker.proof(30)]).toEqual([5, 11])
})
