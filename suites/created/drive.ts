import { requirementOf, type RequirementId } from '../../catalogue/catalogue.ts'
import { type Condition, materialOf } from '../checks/case.ts'
import {
  countsAsGranted,
  createdId,
  eventOf,
  type Verdict,
  type Exchange,
  isThrottling,
  NotExercised,
  type Probe,
  type Source,
  wasAnswered,
} from '../../harness/journal/index.ts'
import {
  additionOperation,
  operation,
  type OperationId,
  uploadOperation,
} from '../../catalogue/operations.ts'
import { grantedByScenario, grantedProbe, inScenario } from '../checks/granted.ts'
import {
  contentOf,
  declaredResource,
  distinctRequest,
  draftRequest,
  isDeclared,
  makeOne,
  sharedRequest,
  validRequest,
  withFile,
  sampled,
  control,
  grantedControl,
  operationIn,
} from '../checks/valid-request.ts'
import {
  atRole,
  malformedJsonBody,
  pointerOf,
  refused,
  wrongContentType,
} from '../checks/faults.ts'
import {
  concluded,
  findingVerdict,
  furtherCase,
  type Judged,
  type CaseVerdict,
  isOver,
} from '../checks/rules.ts'
import {
  freshFilename,
  inBatches,
  laterAttempts,
  isTaken,
  namedId,
  need,
  resendAsDeclared,
  retryWhileSettling,
  sendAtOnce,
  sharedBy,
  upload,
  uploadProbe,
  withOwnContent,
} from '../checks/created.ts'
import {
  type Given,
  type Client,
  operationProbe,
  orElse,
  pause,
} from '../../harness/client/index.ts'
import {
  answered,
  ask,
  awaitAge,
  type CheckContext,
  decisive,
  type Judge,
  grantedFinding,
} from '../../harness/run/index.ts'
import { expired, invalid, malformed, missing, restricted } from '../authentication/credentials.ts'
import {
  creatorOf,
  isRefused,
  isUsable,
  ofFaults,
  madeBy,
  timesAlike,
  usesByPath,
  relationRule,
} from './rules.ts'
import { uploadSample } from '../pdf-parse.suite.ts'

/** A change for which a creation is refused, and the requirement about that. */
export interface Refusal {
  readonly requirement: string
  readonly what: string
  change(valid: Probe): Probe | Promise<Probe>
}

/** Faults for which every creation is refused, by the requirement about each. */
const faults = {
  '401-missing-credentials': missing,
  '401-malformed-key': malformed,
  '401-invalid-key': invalid,
  '401-expired-key': expired,
  '403-insufficient-rights': restricted,
  '400-wrong-content-type': wrongContentType,
  '400-malformed-json': malformedJsonBody,
}

/**
 * The first case of each of these requirements, if the target declares enough for any.
 * @param own further ones of the operation
 */
export async function refusalsOf(
  client: Client,
  given: Given,
  operation: OperationId,
  own: Readonly<Record<string, Condition>> = {},
): Promise<Refusal[]> {
  const refusals: Refusal[] = []
  for (const [requirement, condition] of Object.entries({ ...own, ...faults })) {
    const id = `${operation}/${requirement}` as RequirementId
    const material = materialOf(given, requirementOf(id), operation)
    const first = await orElse(client, async () => {
      const [one] = await condition.casesIn(material, { given }, async () => material.valid)
      return one
    })
    if (!first) continue
    const { what, change } = first
    refusals.push({ requirement, what, change: (valid) => refused(change(valid)) })
  }
  return refusals
}

const isConflict = (exchange: Exchange): boolean => exchange.response?.status === 409

type Send = (
  context: CheckContext,
  /** Cases of their own, which report their own reason if they cannot be judged. */
  further: Judged[],
) => Promise<void> | Promise<Verdict | (() => Promise<void>) | undefined>

/**
 * A requirement whose rule judges the whole run, after `send` has sent what shows most: even if not everything could be
 * sent, because a server answers no more, it may have shown enough. Returns what to send at the end of the run.
 * @param takesScenario whether `send` sends what its scenario says; else a scenario's request is judged alone
 */
