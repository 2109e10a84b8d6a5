import { isGranted } from '../engine/answer.ts'
import { sendSurely } from '../engine/send-once.ts'
import type { Exchange } from '../engine/exchange.ts'
import type { Control } from './control.ts'
import type { Pairs } from '../engine/pairs.ts'
import type { Probe } from '../engine/probe.ts'
import { NotExercised } from '../engine/outcome.ts'
import type { CheckContext } from '../engine/check-context.ts'

/** An answer that says nothing about the condition: a busy application, a passing 503. */
function tellsNothing({ answer, probe }: Exchange, gives: Pairs): boolean {
  const status = answer?.status
  if (gives.some(([expected]) => expected === status)) return false
  return status === 503 || (status === 409 && probe.operation === 'jobs.create')
}

/** A request that is sent until its condition shows. */
export interface Repeated {
  make(): Promise<Probe>
  /** Most times that it is sent. */
  readonly most: number
  readonly control: Control
  /** What answers the condition. */
  readonly gives: Pairs
}

/**
 * Sends the request up to `most` times, as many at once as the ceiling allows, until an answer is not the control's.
 * Throws `NotExercised` if all were granted.
 */
export async function sendRepeatedly(
  context: CheckContext,
  { make, most, control, gives }: Repeated,
): Promise<Exchange> {
  const { run, row } = context
  const usual = control.exchange?.answer?.status
  let sent = 0
  let found: Exchange | undefined
  const worker = async (): Promise<void> => {
    while (!found && sent < most) {
      run.client.breaker.check(control.exchange?.probe.operation ?? row.operation)
      sent++
      const probe = await make()
      const exchange = await sendSurely(
        run,
        probe,
        { requirement: row.id, role: 'probe', expects: gives },
        { unpaced: true },
      )
      const { answer } = exchange
      const asUsual = answer !== undefined && (usual === undefined ? answer.status < 300 : answer.status === usual)
      const granted = asUsual && (answer.status >= 300 || isGranted(answer))
      if (answer && !granted && !tellsNothing(exchange, gives)) found ??= exchange
    }
  }
  await Promise.all(Array.from({ length: Math.min(run.client.ceiling.size, most) }, worker))
  if (!found) throw new NotExercised(`the condition did not occur in ${sent} requests (scenario's repeat)`)
  return found
}
