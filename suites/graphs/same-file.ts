import {
  condition,
  refused,
  judgeAlso,
  laterAttempts,
  sendAtOnce,
  type RefusalContext,
  isDeclared,
  pointerOf,
  validRequest,
  upload,
  contentOf,
  retryWhileSettling,
} from '../../harness/checks/index.ts'
import { addFirst, addOnce, isConflict } from './addition.ts'
import {
  type Exchange,
  isGranted,
  pause,
  type CheckContext,
  type Probe,
  orElse,
  type Run,
} from '../../harness/engine/index.ts'
import { additions, createObject, addition } from '../created/created-object.ts'
import { grantedOf } from '../created/relations.ts'
import { operation } from '../../catalogue/operations.ts'

const what = 'with a file that is in the graph already'

/**
 * Adds the same file twice, and again: once it was refused it is refused each time, also after another one was added. An
 * addition may be processed for a while, by each replica for itself: one that is granted within that time proves nothing.
 */
export const addSameFileAgain = condition(async (refusal) => {
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
