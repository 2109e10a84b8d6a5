import { operation } from '../../catalogue/operations.ts'
import {
  byScenario,
  contentOf,
  isDeclared,
  judgeAlso,
  laterAttempts,
  pointerOf,
  retryWhileSettling,
  sendAtOnce,
  upload,
  validRequest,
} from '../../harness/checks/index.ts'
import {
  type CheckContext,
  type Exchange,
  isGranted,
  type Judge,
  orElse,
  pause,
  type Probe,
  type Run,
} from '../../harness/engine/index.ts'
import { addition, createObject, freshCreation } from '../created/created-object.ts'
import { askAgain, judgeOnce, requireControl } from '../created/relations.ts'
import { addFirst, addOnce, isConflict } from './addition.ts'

const isTaken = ({ response }: Exchange): boolean => response !== undefined && isGranted(response)

/**
 * Adds the same file twice, and again: once it was refused it is refused each time, also after another one was added. An
 * addition may be processed for a while, by each replica for itself: one that is granted within that time proves nothing.
 */
export const addSameFileAgain: Judge = async (context) => {
  const { run, scenario } = context
  if (scenario) return byScenario(context)
  const valid = await requireControl(context)
  const probe = await valid()
  await addFirst(context, probe)
  await askUntilRefused(context, probe)
  judgeOnce(context, await askAgain(context, probe))
  if (run.options.depth === 'quick') return
  const added = await addOthers(context, valid)
  judgeOnce(context, await askAgain(context, probe))
  if (canAddToCreated(run)) await judgeAlso(context, () => addToCreated(context))
  judgeOnce(context, await askAgain(context, probe))
  context.atEnd = async () => {
    const last = await askAgain(context, probe)
    await addAgainLate(context, added, valid)
    judgeOnce(context, last)
  }
}

/** Adds it again until it was refused twice in a row, or has had its time. */
async function askUntilRefused(context: CheckContext, probe: Probe): Promise<void> {
  let added = performance.now()
  for (const ms of laterAttempts(context.run)) {
    const exchange = await askAgain(context, probe)
    if (!exchange.response) return
    if (!isTaken(exchange) && !exchange.throttled) {
      if (!isTaken(await askAgain(context, probe))) return
      added = performance.now()
    }
    await pause(context.run, Math.max(0, added + ms - performance.now()))
  }
}

/** Other files that are added at the same moment. */
const others = 3

/** Adds other files, all at once if they can be uploaded; gives those that were granted. */
async function addOthers(
  context: CheckContext,
  valid: () => Promise<Probe>,
): Promise<readonly Exchange[]> {
  const { run, requirement } = context
  const make = (): Promise<Probe> => freshCreation(run, 'graphs.add-file')
  const together = { size: others, make, requirement: requirement.id }
  const one = async () => [await context.send(valid, { role: 'setup' })]
  return (await orElse(run, () => sendAtOnce(run, together), one)).filter(isTaken)
}

/**
 * Adds files again that were added at the same moment: a server may keep the last one alone. Before `settleMs` have passed one that is
 * granted puts the file there: then others get that time.
 */
async function addAgainLate(
  context: CheckContext,
  added: readonly Exchange[],
  valid: () => Promise<Probe>,
): Promise<void> {
  const { run } = context
  const again = (made: readonly Exchange[]): Promise<Exchange[]> =>
    Promise.all(made.map(({ probe }) => askAgain(context, probe)))
  if (!(await again(added)).some(isTaken)) return
  const later = await addOthers(context, valid)
  await pause(run, run.target.limits.settleMs)
  await again(later)
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

/** Adds a file twice to a graph that the run creates, and once more after its name was asked for again. */
async function addToCreated(context: CheckContext): Promise<void> {
  const { run } = context
  // A creation that is sent once more takes another name: the last one sent is the one that exists.
  let creation = await validRequest(run, 'graphs.create')
  const make = async () => (creation = await validRequest(run, 'graphs.create'))
  const graph = await createObject(context, 'graphs.create', make)
  const probe = await addition(run, graph, await upload(run, contentOf(run)))
  await addFirst(context, probe)
  const again = (): Promise<Exchange> => addOnce(context, probe)
  await retryWhileSettling(run, again, isConflict)
  const about = 'graphs.create/400-duplicate-name'
  const afterRefusal = (): Promise<Exchange> =>
    context.send(creation, { role: 'setup', badInput: true, about }).then(again)
  // Another replica may still process the addition.
  await retryWhileSettling(run, afterRefusal, isConflict)
}
