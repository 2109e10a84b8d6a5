import { isGranted } from '../ask/answer.ts'
import type { Source } from '../ask/ask.ts'
import { probeOf } from '../ask/ask.ts'
import type { Exchange, Purpose } from '../ask/exchange.ts'
import { isExpected } from '../expect/pairs.ts'
import { sendOnce } from '../ask/send-once.ts'
import { isThrottled, retryAfter } from '../ask/throttle.ts'
import type { Control } from '../control/control.ts'
import { NotExercised } from '../run/outcome.ts'
import { type Story, throughGate } from './story.ts'
import { describeAnswer } from './describe.ts'
import { pause } from '../run/pause.ts'

const turns = 3
const longestPauseMs = 60_000

/** A state of the target that the probe needs and the control does not: left and entered again in each turn. */
export interface PassingState {
  enter?(): Promise<void>
  leave?(): Promise<void>
}

/**
 * A probe that is answered 429 or 503 on every try is either a target's patience at its end, or its answer to the
 * fault. Probe and control are sent in turn three times: where the control is granted and the probe throttled every
 * time, that answer is judged; anything else tells nothing.
 */
export async function judgeThrottled(
  story: Story,
  source: Source,
  control: Control,
  last: Exchange,
  purpose: Partial<Purpose>,
  state: PassingState = {},
): Promise<Exchange> {
  const { run } = story
  if (control.state === 'none') throw new NotExercised(`throttled: ${describeAnswer(last)}, and there is no control`)
  let exchange = last
  for (let turn = 0; turn < turns; turn++) {
    await patience(story, exchange)
    const probe = await probeOf(source)
    const whole: Purpose = { requirement: story.row.id, role: 'probe', ...purpose }
    const probed = await throughGate(run, probe, whole, () => sendOnce(run, probe, whole))
    if (!probed.answer) throw new NotExercised(`throttled: ${describeAnswer(last)}`)
    if (!isThrottled(probed.answer) || isExpected(purpose.expects, probed.answer)) return probed
    exchange = probed
    await patience(story, exchange)
    await state.leave?.()
    const granted = await story.ask(() => control.valid(), { role: 'control' })
    await state.enter?.()
    if (!granted.answer || !isGranted(granted.answer)) {
      throw new NotExercised(`throttled: ${describeAnswer(exchange)}, and the control ${describeAnswer(granted)}`)
    }
  }
  return exchange
}

/** Waits as long as the throttled answer asks for. */
async function patience(story: Story, exchange: Exchange): Promise<void> {
  const asked = (exchange.answer && retryAfter(exchange.answer, Date.now())) ?? story.run.options.backoffMs
  if (asked > longestPauseMs) throw new NotExercised(`throttled: ${describeAnswer(exchange)}, for longer than 60 s`)
  await pause(story.run, asked)
}
