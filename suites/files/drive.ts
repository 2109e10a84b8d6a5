import {
  countsAsGranted,
  type Evidence,
  type Exchange,
  isGranted,
  NotExercised,
  type Probe,
  wasAnswered,
} from '../../harness/journal/index.ts'
import { contentOf, distinctRequest, isDeclared, validRequest } from '../checks/valid-request.ts'
import { control } from '../checks/control.ts'
import { grantedByScenario, grantedProbe, inScenario, grantedVerdict } from '../checks/granted.ts'
import { type CaseVerdict, concluded, furtherCase, isOver, type Judged } from '../checks/rules.ts'
import {
  laterAttempts,
  namedId,
  resendAsDeclared,
  retryWhileSettling,
  upload,
} from '../checks/created.ts'
import { pointerOf } from '../checks/changes.ts'
import { sampled } from '../checks/values.ts'
import { type Client, type Given, operationProbe, pause } from '../../harness/client/index.ts'
import { answered, type CheckContext, grantedFinding, type Judge } from '../../harness/run/index.ts'
import { addition, createObject, isConflict, isTaken, relationVerdict } from '../created/drive.ts'
import { attachedRule, extensionIn, placesOf } from '../created/rules.ts'

const ofGraphs = ['graphs.add-file', 'graphs.query'] as const

/** A server that ignores graphId accepts an unknown graph: the declared one must be verified separately. */
async function requireGraph(client: Client, given: Given): Promise<void> {
  for (const operation of ofGraphs)
    if (
      isDeclared(given, operation) &&
      (await control(client, given, operation)).state === 'granted'
    )
      return
  throw new NotExercised(
    `cannot verify that resources.graph exists: declare ${ofGraphs.join(' or ')}, with a request that succeeds`,
  )
}

export async function uploadTo(
  client: Client,
  given: Given,
  graphId: string,
  make = distinctRequest,
): Promise<Probe> {
  const probe = await make(client, given, 'files.upload')
  return { ...probe, query: { ...probe.query, graphId } }
}

/**
 * A file uploaded with graphId is in that graph: adding it again gives 409. It may be processed for a while: each
 * attempt uploads a new file and adds it once, after a longer pause.
 */
export const attached: Judge = async (context) => {
  const { client, given, scenario } = context
  const { graph = '' } = given.target.resources
  if (scenario)
    return grantedVerdict(context, {
      make: () => uploadTo(client, given, graph),
      what: 'with graphId',
    })
  await requireGraph(client, given)
  const seen: Judged[] = [faultVerdict(await attachAndAdd(context, graph))]
  if (given.options.depth === 'full' && isDeclared(given, 'graphs.create') && !seen.some(isOver))
    seen.push(
      await furtherCase(client, async () => faultVerdict(await attachToCreated(context, graph))),
    )
  // Without additions, only the upload is shown.
  return seen.some(isOver) || !canAdd(given) ? concluded(seen) : relationVerdict(context, seen)
}

interface Attached {
  readonly id?: string
  /** The upload was refused. */
  readonly fault?: Evidence
}

const faultVerdict = (one: Attached): CaseVerdict =>
  one.fault ? { outcome: 'broken', evidence: one.fault } : { outcome: 'held', cases: 1 }

const canAdd = (given: Given): boolean =>
  isDeclared(given, 'graphs.add-file') && pointerOf(given, 'graphs.add-file', 'file') !== undefined

/** Uploads to a new graph: a server may attach to a known one, whichever is requested. */
async function attachToCreated(context: CheckContext, graph: string): Promise<Attached> {
  const made = await createObject(context, 'graphs.create')
  const attached = await attachAndAdd(context, made)
  if (attached.id !== undefined) {
    await addAfterAnother(context, attached.id, made)
    await addToAnother(context, attached.id, [made, graph])
  }
  return attached
}

const addTo = async (context: CheckContext, graph: string, file: string): Promise<Exchange> =>
  context.send(await addition(context.given, graph, file), { role: 'setup' })

const attachTo = (context: CheckContext, graph: string): Promise<Exchange> =>
  context.send(() => uploadTo(context.client, context.given, graph), { role: 'setup' })

/** Adds an attached file after the next one was attached. */
async function addAfterAnother(context: CheckContext, file: string, graph: string): Promise<void> {
  const { client, given } = context
  await attachTo(context, graph)
  if (!isTaken(await addTo(context, graph, file))) return
  // Each replica may take a while: another file gets that time before the next is attached.
  const slow = await attachTo(context, graph)
  await pause(client, given.target.limits.settleMs)
  await attachTo(context, graph)
  await addTo(context, graph, namedId(given, slow))
}

/** Adds such a file to another graph; if refused, a plain one to both, and it once more. */
async function addToAnother(
  context: CheckContext,
  file: string,
  graphs: readonly [string, string],
): Promise<void> {
  const { client, given } = context
  if (!isConflict(await addTo(context, graphs[1], file))) return
  const plain = await upload(client, given, contentOf(given))
  for (const graph of graphs) if (!isTaken(await addTo(context, graph, plain))) return
  // A file in processing may be refused for a while.
  await pause(client, given.target.limits.settleMs)
  await addTo(context, graphs[1], file)
}

