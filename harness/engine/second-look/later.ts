import { describeResponse } from '../describe.ts'
import {
  differing,
  type Exchange,
  isThrottling,
  isWrong,
  kindOf,
  mayRepeat,
  type Probe,
} from '../exchange.ts'
import { pause } from '../outcome.ts'
import { isBlocked, isGranted } from '../response.ts'
import type { Run } from '../run.ts'
import type { SendingOptions } from '../send.ts'

export type AskOptions = Pick<SendingOptions, 'fresh'>

/** Sends the request of an exchange a single time: on a fresh connection, or on one that has just carried another request. */
export type SendAgain = (options: Pick<SendingOptions, 'fresh' | 'after'>) => Promise<Exchange>

/** A request that was answered, and the ways to ask for it again. */
export interface Asked {
  readonly run: Run
  /** At the end: several times, whatever comes first. */
  readonly isOften?: boolean
  /** Once more as it was asked for: with the same patience. */
  same(): Promise<Exchange>
  readonly again: SendAgain
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