export const relation =
  (send: Send, takesScenario = false): Judge =>
  async (context) => {
    const { client, requirement, scenario } = context
    if (scenario && !takesScenario) return grantedByScenario(context)
    const further: Judged[] = []
    const leaveOpen = ({ reason: why }: NotExercised): void =>
      void further.push({ outcome: 'open', why })
    const judge = (): Verdict => decisive(context, relationRule(requirement.id)(client.journal))
    const judgeAll = (): Verdict => {
      const verdict = judge()
      const isLeft = further.some((one) => one.outcome === 'open')
      return isLeft && verdict.outcome !== 'broken' ? concluded(further) : verdict
    }
    const sent = await orElse(client, async () => await send(context, further), leaveOpen)
    if (typeof sent === 'object') return sent
    if (!sent) return judgeAll()
    const verdict = judge()
    if (verdict.outcome !== 'held') return verdict
    const atEnd = () => orElse(client, sent, leaveOpen).then(judgeAll)
    return { outcome: 'later', cases: verdict.cases, judge: atEnd }
  }

/** Sends what is not judged by itself. */
const prepare = (context: CheckContext, source: Source): Promise<Exchange> =>
  context.send(source, { role: 'setup' })

/** Sends a creation; throws `NotExercised` if it is not accepted. */
const create = async (context: CheckContext, make: () => Promise<Probe>): Promise<Exchange> =>
  need(
    'a creation',
    await context.send(make, { role: 'setup', isSuccess: countsAsGranted }),
    countsAsGranted,
  )

/** @param file default: a new one */
async function addition(
  { client, given }: CheckContext,
  graph: string,
  file?: string,
): Promise<Probe> {
  const probe = { ...draftRequest(given, additionOperation), credential: await given.keys.full() }
  const added = file ?? (await upload(client, given, contentOf(given)))
  return { ...withFile(given, probe, added), params: { graph_id: graph } }
}

const add = async (context: CheckContext, graph: string, file?: string): Promise<Exchange> =>
  prepare(context, await addition(context, graph, file))

const retrieval = (given: Given, id: string): Promise<Probe> =>
  operationProbe(given, 'files.retrieve', { params: { file_id: id } })

/** Retrieves the file of an addition that found no file, or no graph: it may be missing. */
async function lookForFile(
  { client, given }: CheckContext,
  { probe, response }: Exchange,
): Promise<void> {
  const { creates: file, operation } = probe
  const isMissing = response?.status === 404 || response?.status === 410
  if (operation !== additionOperation || file === undefined || !isMissing) return
  if (given.target.absent['files.retrieve'] !== undefined) return
  // Without an answer, the retrieval shows nothing about the file or the graph.
  const purpose = { requirement: null, role: 'poll' } as const
  await orElse(client, () => ask(client, () => retrieval(given, file), purpose))
}

/** Records the control, and returns its request; throws `NotExercised` if it was not accepted. */
async function requireControl(context: CheckContext): Promise<() => Promise<Probe>> {
  const found = await grantedControl(context.client, context.given, operationIn(context))
  context.control = found.state
  return found.valid
}

/** Sends the same thing, or several, at once. */
function together(
  { client, given, requirement }: CheckContext,
  make: () => Probe | Promise<Probe>,
): Promise<Exchange[]> {
  const size = given.options.depth === 'full' ? 4 : 2
  return sendAtOnce(client, given, { size, make, requirement: requirement.id })
}

const needTwo = 'concurrent creations need limits.concurrency of 2 or more'

export const ownId = relation(async (context, further) => {
  const { client, given, scenario } = context
  const operation = operationIn(context)
  await requireControl(context)
  const make = grantedProbe(context, operation, () => distinctRequest(client, given, operation))
  const sent = await together(context, make)
  // A guardrail, a lost answer or a limit may have affected one, and some targets accept only one at a time.
  for (let more = 2; more > 0 && sent.filter(isTaken).length < 2; more--)
    sent.push(await context.send(make))
  if (operation === uploadOperation && !scenario && given.options.depth === 'full') {
    const name = freshFilename(given, contentOf(given).filename)
    const named = () => uploadProbe(given, withOwnContent(given, contentOf(given)), name)
    // If the name is refused the second time, this shows nothing.
    await prepare(context, named)
    await prepare(context, named)
  }
  const limited = sent.find(isThrottling) ?? sent[0]!
  const ids = sent.flatMap((exchange) => createdId(given, exchange) ?? [])
  need('fewer than two concurrent creations returned an id: one', limited, () => ids.length > 1)
  if (given.target.limits.concurrency < 2)
    further.push({ outcome: 'open', why: { reason: needTwo }, isFurther: true })
  return async () => undefined
}, true)

/** @param more further refusals */
export const noEffect = (more: (context: CheckContext) => readonly Refusal[] = () => []): Judge =>
  relation(async (context, further) => {
    const { client, given, requirement } = context
    await requireControl(context)
    const everywhere = await refusalsOf(client, given, operationIn(context))
    const refusals = sampled(given, requirement.id, [...everywhere, ...more(context)])
    await inBatches(refusals, async (refusal) =>
      further.push(await furtherCase(client, () => lookAfter(context, refusal))),
    )
  })

