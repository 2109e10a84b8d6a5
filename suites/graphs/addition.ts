import {
  type CheckContext,
  type Probe,
  type Exchange,
  NotExercised,
  wasAnswered,
  type SendHeld,
  sendWithStaleRetry,
  pastBlocks,
  isThrottling,
} from '../../harness/engine/index.ts'
import { sendUntilSettled, countsAsGranted, holdBack } from '../../harness/checks/index.ts'

/** Adds a file for the first time, again if a guardrail meets it; throws `NotExercised` if that is not granted. */
export async function addFirst(context: CheckContext, probe: Probe): Promise<Exchange> {
  const add = (): Promise<Exchange> => context.send(probe, { role: 'setup' })
  const first = await sendUntilSettled(context.run, await add(), add, countsAsGranted)
  if (!countsAsGranted(first)) throw new NotExercised(`the first addition ${wasAnswered(first)}`)
  return first
}

/** Most times that a throttled addition is sent again. */
const maxThrottled = 2

/** A further addition that no circuit breaker counts: if it gets no answer, the requirement that asks for its refusal says so. */
export async function addOnce(
  context: CheckContext,
  probe: Probe,
  send: SendHeld = (...sent) => sendWithStaleRetry(context.run, ...sent),
): Promise<Exchange> {
  const { run, requirement } = context
  const purpose = { requirement: requirement.id, role: 'probe' } as const
  const add = () => pastBlocks(() => send(probe, purpose))
  let exchange = await add()
  for (let more = maxThrottled; more > 0 && isThrottling(exchange); more--) {
    holdBack(run, exchange)
    await run.client.throttle.pass('graphs.add-file', run.life.signal)
    exchange = await add()
  }
  return exchange
}

export const isConflict = ({ response }: Exchange): boolean => response?.status === 409
