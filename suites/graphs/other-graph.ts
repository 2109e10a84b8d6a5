import {
  type CheckContext,
  type Probe,
  NotExercised,
  describeResponse,
  wasAnswered,
  type Exchange,
  sendWithRetries,
  pause,
  answered,
  isGranted,
  type Judge,
} from '../../harness/engine/index.ts'
import { createObject } from '../created/created-object.ts'
import { addFirst, addOnce, isConflict } from './addition.ts'
import {
  retryWhileSettling,
  refused,
  grantedProbe,
  validRequest,
  inScenario,
  asScenario,
} from '../../harness/checks/index.ts'

/** Adds a file to its graph; throws `NotExercised` unless the graph then says, by a 409, that it has it. */
async function addAndConfirm(context: CheckContext, addition: Probe): Promise<void> {
  const { run } = context
  await addFirst(context, addition)
  const again = await retryWhileSettling(run, () => addOnce(context, refused(addition)), isConflict)
  if (!isConflict(again))
    throw new NotExercised(
      `a second, identical addition was not answered 409: ${describeResponse(again)}`,
    )
}

/** The addition to a second graph; if that is not there yet, once more when it has to be. */
async function addToOther(context: CheckContext, addition: Probe): Promise<Exchange> {
  const { run, requirement } = context
  // On a connection of its own: one that the target had closed would make it be sent twice.
  const add = () =>
    sendWithRetries(run, addition, { requirement: requirement.id, role: 'probe' }, { fresh: true })
  const exchange = await add()
  if (exchange.response?.status !== 404) return exchange
  await pause(run, run.target.limits.settleMs)
  const again = await add()
  // The one that was answered 404 may have added it.
  if (isConflict(again))
    throw new NotExercised('answered 404, then 409: the first try may have added the file')
  return again
}

function judgeAddition(context: CheckContext, exchange: Exchange, what: string): void {
  answered(exchange)
  const isConclusive = isConflict(exchange) || isGranted(exchange.response)
  if (!isConclusive)
    throw new NotExercised(`the addition to a second graph ${wasAnswered(exchange)}`)
  context.cases++
  if (isConflict(exchange))
    context.fail(exchange, 'no 409: the file is in another graph, not in this one', what)
}

/** A file that is in one graph can be added to another. */
export const judgeOtherGraph: Judge = async (context) => {
  const { run, scenario } = context
  if (scenario) {
    const make = grantedProbe(context, 'graphs.add-file', () =>
      validRequest(run, 'graphs.add-file'),
    )
    return inScenario(context, 'graphs.add-file', async () =>
      judgeAddition(context, await context.send(make), asScenario),
    )
  }
  const other = await createObject(context, 'graphs.create')
  // A replica that lags behind may not have seen the first addition yet: every one has it the second time.
  const again = await takenAgain(context, other, 0)
  const last = again && (await takenAgain(context, other, run.target.limits.settleMs))
  if (!last) return
  // A graph that takes what it has in any case is what another requirement is about.
  const another = await validRequest(run, 'graphs.add-file')
  await addAndConfirm(context, another)
  if (!isConflict(await addOnce(context, refused(another)))) return
  const what = 'to its first graph, of a file that was added to a second one since'
  context.fail(last, '409 as before: it is in that graph still', what)
}

/**
 * Adds a file to its graph and to another one, and to its own again; gives that last addition if it was granted.
 * @param waitMs between the first addition, which a 409 has shown, and the second
 */
async function takenAgain(
  context: CheckContext,
  other: string,
  waitMs: number,
): Promise<Exchange | undefined> {
  const { run } = context
  const addition = await validRequest(run, 'graphs.add-file')
  await addAndConfirm(context, addition)
  await pause(run, waitMs)
  const toOther = { ...addition, params: { ...addition.params, graph_id: other } }
  const added = await addToOther(context, toOther)
  judgeAddition(context, added, 'of a file that is in another graph, to a second one')
  if (run.options.depth === 'quick' || !added.response || !isGranted(added.response))
    return undefined
  const again = await addOnce(context, refused(addition))
  return again.response && isGranted(again.response) ? again : undefined
}