/** Repeats the creation after its refusal, with another one in between; three times, unless accepted. */
async function lookAfter(
  context: CheckContext,
  { requirement: of, what, change }: Refusal,
): Promise<void> {
  const { client, given } = context
  const operation = operationIn(context)
  const make = (): Promise<Probe> => validRequest(client, given, operation)
  const isOfFault = (exchange: Exchange) => ofFaults.includes(exchange.response?.status ?? 0)
  // A new file may be unknown for a while.
  const about = `${operation}/${of}`
  const setup = { about, what, isSuccess: isOfFault, role: 'setup', badInput: true } as const
  const isSuccess = (one: Exchange): boolean => countsAsGranted(one) || isConflict(one)
  for (let look = 1; look <= timesAlike; look++) {
    const probe = await make()
    const faulty = await context.send(await change(probe), setup)
    need('the creation that should be refused', faulty, isOfFault)
    const again = await context.send(probe, { isSuccess }, { fresh: true, isHeld: true })
    if (isTaken(again)) return
    // An unanswered one may have created what this one conflicts with.
    const event = again.unanswered ? undefined : eventOf(given.target, again, false)
    need('the creation after a refused one', again, () => event !== undefined && isRefused(event))
    // One more per attempt: with a fixed order, a periodic failure would seem to follow a refusal.
    for (let count = 0; count < look; count++) await create(context, make)
  }
}

export const onceAtOnce = relation(async (context) => {
  const { client, given, requirement } = context
  if (given.target.limits.concurrency < 2) throw new NotExercised(needTwo)
  await requireControl(context)
  const rule = relationRule(requirement.id)
  // Again while that tells nothing: the accepted one may be lost, others throttled, and one crash may be chance.
  let left = 3
  do {
    const probe = await validRequest(client, given, operationIn(context))
    await together(context, () => probe)
  } while (--left > 0 && rule(client.journal).outcome === 'open')
})

/** Requests what exists. */
async function askAgain(context: CheckContext, probe: Probe): Promise<Exchange> {
  const { exists, same, what } = creatorOf(operationIn(context))
  const purpose = { badInput: true, expects: exists, what: `with ${same} as ${what} that exists` }
  const last = await context.send(refused(probe), purpose)
  await lookForFile(context, last)
  return last
}

/** Requests what exists until it is refused: each replica may process an addition for a while. */
async function again(context: CheckContext, { probe, endedAt }: Exchange): Promise<void> {
  const isAddition = operationIn(context) === additionOperation
  const willDo = (exchange: Exchange): boolean => !isAddition || isConflict(exchange)
  const send = (): Promise<Exchange> => askAgain(context, probe)
  await retryWhileSettling(context.client, context.given, send, willDo, endedAt)
}

/** What exists is not created again: neither the second and third time, nor after another creation. */
export const once = relation(async (context, further) => {
  const { client, given } = context
  const { limits, scenarios } = given.target
  const id = operationIn(context)
  const isAddition = id === additionOperation
  const valid = await requireControl(context)
  const first = await create(context, valid)
  const isQuick = given.options.depth === 'quick'
  const beside = isAddition && !isQuick ? (await together(context, valid)).filter(isTaken) : []
  await again(context, first)
  if (isQuick) return undefined
  if (isAddition) await orElse(client, () => addTwin(context, first))
  await prepare(context, valid)
  if (isAddition && canAddToCreated(given))
    further.push(await furtherCase(client, () => addToCreated(context)))
  return async () => {
    // A server may only check new names, not those in use. A scenario may create in another account.
    const usable = `${id}/2xx-usable`
    const used = madeBy(client.journal, id).find(
      (one) => one.exchange.purpose.requirement === usable && !scenarios[usable],
    )
    const probe = used?.name ? atRole(given, first.probe, 'name', used.name) : first.probe
    const made = [first, ...beside, used ?? first].map((one) => one.endedAt)
    await awaitAge(client, made)
    await again(context, first)
    await again(context, { ...first, probe })
    // Of simultaneously added files, a server may have kept only the last one. If it takes one too soon, the next waits.
    for (const one of beside)
      if (isTaken(await askAgain(context, one.probe)))
        await pause(client, Math.max(0, one.endedAt + limits.settleMs - performance.now()))
  }
})

/** Adds another file under the name of one in the declared graph: it is no duplicate. */
async function addTwin(context: CheckContext, exchange: Exchange): Promise<void> {
  const { client, given } = context
  const [named] = client.journal.of(exchange.probe.creates ?? '')
  const file = await upload(client, given, contentOf(given), true, named?.name)
  const twin = await addition(context, declaredResource(given, 'graph'), file)
  // A refusal is judged here alone.
  const fault = 'file: under a name in use'
  await context.send({ ...twin, fault }, { role: 'setup', isSuccess: isTaken })
}

