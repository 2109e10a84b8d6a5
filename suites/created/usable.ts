import {
  operation as operationOf,
  type OperationId,
  uploadOperation,
} from '../../catalogue/operations.ts'
import {
  bodyOf,
  contentOf,
  control,
  distinctRequest,
  grantedProbe,
  inScenario,
  isDeclared,
  tryEach,
  once,
  operationIn,
  retryWhileSettling,
  sampled,
  upload,
} from '../../harness/checks/index.ts'
import {
  type Exchange,
  NotExercised,
  operationProbe,
  orElse,
  type Probe,
  type Run,
} from '../../harness/engine/index.ts'
import { answered, awaitAge, type CheckContext } from '../../harness/run/index.ts'
import { eventOf, type HistoryEvent, historyOf } from '../../harness/journal/index.ts'
import { uploadSample } from '../pdf-parse/refusals.ts'
import { madeBy, thingsOf } from './attempts.ts'
import { addition, createObject, lookForFile } from './created-object.ts'
import { judgeRelation } from './relations.ts'
import { isUsable, type Use, usesByPath } from './rules.ts'

const sendable = (run: Run, creates: OperationId): Use[] =>
  usesByPath(creates).filter(
    ({ operation }) =>
      run.target.absent[operation] === undefined &&
      (['files.retrieve', 'jobs.create'].includes(operation) ||
        run.target.operations[operation]?.body !== undefined),
  )

/** A file for additions to created graphs, uploaded once: a refusal because of it says nothing about the graph. */
function fileToAdd(run: Run): Promise<string | undefined> {
  const declared = run.target.operations['graphs.add-file']?.fields['file']
  if (declared === undefined || !run.target.operations['files.upload']?.content)
    return Promise.resolve(undefined)
  return once(run, 'file for created graphs', () => upload(run, contentOf(run)))
}

/** The inputs of a created application are unknown: none is sent, and a 400 passes. */
async function requestOf(run: Run, { operation, param }: Use, id: string): Promise<Probe> {
  const params = { [param]: id }
  const { effect } = operationOf(operation)
  if (operation === 'files.retrieve') return operationProbe(run, operation, { params })
  if (operation === 'jobs.create')
    return operationProbe(run, operation, { params, json: { inputs: [] }, effect })
  const file = operation === 'graphs.add-file' ? await fileToAdd(run) : undefined
  return file === undefined
    ? operationProbe(run, operation, { params, json: bodyOf(run, operation), effect })
    : addition(run, id, file)
}

async function use(context: CheckContext, one: Use, id: string, madeAt?: number): Promise<void> {
  const { run } = context
  const willDo = (exchange: Exchange): boolean => {
    const event = eventOf(run.target, exchange, false)
    return event !== undefined && isUsable(event)
  }
  const send = (): Promise<Exchange> => context.send(() => requestOf(run, one, id))
  const exchange = await retryWhileSettling(run, send, willDo, madeAt)
  // A retrieval without any answer has failed.
  if (!(one.operation === 'files.retrieve' && exchange.unansweredTwice)) answered(exchange)
  if (willDo(exchange)) return
  await lookForFile(run, exchange)
  if (isDeclared(run, one.operation)) await control(run, one.operation)
}

/** A target may refuse PDFs. */
const ownPdf = (run: Run): Promise<string | undefined> =>
  orElse(run, () => uploadSample(run, 'other'))

/** Requirements whose objects are used again at the end: made simultaneously, requested twice, attached. */
const alsoUsed = ['2xx-own-id', '400-duplicate-name', '2xx-attached-to-graph']
/** Larger uploads (bytes) are used again as well. */
const largeBytes = 64 * 1024

/** Objects used again at the end: the first one, those of other requirements, a file in a graph, and a PDF. */
async function madeBefore(run: Run, creates: OperationId): Promise<string[]> {
  const made = madeBy(historyOf(run), creates)
  const isLarge = ({ exchange: { probe } }: HistoryEvent): boolean =>
    creates === uploadOperation && (probe.body?.length ?? 0) > largeBytes
  const askedAgain = thingsOf(historyOf(run), creates).flatMap((attempts) =>
    attempts.length > 1 ? attempts : [],
  )
  const isAlsoUsed = (one: HistoryEvent): boolean => {
    const { requirement, role } = one.exchange.purpose
    const isOf = alsoUsed.some((name) => requirement === `${creates}/${name}`)
    return isOf && (role === 'probe' || askedAgain.includes(one))
  }
  const isWanted = (one: HistoryEvent, at: number): boolean =>
    at === 0 || isLarge(one) || isAlsoUsed(one)
  const ids = made.filter(isWanted).map(({ object }) => object!)
  if (creates !== uploadOperation) return ids
  const added = madeBy(historyOf(run), 'graphs.add-file').at(0)
  return [...ids, added?.object, await ownPdf(run)].filter((id) => id !== undefined)
}

/**
 * A created object can be used at once, or `settleMs` later, and again at the end of the run, like those created before
 * and beside it.
 */
export async function usable(context: CheckContext): Promise<void> {
  const { run, scenario } = context
  const creates = operationIn(context)
  const uses = sampled(context, sendable(run, creates))
  if (uses.length === 0)
    throw new NotExercised(
      `no operation that uses ${operationOf(creates).creates?.what} is declared`,
    )
  const isAtEnd = !scenario && run.options.depth === 'full'
  let made = ''
  await inScenario(context, creates, async () => {
    const make = grantedProbe(context, creates, () => distinctRequest(run, creates))
    // Prepared first, so that nothing delays the use after the creation.
    if (creates === 'graphs.create') await orElse(run, () => fileToAdd(run))
    else if (creates === uploadOperation && isAtEnd) await ownPdf(run)
    made = await createObject(context, creates, make)
    await tryEach(uses, (one) => use(context, one, made))
  })
  judgeRelation(context)
  if (!isAtEnd) return
  context.atEnd = async () => {
    const others = (await madeBefore(run, creates)).filter((id) => id !== made)
    const madeAt = (id: string): number => run.objects.madeAt.get(id) ?? 0
    await awaitAge(run, [made, ...others].map(madeAt))
    const all = [
      ...uses.map((one) => ({ id: made, one })),
      ...[...new Set(others)].map((id) => ({ id, one: uses.at(-1)! })),
    ]
    await tryEach(all, ({ id, one }) => use(context, one, id, madeAt(id)))
    judgeRelation(context)
  }
}
