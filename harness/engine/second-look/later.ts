import { describeResponse } from '../describe.ts'
import {
  differing,
  type Exchange,
  isThrottling,
  isWrong,
  kindOf,
  mayRepeat,
  type Probe,
  type Purpose,
} from '../exchange.ts'
import { pause, Throttled } from '../outcome.ts'
import { isBlocked, isExpected, isGranted, isThrottled } from '../response.ts'
import { operationName, probeOf, type Source } from '../request.ts'
import { stopIfSuspected } from '../retry.ts'
import type { Run } from '../run.ts'
import { type SendingOptions, sendWithStaleRetry } from '../send.ts'
import { longestPauseMs, retryAfter } from '../pace.ts'

/** Sends the request of an exchange a single time: on a fresh connection, or on one that has just carried another request. */
export type SendAgain = (options: Pick<SendingOptions, 'fresh' | 'after'>) => Promise<Exchange>

/** The request without its fault, for one that is throttled: the two are sent in turn. */
export interface Counterpart {
  /** `none`: it is not sent, since it would create or generate something. */
  readonly state: 'granted' | 'refused' | 'none'
  valid(): Promise<Probe>
  isGranted(exchange: Exchange): boolean
}

export interface AskOptions extends Pick<SendingOptions, 'fresh'> {
  /** Asked for only if the request is throttled on every try. */
  readonly counterpart?: () => Promise<Counterpart>
  /** A state of the target that the probe needs and its counterpart does not: left and entered again in each turn. */
  readonly state?: { enter(): Promise<void>; leave(): Promise<void> }
}

/** A request that was answered, and the ways to ask for it again. */
export interface Asked extends AskOptions {
  readonly run: Run
  /** At the end: several times, whatever comes first. */
  readonly isOften?: boolean
  readonly source: Source
  readonly purpose: Purpose
  /** Once more as it was asked for: with the same patience. */
  same(): Promise<Exchange>
  readonly again: SendAgain
  /** A request of its operation, when the object that it names allows it. */
  gated(probe: Probe, purpose: Purpose, send: () => Promise<Exchange>): Promise<Exchange>
}

/**
 * How often a request that should be granted is sent, if a guardrail or a model error meets it now and then: of the hundreds of a
 * run none is met each time by a server that blocks one of twelve. One that should be refused is sent more often, since nothing is
 * generated, and requests of a run that take turns may meet every block of a server that blocks one of so many.
 */
const triesOf = { granted: 5, refused: 8 }

/** A guardrail or a model error met it, which is not what it is sent for. */
export const isMet = (exchange: Exchange): boolean =>
  !exchange.throttled && isBlocked(exchange, exchange.purpose.expects)

/** Sends a request again while a guardrail or a model error meets it. @param first the answer that came, if one did */
export async function pastBlocks(
  send: () => Promise<Exchange>,
  first?: Exchange,
): Promise<Exchange> {
  let exchange = first ?? (await send())
  const { probe, purpose } = exchange
  const isRefused = probe.effect === 'none' && purpose.expects && !purpose.isSuccess
  for (let tries = isRefused ? triesOf.refused : triesOf.granted; tries > 1; tries--) {
    if (!isMet(exchange)) break
    exchange = await send()
  }
  return exchange
}

/** True if the request names what the run made less than `settleMs` ago, and its answer may only mean that it is not there yet. */
export function isSettling(run: Run, { probe, response, sentAt }: Exchange): boolean {
  const status = response?.status ?? 0
  if (status < 400 || status > 499 || [401, 403, 429].includes(status)) return false
  const body = typeof probe.body === 'string' ? probe.body : ''
  const named = new Set(Object.values(probe.params))
  const since = sentAt - run.target.limits.settleMs
  return [...run.objects.madeAt].some(
    ([id, at]) => at > since && (named.has(id) || body.includes(id)),
  )
}

/** Interval at which an object that was just made is asked for again, in ms. */
const retryEveryMs = 1000

/** Asks again until the answer is not wrong any more, or what the request names has had its time. */
export async function waitUntilSettled(
  run: Run,
  exchange: Exchange,
  again: (last: Exchange) => Promise<Exchange>,
  isUnsettled = isWrong,
): Promise<Exchange> {
  let last = exchange
  while (isUnsettled(last) && isSettling(run, last)) {
    await pause(run, retryEveryMs)
    last = await again(last)
  }
  return last
}

const turns = 3

/**
 * A probe that is answered 429 or 503 on every try met either the limit of the target, or its answer to the fault. It and the
 * request without the fault are sent in turn three times: if that one is granted and the probe throttled every time, the
 * answer is judged; anything else proves nothing. Each goes alone: it may be a limit of requests at once.
 */
