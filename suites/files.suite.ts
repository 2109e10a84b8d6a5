import {
  accepted,
  byCases,
  condition,
  contentOf,
  control,
  countsAsGranted,
  distinctRequest,
  freshUnknownId,
  isDeclared,
  judgeAlso,
  judgeTries,
  laterAttempts,
  namedId,
  pointerOf,
  randomFor,
  refused,
  resendAsDeclared,
  retryWhileSettling,
  sampled,
  suite,
  unknown,
  unknownWord,
  upload,
  validRequest,
} from '../harness/checks/index.ts'
import type { Pairs } from '../catalogue/expected.ts'
import type { CheckContext, Exchange, Judge, Probe, Run } from '../harness/engine/index.ts'
import {
  answered,
  wasAnswered,
  isGranted,
  judgeGranted,
  judgePairs,
  NotExercised,
  pause,
} from '../harness/engine/index.ts'
import { addition, createObject, eachAccepted } from './created/created-object.ts'
import { extensionOf, judgeFiltered, judgeOwnRecord, listingOf } from './files/records.ts'
import { grantedOf, ownId, useAgain } from './created/relations.ts'
import { usable } from './created/usable.ts'

const anyButError: Pairs = [['no-5xx']]

const ofGraphs = ['graphs.add-file', 'graphs.query'] as const

/** An invented graph may be refused, and a server that ignores graphId grants it: the graph has to be seen by itself. */
async function requireGraph(run: Run): Promise<void> {
  for (const operation of ofGraphs) {
    if (isDeclared(run, operation) && (await control(run, operation)).state === 'granted') return
  }
  throw new NotExercised(
    `nothing shows that resources.graph is a graph of the target: declare ${ofGraphs.join(' or ')}, with a request that is granted`,
  )
}

async function uploadTo(run: Run, graphId: string, make = distinctRequest): Promise<Probe> {
  const probe = await make(run, 'files.upload')
  return { ...probe, query: { ...probe.query, graphId } }
}

/** An upload that names a graph which nobody has. If the target says that graphId stands elsewhere, a scenario has to say it here, too. */
const unknownGraph = condition(async ({ context, judge }) => {
  const { run } = context
  const attached = 'files.upload/2xx-attached-to-graph'
  if (run.target.scenarios[attached])
    throw new NotExercised(`declare a scenario for ${context.requirement.id}, as for ${attached}`)
  const graphId = freshUnknownId(run, run.target.resources.graph ?? '', randomFor(context))
  await judge(refused(await uploadTo(run, graphId)), 'with an unknown graphId')
})

/** Judges that the request is answered by anything but an error of the server's own. */
async function judgeNoError(
  context: CheckContext,
  make: () => Promise<Probe>,
  what: string,
): Promise<void> {
  await judgeAlso(context, async () => {
    const exchange = await context.send(make, { badInput: true, expects: anyButError, what })
    answered(exchange)
    judgePairs(context, exchange, anyButError, what)
  })
}

/**
 * A file that is uploaded with graphId is in that graph: adding it once more gives 409. It may be processed for a while:
 * each attempt takes a fresh upload, and adds it only once, after a longer pause each time.
 */
async function judgeAttached(context: CheckContext): Promise<void> {
  const { run, scenario } = context
  const { graph = '' } = run.target.resources
  if (scenario)
    return judgeTries(context, { make: () => uploadTo(run, graph), what: 'with graphId' })
  await requireGraph(run)
  await judgeAttachedTo(context, graph)
  if (run.options.depth === 'quick' || !isDeclared(run, 'graphs.create')) return
  await judgeAlso(context, () => judgeInCreated(context, graph))
}

/** Judges uploads to a graph of the run: a server may attach to one that it knew when it began, whichever it is told. */
async function judgeInCreated(context: CheckContext, graph: string): Promise<void> {
  const made = await createObject(context, 'graphs.create')
  const file = await judgeAttachedTo(context, made)
  if (file === undefined) return
  await judgeKept(context, file, made)
  await judgeInNoOther(context, file, [made, graph])
}

async function addTo(context: CheckContext, graph: string, file: string): Promise<Exchange> {
  const probe = await addition(context.run, graph, file)
  return context.send(probe, { role: 'setup', skipPassive: true })
}

async function isAdded(context: CheckContext, graph: string, file: string): Promise<boolean> {
  return grantedOf([await addTo(context, graph, file)]).length > 0
}

function attachTo(context: CheckContext, graph: string): Promise<Exchange> {
  return context.send(() => uploadTo(context.run, graph), { role: 'setup' })
}

/** Judges that a file which is known to be in a graph is still there when the next one is attached. */
async function judgeKept(context: CheckContext, file: string, graph: string): Promise<void> {
  const { run } = context
  await attachTo(context, graph)
  context.cases++
  if (!(await isAdded(context, graph, file))) return
  // Each replica may process what it is told for a while: another file gets that time before the next is attached.
  const slow = await attachTo(context, graph)
  await pause(run, run.target.limits.settleMs)
  await attachTo(context, graph)
  const second = await addTo(context, graph, namedId(run, slow))
  if (grantedOf([second]).length === 0) return
  const expected =
    '409: the file was uploaded with graphId, and is in that graph, also after another one was'
  context.fail(second, expected, 'for that graph and file')
}

