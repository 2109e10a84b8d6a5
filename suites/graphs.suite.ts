import { operation } from '../catalogue/operations.ts'
import type {
  CheckContext,
  Exchange,
  Judge,
  Probe,
  Run,
  SendHeld,
} from '../harness/engine/index.ts'
import {
  answered,
  describeResponse,
  holdPlaces,
  isGranted,
  isThrottling,
  NotExercised,
  orElse,
  pastBlocks,
  pause,
  sendWithRetries,
  sendWithStaleRetry,
} from '../harness/engine/index.ts'
import type { RefusalContext } from '../harness/checks/index.ts'
import {
  accepted,
  asScenario,
  byRecord,
  condition,
  contentOf,
  countsAsGranted,
  grantedProbe,
  holdBack,
  inScenario,
  isDeclared,
  judgeAlso,
  laterAttempts,
  pointerOf,
  refused,
  retryWhileSettling,
  sendAtOnce,
  sendUntilSettled,
  suite,
  unknown,
  upload,
  validRequest,
} from '../harness/checks/index.ts'
import { addition, additions, createObject, eachAccepted } from './created/created-object.ts'
import { grantedOf, noEffect, once, onceAtOnce, ownId } from './created/relations.ts'
import { usable } from './created/usable.ts'
import { insideBounds } from './query-config.ts'

// Create a graph (§4.4, §7.3)

export const graphsCreate = suite('graphs.create', {
  '2xx-accepted': eachAccepted,
  '2xx-usable': usable,
  '2xx-own-id': ownId,
  '4xx-no-effect': noEffect,
  '400-atomic': onceAtOnce,
  '400-malformed-parameters': byRecord(),
  '400-duplicate-name': once,
})

const what = 'with a file that is in the graph already'

/**
 * Adds the same file twice, and again: once it was refused it is refused each time, also after another one was added. An
 * addition may be processed for a while, by each replica for itself: one that is granted within that time proves nothing.
 */
const addSameFileAgain = condition(async (refusal) => {
  const { context, valid, judge, judgeResponse } = refusal
  const { run } = context
  const probe = await valid()
  await addFirst(context, probe)
  const again = (): Promise<Exchange> =>
    context.send(refused(probe), { expects: [[409, 'BadRequest']], badInput: true, what })
  const judgeAgain = async (): Promise<void> => {
    await judge(refused(probe), `${what}, once more`)
    if (run.options.depth === 'quick') return
    const added = await addOthers(context, valid)
    await judge(refused(probe), `${what}, after others were added`)
    if (canAddToCreated(run)) await judgeAlso(context, () => judgeInCreated(refusal))
    context.atEnd = async () => {
      await judge(refused(probe), `${what}, at the end of the run`)
      await judgeAddedAtOnce(refusal, added)
    }
  }
  let added = performance.now()
  for (const ms of laterAttempts(run)) {
    const exchange = await again()
    // After too many requests without an answer the suite would stop asking, and nothing would be reported.
    if (!exchange.response) break
    if (!isGranted(exchange.response) && !exchange.throttled) {
      judgeResponse(exchange, what)
      const third = await again()
      if (!third.response || !isGranted(third.response)) return judgeAgain()
      added = performance.now()
    }
    await pause(run, Math.max(0, added + ms - performance.now()))
  }
  await judge(refused(probe), what)
  await judgeAgain()
})

/** Other files that are added at the same moment. */
const others = 3

/** Adds other files, all at once if they can be uploaded. */
async function addOthers(
  context: CheckContext,
  valid: () => Promise<Probe>,
): Promise<readonly Exchange[]> {
  const { run, requirement } = context
  const together = { size: others, make: () => additions.fresh(run), requirement: requirement.id }
  const one = async () => [await context.send(valid, { role: 'setup' })]
  return orElse(run, () => sendAtOnce(run, together), one)
}

/**
 * Files that were added at the same moment are all in the graph: a server may keep the last one alone. Before `settleMs` have
 * passed an addition that is granted proves nothing, and puts the file there: then others get that time.
 */
async function judgeAddedAtOnce(
  { context, valid, judge }: RefusalContext,
  added: readonly Exchange[],
): Promise<void> {
  const { run } = context
  let made = grantedOf(added)
  if (made.some(({ endedAt }) => performance.now() - endedAt < run.target.limits.settleMs)) {
    const looks = made.map(({ probe }) =>
      context.send(refused(probe), { role: 'setup', badInput: true }),
    )
    if (grantedOf(await Promise.all(looks)).length === 0) return
    made = grantedOf(await addOthers(context, valid))
    await pause(run, run.target.limits.settleMs)
  }
  const told = `${what} since others were added at the same moment, at the end of the run`
  for (const { probe } of made) await judge(refused(probe), told)
}

/** Whether the target file says how to make a graph, and a file that is added to it. */
function canAddToCreated(run: Run): boolean {
  const isUploaded = run.target.operations['files.upload']?.content !== undefined
  const { freshFileAt = '' } = operation('graphs.add-file')
  return (
    isUploaded &&
    isDeclared(run, 'graphs.create') &&
    pointerOf(run, 'graphs.add-file', freshFileAt) !== undefined
  )
}

