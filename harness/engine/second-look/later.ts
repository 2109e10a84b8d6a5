import { describeResponse } from '../describe.ts'
import { type Exchange, isWrong, type Probe, type Purpose } from '../exchange.ts'
import { pause, Throttled } from '../outcome.ts'
import { isBlocked, isExpected } from '../pairs.ts'
import { operationName, probeOf } from '../request.ts'
import { isThrottled } from '../response.ts'
import { stopIfSuspected } from '../retry.ts'
import type { Run } from '../run.ts'
import { sendWithStaleRetry } from '../send.ts'
import { longestPauseMs, retryAfter } from '../throttle.ts'
import type { Asked } from './asked.ts'

/**
 * How often a request that should be granted is sent, if a guardrail or a model error meets it now and then: of the hundreds of a
 * run none is met each time by a server that blocks one of twelve.
 */
const triesOfGranted = 5
/**
 * How often one that should be refused is sent then: more often, since nothing is generated, and requests of a run that take turns
 * may meet every block of a server that blocks one of so many.
 */
const triesOfRefused = 8

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
  const isRefused =
    probe.effect === 'none' && purpose.expects !== undefined && purpose.isSuccess === undefined
  for (let tries = isRefused ? triesOfRefused : triesOfGranted; tries > 1; tries--) {
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
      if (!other.isGranted(granted)) {
        if (granted.response && isThrottled(granted.response)) stopIfSuspected(run, last.probe)
        throw new Throttled(
          `${describeResponse(exchange)}, and the control ${describeResponse(granted)}`,
        )
      }
    }
    if (operation !== null) throttle.giveUp(operation)
    return exchange
  } finally {
    releaseQueue?.()
  }
}

/** Waits as long as the throttled answer asks for. */
async function waitAsAsked(run: Run, exchange: Exchange): Promise<void> {
  run.client.breaker.check(operationName(exchange.probe))
  const asked =
    (exchange.response && retryAfter(exchange.response, Date.now())) ?? run.options.backoffMs
  if (asked > longestPauseMs)
    throw new Throttled(`${describeResponse(exchange)}, for longer than 60 s`)
  await pause(run, asked)
}