const canAdd = (given: Given): boolean =>
  isDeclared(given, additionOperation) && pointerOf(given, additionOperation, 'file') !== undefined

const canAddToCreated = (given: Given): boolean =>
  given.target.operations['files.upload']?.content !== undefined &&
  isDeclared(given, 'graphs.create') &&
  canAdd(given)

/** Adds a file twice to a graph that the run creates, and again after a request for its name. */
async function addToCreated(context: CheckContext): Promise<void> {
  const { client, given } = context
  const creation = await create(context, () => validRequest(client, given, 'graphs.create'))
  const graph = namedId(given, creation)
  const first = await create(context, () => addition(context, graph))
  await again(context, first)
  const about = 'graphs.create/400-duplicate-name'
  await context.send(creation.probe, { role: 'setup', badInput: true, about })
  await again(context, first)
}

type Use = ReturnType<typeof usesByPath>[number]

/** The inputs of a created application are unknown: none is sent, and a 400 passes. */
async function requestOf(client: Client, given: Given, one: Use, object: string): Promise<Probe> {
  const { operation: id, param } = one
  const params = { [param]: object }
  if (id === 'files.retrieve') return retrieval(given, object)
  if (id === 'jobs.create')
    return operationProbe(given, id, { params, json: { inputs: [] }, effect: 'generates' })
  // The file of an addition is uploaded once: a refusal because of it says nothing about the graph.
  const make = (): Promise<Probe> => validRequest(client, given, id)
  return { ...(await sharedRequest(client, `${id} of created objects`, make)), params }
}

async function use(context: CheckContext, one: Use, id: string): Promise<void> {
  const { client, given } = context
  const willDo = (exchange: Exchange): boolean => {
    const event = eventOf(given.target, exchange, false)
    return event !== undefined && isUsable(event)
  }
  const send = (): Promise<Exchange> => context.send(() => requestOf(client, given, one, id))
  const madeAt = given.objects.madeAt.get(id)
  const exchange = await retryWhileSettling(client, given, send, willDo, madeAt)
  if (willDo(exchange)) return
  // A retrieval without any answer has failed.
  if (!(one.operation === 'files.retrieve' && exchange.unansweredTwice)) answered(exchange)
  await lookForFile(context, exchange)
  if (isDeclared(given, one.operation)) await control(client, given, one.operation)
}

/** Requirements whose objects are used again at the end: made simultaneously, requested twice, attached. */
export const alsoMadeFor = (creates: string): RequirementId[] =>
  ['2xx-own-id', '400-duplicate-name', '2xx-attached-to-graph'].map(
    (condition) => `${creates}/${condition}` as RequirementId,
  )

const largeBytes = 64 * 1024

/** Objects used again at the end: the first one, those of other requirements, and a file in a graph. */
function madeBefore({ client }: CheckContext, creates: OperationId): readonly string[] {
  const { doomed } = sharedBy(client)
  const others: readonly (string | null)[] = alsoMadeFor(creates)
  const made = madeBy(client.journal, creates)
    .filter((one) => !doomed.has(one.object!))
    .filter(({ exchange: { probe, purpose } }, at) => {
      const isLarge = (probe.body?.length ?? 0) > largeBytes
      return at === 0 || isLarge || others.includes(purpose.requirement)
    })
  const isFile = creates === uploadOperation
  const added = isFile ? madeBy(client.journal, additionOperation).slice(0, 1) : []
  return [...made, ...added].map((one) => one.object!)
}

/**
 * A created object can be used at once, or `settleMs` later, and again at the end of the run, like those created before
 * and beside it.
 */
