import { additionOperation, operation, uploadOperation } from '../../catalogue/operations.ts'
import {
  byScenario,
  type Case,
  contentOf,
  isDeclared,
  tryAlso,
  laterAttempts,
  pointerOf,
  retryWhileSettling,
  sendAtOnce,
  sendUntilSettled,
  upload,
  validRequest,
} from '../../harness/checks/index.ts'
import {
  type Exchange,
  NotExercised,
  orElse,
  pause,
  type Probe,
  type Run,
  wasAnswered,
} from '../../harness/engine/index.ts'
import { countsAsGranted, historyOf } from '../../harness/journal/index.ts'
import { awaitAge, type CheckContext, type Judge } from '../../harness/run/index.ts'
import { madeBy } from './attempts.ts'
import {
  addition,
  createObject,
  fileIn,
  freshCreation,
  isConflict,
  isTaken,
} from './created-object.ts'
import { askAgain, judgeOnce, requireControl } from './relations.ts'

/**
 * Adds the same file repeatedly: once refused, it must always be refused, also after another addition. Each replica may
 * process an addition for a while, so that acceptance within that time proves nothing.
 */
export const addSameFileAgain: Judge = async (context) => {
  const { run, scenario } = context
  if (scenario) return byScenario(context)
  const valid = await requireControl(context)
  const probe = await valid()
  const tryAgain = async (): Promise<void> => judgeOnce(context, await askAgain(context, probe))
  await addFirst(context, probe)
  const isQuick = run.options.depth === 'quick'
  const added = isQuick ? [] : await addOthers(context, valid)
  const last = added.at(-1)?.endedAt ?? performance.now()
  await askUntilRefused(context, probe)
  await tryAgain()
  if (isQuick) return
  await orElse(run, () => addTwin(context, probe))
  await context.send(valid, { role: 'setup' })
  await tryAgain()
  if (canAddToCreated(run)) await tryAlso(context, () => addToCreated(context))
  await tryAgain()
  context.atEnd = async () => {
    await awaitAge(run, [last])
    const late = await askAgain(context, probe)
    await addAgainLate(context, added, valid)
    judgeOnce(context, late)
  }
}

async function addFirst(context: CheckContext, probe: Probe): Promise<void> {
  const add = (): Promise<Exchange> => context.send(probe, { role: 'setup' })
  const first = await sendUntilSettled(context.run, await add(), add, countsAsGranted)
  if (!countsAsGranted(first)) throw new NotExercised(`the first addition ${wasAnswered(first)}`)
}

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

async function addTwin(context: CheckContext, first: Probe): Promise<void> {
  const { run } = context
  const file = fileIn(run, first)
  const uploaded = madeBy(historyOf(run), uploadOperation).find(({ object }) => object === file)
  if (uploaded?.name === undefined) return
  const twin = await upload(run, contentOf(run), true, uploaded.name)
  if (twin === file) return
  const probe = await addition(run, first.params['graph_id'] ?? '', twin)
  const add = () => context.send(probe, { role: 'setup' })
  await retryWhileSettling(run, add, isTaken)
}

const others = 3

async function addOthers(
  context: CheckContext,
  valid: () => Promise<Probe>,
): Promise<readonly Exchange[]> {
  const { run, requirement } = context
  const make = (): Promise<Probe> => freshCreation(run, additionOperation)
  const together = { size: others, make, requirement: requirement.id }
  const one = async () => [await context.send(valid, { role: 'setup' })]
  return (await orElse(run, () => sendAtOnce(run, together), one)).filter(isTaken)
}

/**
 * Adds simultaneously added files again: a server may keep only the last one. Acceptance before `settleMs` has passed
 * stores the file there: then others get that time.
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

const canAddToCreated = (run: Run): boolean =>
  run.target.operations['files.upload']?.content !== undefined &&
  isDeclared(run, 'graphs.create') &&
  pointerOf(run, additionOperation, operation(additionOperation).freshFileAt ?? '') !== undefined

/** Adds a file twice to a graph that the run creates, and again after a request for its name. */
async function addToCreated(context: CheckContext): Promise<void> {
  const { run } = context
  // A repeated creation uses another name: the last one exists.
  let creation = await validRequest(run, 'graphs.create')
  const make = async () => (creation = await validRequest(run, 'graphs.create'))
  const graph = await createObject(context, 'graphs.create', make)
  const probe = await addition(run, graph, await upload(run, contentOf(run)))
  await addFirst(context, probe)
  const again = (): Promise<Exchange> => askAgain(context, probe)
  await retryWhileSettling(run, again, isConflict)
  const about = 'graphs.create/400-duplicate-name'
  const afterRefusal = (): Promise<Exchange> =>
    context.send(creation, { role: 'setup', badInput: true, about }).then(again)
  // Another replica may still process the addition.
  await retryWhileSettling(run, afterRefusal, isConflict)
}

/**
 * Adds a deleted file to a new graph that accepts files: in the declared graph an accepted addition would remain, and
 * the next run would get a 409.
 */
export const addDeleted: Partial<Case> = {
  isFurther: true,
  async valid({ run, ...context }, valid) {
    const isMakeable = canAddToCreated(run) && !run.options.readOnly
    const make = () => graphWithFile({ run, ...context }, valid)
    const made = isMakeable ? await orElse(run, make) : undefined
    return made === undefined ? valid() : inGraph(await valid(), made)
  },
  excuse: (exchange) =>
    isConflict(exchange)
      ? 'answered 409: an earlier run may have added the deleted file; declare graphs.create and files.upload'
      : undefined,
}

const inGraph = (probe: Probe, graph: string): Probe => ({
  ...probe,
  params: { ...probe.params, graph_id: graph },
})

async function graphWithFile(context: CheckContext, valid: () => Promise<Probe>): Promise<string> {
  const graph = await createObject(context, 'graphs.create')
  await addFirst(context, inGraph(await valid(), graph))
  return graph
}