async function attachAndAdd(context: CheckContext, graph: string): Promise<Attached> {
  const { client, given } = context
  // A new graph may refuse it for a while, with any status; unique content may be refused for good.
  const isKnown = (exchange: Exchange): boolean =>
    exchange.response !== undefined &&
    (isGranted(exchange.response) ||
      [400, 401, 403].includes(exchange.response.status) ||
      exchange.response.status >= 500)
  const send = (make = distinctRequest): Promise<Exchange> =>
    context.send(() => uploadTo(client, given, graph, make), { isSuccess: countsAsGranted })
  let last: Exchange | undefined
  for (const ms of [0, ...laterAttempts(given)]) {
    const own = await retryWhileSettling(client, given, send, isKnown)
    const uploaded = await resendAsDeclared(own, () => send(validRequest))
    const found = grantedFinding(context, uploaded, 'a 2xx')
    if (found && 'reason' in found) throw new NotExercised(found)
    if (found) return { fault: { exchange: uploaded, what: 'with graphId', ...found } }
    if (!canAdd(given)) return {}
    const id = namedId(given, uploaded)
    await pause(client, ms)
    last = await context.send(await addition(given, graph, id))
    if (isConflict(last) && !last.unanswered) return { id }
    // An unprocessed file may be refused: the next attempt waits longer.
  }
  // Enough time has passed: checks whether it is refused in place of the 409, or any file would be.
  if (last && !isTaken(last))
    await addTo(context, graph, await upload(client, given, contentOf(given)))
  if (last && attachedRule(client.journal).outcome !== 'broken')
    throw new NotExercised(`the addition of the file ${wasAnswered(last)}`)
  return {}
}

export const extensionOf = (given: Given): string =>
  extensionIn(given.target.operations['files.upload']?.content?.filename ?? '') ?? 'pdf'

/** An extension that is not that of the upload, and two more. */
export function otherExtensions(given: Given): readonly [one: string, two: string] {
  const own = extensionOf(given).toLowerCase()
  const isOfPdf =
    own === 'pdf' ||
    /pdf/i.test(given.target.operations['files.upload']?.content?.contentType ?? '')
  const two = ['csv', 'html', 'md'].filter((one) => one !== own).slice(0, 2)
  return [isOfPdf ? 'txt' : 'pdf', two.join()]
}

export function listingOf(client: Client, given: Given, types: string | readonly string[]) {
  const make = async (): Promise<Probe> => {
    const probe = await validRequest(client, given, 'files.list')
    return { ...probe, query: { ...probe.query, file_types: types } }
  }
  return { make, what: `with file_types ${[types].flat().join(' and file_types ')}` }
}

export const filtered: Judge = async (context) => {
  const { client, given } = context
  const own = extensionOf(given)
  const id = await upload(client, given, contentOf(given))
  const list = (): Promise<Exchange> => context.send(listingOf(client, given, own).make)
  const holds = (exchange: Exchange): boolean => placesOf(exchange, id).length > 0
  const listed = await retryWhileSettling(client, given, list, holds)
  requireGranted(listed, `the listing with file_types ${own}`)
  if (!holds(listed))
    throw new NotExercised(
      `the listing with file_types ${own} does not contain the file that was just uploaded`,
    )
  const others = sampled(context, otherExtensions(given))
  for (const types of context.scenario ? others.slice(0, 1) : others) {
    const { make: plain, what } = listingOf(client, given, types)
    await inScenario(context, 'files.list', async () => {
      const make = grantedProbe(context, 'files.list', plain)
      requireGranted(await context.send(make, { what }), `the listing ${what}`)
    })
  }
  return relationVerdict(context)
}

function requireGranted(exchange: Exchange, which: string): void {
  answered(exchange)
  if (!isGranted(exchange.response)) throw new NotExercised(`${which} ${wasAnswered(exchange)}`)
}

export const ownRecord: Judge = async (context) => {
  const { client, given, scenario } = context
  if (scenario) return grantedByScenario(context)
  if (!isDeclared(given, 'files.upload')) throw new NotExercised('declare files.upload')
  // Both exist before either is read: a server may return the latest record.
  const ids = [
    await upload(client, given, contentOf(given)),
    await upload(client, given, contentOf(given)),
  ]
  if (ids[0] === ids[1])
    throw new NotExercised('both uploads returned the same id: see files.upload/2xx-own-id')
  for (const id of ids) {
    const probe = () => operationProbe(given, 'files.retrieve', { params: { file_id: id } })
    const read = await retryWhileSettling(client, given, () => context.send(probe), isTaken)
    requireGranted(read, 'the retrieval of an uploaded file')
  }
  return relationVerdict(context)
}
