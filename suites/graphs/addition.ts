import {
  type CheckContext,
  describeResponse,
  type Exchange,
  holdPlaces,
  isGranted,
  isThrottling,
  NotExercised,
  pastBlocks,
  type Probe,
  type SendHeld,
  sendWithStaleRetry,
} from '../../harness/engine/index.ts'
import { countsAsGranted, holdBack, refused, sendUntilSettled } from '../../harness/checks/index.ts'
import { additionOperation } from '../../catalogue/operations.ts'
import { freshCreation } from '../created/created-object.ts'

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
  { run, requirement }: CheckContext,
  probe: Probe,
  send: SendHeld = (...sent) => sendWithStaleRetry(run, ...sent),
): Promise<Exchange> {
  const purpose = { requirement: requirement.id, role: 'probe' } as const
  const add = () => pastBlocks(() => send(refused(probe), purpose))
  let exchange = await add()
  for (let more = maxThrottled; more > 0 && isThrottling(exchange); more--) {
    holdBack(run, exchange)
    await run.client.throttle.pass(additionOperation, run.life.signal)
    exchange = await add()
  }
  return exchange
}

export const isConflict = ({ response }: Exchange): boolean => response?.status === 409

/** Adds a fresh file twice in a row: neither other requests nor the pace asked for come between. Throws `NotExercised` if both are granted. */
export async function addTwice(context: CheckContext): Promise<void> {
  const { run } = context
  const probe = await freshCreation(run, additionOperation)
  const first = await addFirst(context, probe)
  const second = await addOnce(context, probe, (...sent) =>
    holdPlaces(run, 1, (sendHeld) => sendHeld(...sent)),
  )
  if (!first.response || !isGranted(first.response) || !isConflict(second))
    throw new NotExercised(
      `the second of two additions in a row was answered ${describeResponse(second)}`,
    )
}