/** Judges that such a file can be added to another graph, unless a plain file may be in one graph alone as well. */
async function judgeInNoOther(
  context: CheckContext,
  file: string,
  graphs: readonly string[],
): Promise<void> {
  const { run } = context
  const [, other = ''] = graphs
  const exchange = await addTo(context, other, file)
  context.cases++
  // One that was sent twice, since the first got no answer, may have been added by that one.
  if (exchange.response?.status !== 409 || exchange.unanswered) return
  const plain = await upload(run, contentOf(run))
  for (const graph of graphs) if (!(await isAdded(context, graph, plain))) return
  // A file that is being processed may be refused for a while.
  await pause(run, run.target.limits.settleMs)
  const again = await addTo(context, other, file)
  if (again.response?.status !== 409) return
  const expected =
    'no 409: the file was uploaded with the graphId of another graph, and other files may be in both'
  context.fail(again, expected, 'for a graph that the upload did not name')
}

/** Gives the id of the file that is attached; undefined if nothing shows that it is. */
async function judgeAttachedTo(context: CheckContext, graph: string): Promise<string | undefined> {
  const { run } = context
  const attached = (): Promise<Probe> => uploadTo(run, graph)
  // A graph that was just made may refuse it for a while, by whichever status; own content may be refused for good.
  const isKnown = ({ response }: Exchange): boolean =>
    response !== undefined &&
    (isGranted(response) || [400, 401, 403].includes(response.status) || response.status >= 500)
  const canAdd =
    isDeclared(run, 'graphs.add-file') && pointerOf(run, 'graphs.add-file', 'file') !== undefined
  let last: Exchange | undefined
  for (const ms of [0, ...laterAttempts(run)]) {
    const send = (): Promise<Exchange> => context.send(attached, { isSuccess: countsAsGranted })
    const own = await retryWhileSettling(run, send, isKnown)
    const uploaded = await resendAsDeclared(own, () =>
      context.send(() => uploadTo(run, graph, validRequest), { isSuccess: countsAsGranted }),
    )
    judgeGranted(context, uploaded, 'a 2xx', 'with graphId')
    if (!canAdd) return undefined
    const id = namedId(run, uploaded)
    useAgain(run, 'files.upload', [id])
    await pause(run, ms)
    last = await context.send(await addition(run, graph, id), { skipPassive: true })
    context.cases++
    if (last.response?.status === 409 && !last.unanswered) return id
    // A file that is not processed yet may be refused: the next attempt waits longer.
  }
  // It had its time: is it refused in place of the 409, or would any file be?
  if (last === undefined) return undefined
  const takesPlain = async () => isAdded(context, graph, await upload(run, contentOf(run)))
  if (grantedOf([last]).length === 0 && !(isClientError(last) && (await takesPlain())))
    throw new NotExercised(`the addition of the file ${wasAnswered(last)}`)
  return context.fail(
    last,
    '409: the file was uploaded with graphId, and is in that graph already',
    'for that graph and file',
  )
}

/** A refusal as a request, not for the key or by a limit. */
function isClientError({ response, throttled }: Exchange): boolean {
  const status = response?.status ?? 0
  return !throttled && status >= 400 && status < 500 && ![401, 403].includes(status)
}

/** Judges that uploads are found again. One without content may be refused; that it breaks nothing is another requirement's. */
const retrievable: Judge = async (context) => {
  await usable(context)
  const { run, scenario } = context
  if (scenario || run.options.depth === 'quick') return
  const make = async (): Promise<Probe> => ({
    ...(await distinctRequest(run, 'files.upload')),
    body: new Uint8Array(),
  })
  await context.send(make, {
    badInput: true,
    expects: anyButError,
    what: 'of a file without content',
  })
}

// Upload a file (§2.8, §4.4, §7.3)

export const filesUpload = suite('files.upload', {
  '2xx-accepted': eachAccepted,
  '2xx-attached-to-graph': judgeAttached,
  '2xx-retrievable': retrievable,
  '2xx-own-id': ownId,
  '4xx-unknown-graph': unknownGraph,
})

/** The listing with one extension, and with two (§2.8: comma-separated, without the dot). */
const judgeFileTypes: Judge = async (context) => {
  const { run, scenario } = context
  const first = extensionOf(run)
  const both = `${first},${first === 'pdf' ? 'txt' : 'pdf'}`
  // A scenario brings its own.
  for (const types of scenario ? [first] : sampled(context, [first, both]))
    await judgeTries(context, listingOf(run, types))
  if (scenario || run.options.depth === 'quick') return
  await judgeUnknownType(context)
  await sendOddTypes(context, first)
}

/** No extension, and the query twice: whatever comes but a 5xx will do, which is a matter of bad input at large. */
async function sendOddTypes(context: CheckContext, type: string): Promise<void> {
  for (const types of ['', [type, 'pdf']])
    await context.send(listingOf(context.run, types).make, {
      badInput: true,
      expects: anyButError,
      what: 'with an odd query',
    })
}

/** A server may list no file of an extension that it does not know, or refuse it; it is no error of its own. */
async function judgeUnknownType(context: CheckContext): Promise<void> {
  const { run, requirement } = context
  // By itself: nothing is listed then.
  const { make, what } = listingOf(run, unknownWord(run, requirement.id))
  await judgeNoError(context, make, what)
}

// List files (§2.8, §4.4)

export const filesList = suite('files.list', {
  '2xx-accepted': accepted,
  '2xx-file-types': judgeFileTypes,
  '2xx-filtered': judgeFiltered,
})

// Get a file (§4.4, §7.3)

export const filesRetrieve = suite('files.retrieve', {
  '2xx-accepted': accepted,
  '2xx-own-record': judgeOwnRecord,
  '404-unknown-file': unknown('file_id'),
  '410-deleted-file': byCases(
    ({ target }) => {
      const { deletedFile = '' } = target.resources
      return ['', ', asked for again'].map((again) => ({
        what: `for a file that was deleted${again}`,
        fault: 'id: deleted',
        change: (valid) => ({ ...valid, params: { file_id: deletedFile } }),
      }))
    },
    { inOrder: true },
  ),
})