export const usable = relation(async (context) => {
  const { client, given, scenario } = context
  const { absent, operations } = given.target
  const creates = operationIn(context)
  const sendable = usesByPath(creates).filter(
    ({ operation: id }) =>
      absent[id] === undefined &&
      (id === 'files.retrieve' || id === 'jobs.create' || operations[id]?.body !== undefined),
  )
  const uses = sampled(given, context.requirement.id, sendable)
  const last = uses.at(-1)
  if (!last)
    throw new NotExercised(`no operation that uses ${operation(creates).creates?.what} is declared`)
  const isAtEnd = !scenario && given.options.depth === 'full'
  const isPlainUpload = creates === uploadOperation && !scenario
  const also = new Set<string>()
  const made = await inScenario(context, creates, async () => {
    const make = grantedProbe(context, creates, () => distinctRequest(client, given, creates))
    // Prepared first, so that nothing delays the use after the creation.
    for (const one of uses) await orElse(client, () => requestOf(client, given, one, ''))
    if (isPlainUpload && isAtEnd)
      await orElse(client, async () => also.add(await uploadSample(client, given, 'other')))
    const id = isPlainUpload
      ? await upload(client, given, contentOf(given))
      : namedId(given, await create(context, make))
    await inBatches(uses, (one) => use(context, one, id))
    return id
  })
  const atEnd = async (): Promise<void> => {
    for (const id of madeBefore(context, creates)) if (id !== made) also.add(id)
    const ids = [made, ...also]
    await awaitAge(
      client,
      ids.map((id) => given.objects.madeAt.get(id) ?? 0),
    )
    const all = ids.flatMap((id) => (id === made ? uses : [last]).map((one) => ({ id, one })))
    await inBatches(all, ({ id, one }) => use(context, one, id))
  }
  return isAtEnd ? atEnd : undefined
}, true)

export async function uploadTo(
  client: Client,
  given: Given,
  graphId: string,
  make = distinctRequest,
): Promise<Probe> {
  const probe = await make(client, given, uploadOperation)
  return { ...probe, query: { ...probe.query, graphId } }
}

async function attach(context: CheckContext, graph: string): Promise<Exchange> {
  const send = (make = distinctRequest): Promise<Exchange> =>
    context.send(() => uploadTo(context.client, context.given, graph, make), {
      isSuccess: countsAsGranted,
    })
  return resendAsDeclared(await send(), () => send(validRequest))
}

/** A file uploaded with graphId is in that graph: adding it again gives 409. */
export const attached = relation(async (context, further) => {
  const { client, given } = context
  const { graph = '' } = given.target.resources
  // A server that ignores graphId accepts an unknown graph: the declared one must be verified separately.
  const ofGraphs = isDeclared(given, additionOperation) ? additionOperation : 'graphs.query'
  await grantedControl(client, given, ofGraphs, 'cannot verify that resources.graph exists')
  further.push(await attachAndAdd(context, graph))
  if (given.options.depth === 'full' && isDeclared(given, 'graphs.create') && !further.some(isOver))
    further.push(await furtherCase(client, () => attachToCreated(context, graph)))
  // Without additions, only the upload is shown.
  return further.some(isOver) || !canAdd(given) ? concluded(further) : undefined
})

/**
 * The file may be processed for a while: each attempt adds a new one, once, after a longer pause. A server may keep only
 * the last one that was attached. The file is one whose addition was refused.
 */
async function attachAndAdd(
  context: CheckContext,
  graph: string,
): Promise<CaseVerdict & { readonly file?: string }> {
  const { client, given } = context
  let last: Exchange | undefined
  for (const ms of [0, ...laterAttempts(given)]) {
    const exchange = await attach(context, graph)
    const found = grantedFinding(context, exchange, 'a 2xx')
    if (found || !canAdd(given)) return findingVerdict(found, { exchange, what: 'with graphId' })
    const file = namedId(given, exchange)
    await attach(context, graph)
    await pause(client, ms)
    last = await add(context, graph, file)
    if (isConflict(last) && !last.unanswered) return { outcome: 'held', cases: 1, file }
  }
  // Enough time has passed: is it refused in place of the 409, or would any file be?
  if (!isTaken(last!)) await add(context, graph)
  throw new NotExercised(`the addition of the file ${wasAnswered(last!)}`)
}

/** Uploads to a new graph: a server may attach to a known one, whichever is requested, or to all of them. */
async function attachToCreated(context: CheckContext, other: string): Promise<CaseVerdict> {
  const { client, given } = context
  const graph = await makeOne(client, given, 'graphs.create')
  const { file, ...verdict } = await attachAndAdd(context, graph)
  if (file === undefined || !isConflict(await add(context, other, file))) return verdict
  const plain = await upload(client, given, contentOf(given))
  for (const one of [graph, other]) if (!isTaken(await add(context, one, plain))) return verdict
  // A file in processing may be refused for a while.
  await pause(client, given.target.limits.settleMs)
  await add(context, other, file)
  return verdict
}

export const ownRecord = relation(async (context) => {
  const { client, given } = context
  if (!isDeclared(given, 'files.upload')) throw new NotExercised('declare files.upload')
  // Both exist before either is read: a server may return the latest record.
  const file = contentOf(given)
  for (const id of [await upload(client, given, file), await upload(client, given, file)]) {
    const send = context.send(() => retrieval(given, id), { isSuccess: isTaken })
    need('the retrieval of an uploaded file', await send)
  }
})
