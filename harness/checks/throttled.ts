import {
  type Source,
  type Exchange,
  type Purpose,
  type CheckContext,
  Throttled,
  describeResponse,
  type Probe,
  throughGate,
  sendWithStaleRetry,
  pastBlocks,
  probeOf,
  isThrottled,
  isExpected,
  stopIfSuspected,
  operationName,
  retryAfter,
  longestPauseMs,
  pause,
} from '../engine/index.ts'
import { type Control, countsAsGranted } from './control.ts'
import { busyStatus } from '../../catalogue/operations.ts'

const turns = 3

/** A state of the target that the probe needs and the control does not: left and entered again in each turn. */
interface PassingState {
  enter?(): Promise<void>
  leave?(): Promise<void>
}

/** A probe, which may have been answered 429 or 503 on every try. */
interface ThrottledProbe {
  readonly source: Source
  readonly control: Control
  /** How the last try was answered. */
  readonly last: Exchange
  readonly purpose?: Partial<Purpose>
  readonly state?: PassingState
}

/**
 * A probe that is answered 429 or 503 on every try is either the limit of the target, or its answer to the
 * fault. Probe and control are sent in turn three times: if the control is granted and the probe throttled every
 * time, that answer is judged; anything else proves nothing. Each goes alone: it may be a limit of requests at once.
 */
export async function judgeThrottled(
  context: CheckContext,
  throttled: ThrottledProbe,
): Promise<Exchange> {
  const { run, requirement } = context
  const { source, control, last, purpose = {}, state = {} } = throttled
  if (!last.throttled) return last
  if (control.state === 'none')
    throw new Throttled(`${describeResponse(last)}, and there is no control to compare with`)
  const { operation } = last.probe
  // Behind a gate others may hold while they wait for the queue: there each request takes it by itself.
  const whole = operation !== null && busyStatus(operation) === undefined
  const releaseQueue = whole
    ? await run.client.throttle.queue(operation, run.life.signal)
    : undefined
  const send = (probe: Probe, sent: Purpose): Promise<Exchange> =>
    throughGate(run, probe, sent, async () => {
      const release =
        whole || operation === null
          ? undefined
          : await run.client.throttle.queue(operation, run.life.signal)
      const once = () => sendWithStaleRetry(run, probe, sent, { alone: true })
      return pastBlocks(once).finally(() => release?.())
    })
  try {
    let exchange = last
    for (let turn = 0; turn < turns; turn++) {
      await patience(context, exchange)
      const probed = await send(await probeOf(source), {
        requirement: requirement.id,
        role: 'probe',
        ...purpose,
      })
      if (!probed.response) throw new Throttled(describeResponse(last))
      if (!isThrottled(probed.response) || isExpected(purpose.expects, probed.response))
        return probed
      exchange = probed
      await patience(context, exchange)
      await state.leave?.()
      const granted = await send(await control.valid(), {
        requirement: requirement.id,
        role: 'control',
      })
      await state.enter?.()
      if (!countsAsGranted(granted)) {
        if (granted.response && isThrottled(granted.response)) stopIfSuspected(run, last.probe)
        throw new Throttled(
          `${describeResponse(exchange)}, and the control ${describeResponse(granted)}`,
        )
      }
    }
    if (operation !== null) run.client.throttle.giveUp(operation)
    return exchange
  } finally {
    releaseQueue?.()
  }
}

/** Waits as long as the throttled answer asks for. */
async function patience(context: CheckContext, exchange: Exchange): Promise<void> {
  context.run.client.breaker.check(operationName(exchange.probe))
  const asked =
    (exchange.response && retryAfter(exchange.response, Date.now())) ??
    context.run.options.backoffMs
  if (asked > longestPauseMs)
    throw new Throttled(`${describeResponse(exchange)}, for longer than 60 s`)
  await pause(context.run, asked)
}