/** A graph that the run creates keeps its file as well, also if its name is asked for again. */
async function judgeInCreated({ context, judgeResponse }: RefusalContext): Promise<void> {
  const { run } = context
  // A creation that is sent once more takes another name: the last one sent is the one that exists.
  let creation = await validRequest(run, 'graphs.create')
  const graph = await createObject(
    context,
    'graphs.create',
    async () => (creation = await validRequest(run, 'graphs.create')),
  )
  const probe = await addition(run, graph, await upload(run, contentOf(run)))
  await addFirst(context, probe)
  const again = (): Promise<Exchange> => addOnce(context, refused(probe))
  judgeResponse(
    await retryWhileSettling(run, again, isConflict),
    `${what}, which the run has created`,
  )
  const setup = {
    role: 'setup',
    badInput: true,
    about: 'graphs.create/400-duplicate-name',
  } as const
  const afterRefusal = (): Promise<Exchange> => context.send(refused(creation), setup).then(again)
  // Another replica may still process the addition.
  const last = `${what}, which the run has created, after its name was asked for again`
  judgeResponse(await retryWhileSettling(run, afterRefusal, isConflict), last)
}

/** Adds a file for the first time, again if a guardrail meets it; throws `NotExercised` if that is not granted. */
async function addFirst(context: CheckContext, probe: Probe): Promise<Exchange> {
  const add = (): Promise<Exchange> => context.send(probe, { role: 'setup' })
  const first = await sendUntilSettled(context.run, await add(), add, countsAsGranted)
  if (!countsAsGranted(first))
    throw new NotExercised(`the first addition was answered ${describeResponse(first)}`)
  return first
}

/** Most times that a throttled addition is sent again. */
const maxThrottled = 2

/** A further addition that no circuit breaker counts: if it gets no answer, the requirement that asks for its refusal says so. */
async function addOnce(
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

/**
 * A refusal that comes within so many ms of the first answer says that additions are processed before they are answered. One
 * that took longer leaves room for a server that processes them a little later, which may grant several of one moment.
 */
const atOnceMs = 25

/** Tells how many ms after the first of two additions in a row was granted the second was refused; throws `NotExercised` if it was not. */
async function refusedAfterMs(context: CheckContext): Promise<number> {
  const { run } = context
  const probe = await additions.fresh(run)
  const first = await addFirst(context, probe)
  // Neither other requests nor the pace asked for come between the two.
  const second = await addOnce(context, refused(probe), (...sent) =>
    holdPlaces(run, 1, (sendHeld) => sendHeld(...sent)),
  )
  if (!first.response || !isGranted(first.response) || !isConflict(second))
    throw new NotExercised(
      `the second of two additions in a row was answered ${describeResponse(second)}`,
    )
  return second.endedAt - first.endedAt
}

/**
 * Least and most looks at two additions in a row before anybody is accused: each may meet another replica, for itself behind, and
 * a busy machine may be late at some.
 */
const looksAtOnce = { least: 4, most: 5 }

/** Throws `NotExercised` unless the second of two in a row is refused so soon that additions are processed before they are answered. */
async function requireAtOnce(context: CheckContext): Promise<void> {
  let ms = Infinity
  for (
    let look = 1;
    look <= looksAtOnce.most && (ms > atOnceMs || look <= looksAtOnce.least);
    look++
  )
    ms = Math.min(ms, await refusedAfterMs(context))
  if (ms > atOnceMs)
    throw new NotExercised(
      `two of several additions at once were granted, and the second of two in a row was refused ${Math.ceil(ms)} ms after the first was granted: a server that processes additions for as long may answer so; run the suite closer to the target (at most ${atOnceMs} ms), or declare a scenario`,
    )
}

const isConflict = ({ response }: Exchange): boolean => response?.status === 409

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
    throw new NotExercised(
      `the addition to a second graph was answered ${describeResponse(exchange)}`,
    )
  context.cases++
  if (isConflict(exchange))
    context.fail(exchange, 'no 409: the file is in another graph, not in this one', what)
}

/** A file that is in one graph can be added to another. */
const judgeOtherGraph: Judge = async (context) => {
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

const addedAtOnce: Judge = (context) =>
  onceAtOnce(context, { before: refusedAfterMs, accusing: requireAtOnce })

// Add a file to a graph (§4.4, §7.3)

export const graphsAddFile = suite('graphs.add-file', {
  '2xx-accepted': eachAccepted,
  '4xx-unknown-file': byRecord(),
  '2xx-other-graph': judgeOtherGraph,
  '404-unknown-graph': unknown('graph_id'),
  '4xx-no-effect': noEffect,
  '409-already-in-graph': addSameFileAgain,
  '409-atomic': addedAtOnce,
})

// Query a graph (§2.7, §4.4, §7.3)

export const graphsQuery = suite('graphs.query', {
  '2xx-accepted': accepted,
  '2xx-query-config': insideBounds,
  '400-query-config': byRecord(),
  '400-malformed-parameters': byRecord(),
  '404-unknown-graph': unknown('graph_id'),
})