export async function takeTurns(asked: Asked, last: Exchange): Promise<Exchange> {
  const { run, source, purpose, counterpart, state, gated } = asked
  const { throttle } = run.client
  const other = await counterpart!()
  if (other.state === 'none')
    throw new Throttled(`${describeResponse(last)}, and there is no control to compare with`)
  const { operation } = last.probe
  const takeQueue = () => throttle.queue(operation!, run.life.signal)
  // Behind a gate others may hold while they wait for the queue: there each request takes it by itself.
  const whole = operation !== null && run.api.operation(operation).busy === undefined
  const releaseQueue = whole ? await takeQueue() : undefined
  const send = (probe: Probe, sent: Purpose): Promise<Exchange> =>
    gated(probe, sent, async () => {
      const release = whole || operation === null ? undefined : await takeQueue()
      const once = () => sendWithStaleRetry(run, probe, sent, { alone: true })
      return pastBlocks(once).finally(() => release?.())
    })
  try {
    let exchange = last
    for (let turn = 0; turn < turns; turn++) {
      await waitAsAsked(run, exchange)
      const probed = await send(await probeOf(source), purpose)
      if (!probed.response) throw new Throttled(describeResponse(last))
      if (!isThrottled(probed.response) || isExpected(purpose.expects, probed.response))
        return probed
      exchange = probed
      await waitAsAsked(run, exchange)
      await state?.leave()
      const { requirement } = purpose
      const granted = await send(await other.valid(), { requirement, role: 'control' })
      await state?.enter()
      if (other.isGranted(granted)) continue
      if (granted.response && isThrottled(granted.response)) stopIfSuspected(run, last.probe)
      const beside = describeResponse(granted)
      throw new Throttled(`${describeResponse(exchange)}, and the control ${beside}`)
    }
    if (operation !== null) throttle.giveUp(operation)
    return exchange
  } finally {
    releaseQueue?.()
  }
}

async function waitAsAsked(run: Run, exchange: Exchange): Promise<void> {
  run.client.breaker.check(operationName(exchange.probe))
  const asked =
    (exchange.response && retryAfter(exchange.response, Date.now())) ?? run.options.backoffMs
  if (asked > longestPauseMs)
    throw new Throttled(`${describeResponse(exchange)}, for longer than 60 s`)
  await pause(run, asked)
}

/** An answer is asked for so often at the end, as it may come and go: by replica, or at random. */
const times = 4

/** Whether the request may be sent again: it makes nothing, or was refused before; and a target that refuses it generates nothing. */
export function isHarmless(run: Run, exchange: Exchange): boolean {
  const { response, probe } = exchange
  if (!response || isThrottling(exchange) || !mayRepeat(exchange)) return false
  return !leavesState(run, probe) || !isGranted(response)
}

/** Whether it makes an object, or adds one to another: granted once, the same request is answered otherwise from then on. */
export function leavesState({ api }: Run, { operation }: Probe): boolean {
  if (operation === null) return false
  const { creates, freshFileAt } = api.operation(operation)
  return creates !== undefined || freshFileAt !== undefined
}

/** Asks again when all else was sent; gives the exchange with what that showed, if it showed anything else than before. */
export async function askAtEnd(asked: Asked, failed: Exchange): Promise<Exchange> {
  const later = await responsesAtEnd(asked, failed)
  const [first] = later
  if (!first || later.every((other) => kindOf(other) === kindOf(failed))) return failed
  const finding = later.every((other) => kindOf(other) === kindOf(first))
    ? ({ kind: 'otherwise-later', response: describeResponse(first) } as const)
    : differing([failed, ...later].map(describeResponse))
  return { ...failed, finding }
}

/** The answers to the request by itself; no more than one if that is the one that failed, unless `isOften`; none if one says nothing. */
async function responsesAtEnd(
  { run, again, isOften = false }: Asked,
  failed: Exchange,
): Promise<Exchange[]> {
  // What makes an object after all is not sent any more.
  const mayMake = failed.probe.effect !== 'none' && leavesState(run, failed.probe)
  const leavesNothing = !mayMake && failed.probe.effect !== 'creates'
  const later: Exchange[] = []
  while (later.length < times) {
    // At once, if that leaves nothing behind: one each of all failures in turn, instances that take turns would give each
    // failure the same one every time.
    const count = leavesNothing && (isOften || later.length > 0) ? times - later.length : 1
    later.push(...(await Promise.all(Array.from({ length: count }, () => again({ fresh: true })))))
    if (later.some((other) => !other.response || isThrottling(other))) return []
    if (mayMake && isGranted(later.at(-1)!.response!)) break
    if (!isOften && kindOf(later[0]!) === kindOf(failed)) break
  }
  return later
}
