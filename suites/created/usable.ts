import {
  bodyOf,
  contentOf,
  control,
  distinctRequest,
  grantedProbe,
  inScenario,
  isDeclared,
  judgeEach,
  operationIn,
  retryWhileSettling,
  sampled,
  upload,
} from '../../harness/checks/index.ts'
import {
  operation as operationOf,
  type OperationId,
  uploadOperation,
} from '../../catalogue/operations.ts'
import type { CheckContext, Exchange, Judge, Probe, Run } from '../../harness/engine/index.ts'
import {
  answered,
  isGranted,
  NotExercised,
  oncePerRun,
  operationProbe,
  orElse,
} from '../../harness/engine/index.ts'
import { uploadSample } from '../pdf-parse/refusals.ts'
import { addition, createObject, lastAddition } from './created-object.ts'
import { idsToUseAgain, usedIn } from './relations.ts'

function settled({ target }: Run): string {
  return `at the latest ${target.limits.settleMs} ms after its creation (limits.settleMs)`
}

/** How an object that was created is used by another operation. */
interface Use {
  readonly operation: OperationId
  readonly param: string
  /** Sees each answer. */
  readonly seen?: Seen
}

type Seen = (run: Run, id: string, exchange: Exchange) => void

/** The uses by the id in the path that can be sent, as the record of the operation lists them. */
function usesOf(run: Run, creates: OperationId): Use[] {
  const { usedBy = [] } = operationOf(creates).creates ?? {}
  return usedBy.flatMap((use) => {
    const operation = use.operation as OperationId
    const sends =
      ['files.retrieve', 'jobs.create'].includes(operation) ||
      run.target.operations[operation]?.body
    const isServed = run.target.absent[operation] === undefined
    return 'param' in use && sends && isServed ? [{ operation, param: use.param }] : []
  })
}

/** A file that additions to created graphs name, uploaded once: what is refused for it says nothing about the graph. */
function fileToAdd(run: Run): Promise<string | undefined> {
  const declared = run.target.operations['graphs.add-file']?.fields['file']
  if (declared === undefined || !run.target.operations['files.upload']?.content)
    return Promise.resolve(undefined)
  return oncePerRun(run, 'file for created graphs', () => upload(run, contentOf(run)))
}

/** Nobody says which inputs a created application has: none is given, and a 400 will do. */
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

/** True unless what was created is not there, or breaks the server. Only a file is asked for by itself. */
function isUsable({ response, probe }: Exchange): boolean {
  if (response === undefined) return false
  if (probe.operation === 'files.retrieve') return isGranted(response)
  return ![404, 410].includes(response.status) && response.status < 500
}

async function sendUse(context: CheckContext, use: Use, id: string): Promise<Exchange> {
  const { run } = context
  const exchange = await context.send(() => requestOf(run, use, id))
  use.seen?.(run, id, exchange)
  return exchange
}

/** Whether the operation is not granted for what the target file declares either, or was answered the same at first. */
async function failsAnyway(
  run: Run,
  operation: OperationId,
  { response }: Exchange,
): Promise<boolean> {
  if (!isDeclared(run, operation)) return false
  const { state, first } = await control(run, operation)
  return (
    state === 'refused' ||
    (first?.response !== undefined && first.response.status === response?.status)
  )
}

async function judgeUse(context: CheckContext, exchange: Exchange, what: string): Promise<void> {
  const { run } = context
  const { operation } = exchange.probe
  const isFile = operation === 'files.retrieve'
  // The retrieval of a file that is never answered is one that is not granted.
  if (!(isFile && exchange.unansweredTwice)) answered(exchange)
  // A key that may retrieve the declared file lacks no right: then a 403 is about the upload.
  const lacksRight = exchange.response?.status === 403 && isFile
  if (
    lacksRight &&
    !(
      isDeclared(run, 'files.retrieve') &&
      (await control(run, 'files.retrieve')).state === 'granted'
    )
  )
    throw new NotExercised('the full key lacks a right (403): use a key with all rights')
  // The same answer for the declared object proves nothing about the created one. A declared file may be a created one.
  if (!isUsable(exchange) && !isFile && operation && (await failsAnyway(run, operation, exchange)))
    return
  context.cases++
  if (!isUsable(exchange))
    context.fail(
      exchange,
      `${isFile ? 'a 2xx' : 'neither 404 nor 410 nor a 5xx'} ${settled(run)}`,
      what,
    )
}

/** Objects of the run that are used again at its end: the first one, those made at once or asked for twice, a file in a graph, and a PDF. */
async function madeBefore(run: Run, operation: OperationId): Promise<string[]> {
  const first = run.objects.created.find((object) => object.operation === operation)
  const others = [...(first ? [first.id] : []), ...idsToUseAgain(run, operation)]
  if (operation !== uploadOperation) return others
  // A target may take no PDFs.
  const pdf = await orElse(run, () => uploadSample(run, 'other'))
  return [...others, lastAddition(run).file, pdf].filter((id) => id !== undefined)
}

/**
 * Judges that a created object can be used at once, or `settleMs` later, and again at the end of the run, with what was
 * created before and beside it.
 */
export async function usable(context: CheckContext, seen?: Seen): Promise<void> {
  const { run, scenario } = context
  const creates = operationIn(context)
  const uses = sampled(context, usesOf(run, creates)).map((one) => (seen ? { ...one, seen } : one))
  if (uses.length === 0)
    throw new NotExercised(
      `no operation that uses ${operationOf(creates).creates?.what} is declared`,
    )
  const made: string[] = []
  await inScenario(context, creates, async () => {
    const make = grantedProbe(context, creates, () => distinctRequest(run, creates))
    const id = await createObject(context, creates, make)
    made.push(id)
    for (const one of uses) {
      const exchange = await retryWhileSettling(run, () => sendUse(context, one, id), isUsable)
      await judgeUse(context, exchange, 'with the id of what was just created')
    }
    // What a scenario makes may be that of another account, where names are others.
    if (!scenario) usedIn(run).set(creates, id)
  })
  if (context.cases === 0)
    throw new NotExercised(
      'requests that use the declared object are not granted either: declare some that are',
    )
  if (!scenario && run.options.depth === 'full') context.atEnd = useAgain(uses, made)
}

function useAgain(uses: readonly Use[], own: readonly string[]): Judge {
  return async (context) => {
    const { run } = context
    const others = (await madeBefore(run, operationIn(context))).filter((id) => !own.includes(id))
    const all = [
      ...own.flatMap((id) => uses.map((use) => ({ id, use }))),
      ...[...new Set(others)].map((id) => ({ id, use: uses.at(-1) as Use })),
    ]
    await judgeEach(all, async ({ id, use }) => {
      const madeAt = run.objects.madeAt.get(id) ?? 0
      const exchange = await retryWhileSettling(
        run,
        () => sendUse(context, use, id),
        isUsable,
        madeAt,
      )
      const ago = `${((exchange.sentAt - madeAt) / 1000).toFixed(1)} s before`
      await judgeUse(
        context,
        exchange,
        `with the id of what was created ${ago}, at the end of the run`,
      )
    })
  }
}
