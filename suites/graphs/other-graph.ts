import {
  answered,
  type CheckContext,
  describeResponse,
  wasAnswered,
  type Exchange,
  isGranted,
  type Judge,
  NotExercised,
  pause,
  type Probe,
  sendWithRetries,
} from '../../harness/engine/index.ts'
import { grantedByScenario, retryWhileSettling, validRequest } from '../../harness/checks/index.ts'
import { createObject } from '../created/created-object.ts'
import { judgeRelation } from '../created/relations.ts'
import { addFirst, addOnce, isConflict } from './addition.ts'

/** Adds a file to its graph; throws `NotExercised` unless the graph then says, by a 409, that it has it. */
async function addAndConfirm(context: CheckContext): Promise<Probe> {
  const addition = await validRequest(context.run, 'graphs.add-file')
  await addFirst(context, addition)
  const add = (): Promise<Exchange> => addOnce(context, addition)
  const again = await retryWhileSettling(context.run, add, isConflict)
  if (!isConflict(again))
    throw new NotExercised(
      `a second, identical addition was not answered 409: ${describeResponse(again)}`,
    )
  return addition
}

/** Adds it to a second graph, once more if that is not there yet; each time on a connection of its own. */
async function addToOther(context: CheckContext, addition: Probe): Promise<Exchange> {
  const { run, requirement } = context
  const purpose = { requirement: requirement.id, role: 'probe' } as const
  const add = () => sendWithRetries(run, addition, purpose, { fresh: true })
  const exchange = await add()
  if (exchange.response?.status !== 404) return exchange
  await pause(run, run.target.limits.settleMs)
  const again = await add()
  // The one that was answered 404 may have added it.
  if (isConflict(again))
    throw new NotExercised('answered 404, then 409: the first try may have added the file')
  return again
}

const isTaken = ({ response }: Exchange): boolean => response !== undefined && isGranted(response)

/** A file that is in one graph can be added to another, and is still in the first. */
export const otherGraph: Judge = async (context) => {
  const { run, scenario } = context
  if (scenario) return grantedByScenario(context)
  const other = await createObject(context, 'graphs.create')
  // A replica that lags behind may not have seen the first addition yet: every one has it the second time.
  const isLeft =
    (await addToBoth(context, other, 0)) &&
    (await addToBoth(context, other, run.target.limits.settleMs))
  if (isLeft) await addOnce(context, await addAndConfirm(context))
  judgeRelation(context)
}

/**
 * Adds a file to its graph and to another one, and to its own again; whether that last addition was granted.
 * @param waitMs between the first addition, which a 409 has shown, and the second
 */
async function addToBoth(context: CheckContext, other: string, waitMs: number): Promise<boolean> {
  const { run } = context
  const addition = await addAndConfirm(context)
  await pause(run, waitMs)
  const params = { ...addition.params, graph_id: other }
  const added = await addToOther(context, { ...addition, params })
  answered(added)
  if (!isTaken(added) && !isConflict(added))
    throw new NotExercised(`the addition to a second graph was answered ${describeResponse(added)}`)
  if (run.options.depth === 'quick' || !isTaken(added)) return false
  return isTaken(await addOnce(context, addition))
}
