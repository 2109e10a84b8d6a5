import { requirementOf, type RequirementId } from '../../catalogue/catalogue.ts'
import { type Condition, materialOf } from '../checks/case.ts'
import {
  countsAsGranted,
  createdId,
  type Verdict,
  type Exchange,
  type HistoryEvent,
  isThrottling,
  NotExercised,
  type Probe,
  type Purpose,
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
  requireControl,
  operationIn,
} from '../checks/valid-request.ts'
import { malformedJsonBody, pointerOf, refused, wrongContentType } from '../checks/faults.ts'
import {
  concluded,
  findingVerdict,
  furtherCase,
  joined,
  type Judged,
  type CaseVerdict,
} from '../checks/rules.ts'
import {
  freshFilename,
  laterAttempts,
  isTaken,
  namedId,
  need,
  resendAsDeclared,
  retryWhileSettling,
  sendAtOnce,
  sharedBy,
  upload,
} from '../checks/created.ts'
import {
  type Given,
  type Client,
  operationProbe,
  allEnded,
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
  isMissing,
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
  /** Judges a case of its own, which reports its own reason if it cannot be judged. */
  also: (act: Parameters<typeof furtherCase>[1]) => Promise<void>,
) => Promise<(() => Promise<void>) | undefined> | Promise<void>

/**
 * A requirement whose rule judges the whole run, after `send` and what that returns for the end of the run: even if not
 * everything could be sent, because a server answers no more, it may have shown enough.
 * @param takesScenario whether `send` sends what its scenario says; else a scenario's request is judged alone
 */
export const relation =
  (send: Send, takesScenario = false): Judge =>
  async (context) => {
    const { client, requirement, scenario } = context
    if (scenario && !takesScenario) return grantedByScenario(context)
    const cases: Judged[] = []
    const sendAll = <T>(act: () => Promise<T>) =>
      orElse(client, act, ({ reason: why }) => void cases.push({ outcome: 'open', why }))
    const judge = (): Verdict => {
      const verdict = decisive(context, relationRule(requirement.id)(client.journal))
      const own = concluded(cases)
      return verdict.outcome === 'open' && own.cases ? own : joined([own, verdict])
    }
    const atEnd = await sendAll(async () =>
      send(context, async (act) => void cases.push(await furtherCase(client, act))),
    )
    const verdict = judge()
    if (!atEnd || verdict.outcome === 'broken') return verdict
    return { outcome: 'later', cases: verdict.cases ?? 0, judge: () => sendAll(atEnd).then(judge) }
  }

/** Sends a valid creation, with a change; with content of its own, else as declared. */
async function sendCreation(
  context: CheckContext,
  operation = operationIn(context),
  change = (valid: Probe): Probe => valid,
): Promise<Exchange> {
  const { client, given } = context
  const send = (make: typeof validRequest): Promise<Exchange> => {
    const own = async (): Promise<Probe> => change(await make(client, given, operation))
    return context.send(grantedProbe(context, operation, own), { isSuccess: countsAsGranted })
  }
  return resendAsDeclared(await send(distinctRequest), () => send(validRequest))
}

/** Throws `NotExercised` if it is not accepted. */
const create = async (...creation: Parameters<typeof sendCreation>): Promise<Exchange> =>
  need('a creation', await sendCreation(...creation), countsAsGranted)

const inGraph =
  (graph: string) =>
  (addition: Probe): Probe => ({ ...addition, params: { graph_id: graph } })

/** Of a file that was uploaded before. */
async function addition(given: Given, graph: string, file: string): Promise<Probe> {
  const probe = { ...draftRequest(given, additionOperation), credential: await given.keys.full() }
  return inGraph(graph)(withFile(given, probe, file))
}

const add = async (context: CheckContext, graph: string, file: string): Promise<Exchange> =>
  context.send(await addition(context.given, graph, file), { role: 'setup' })

const retrieval = (given: Given, id: string): Promise<Probe> =>
  operationProbe(given, 'files.retrieve', { params: { file_id: id } })

/**
 * Sends a request about a new object, again while the target may still process it. Looks for the file of an addition
 * that found no file, or no graph: it may be missing.
 */
async function look(
  context: CheckContext,
  source: Source,
  isGood: (exchange: Exchange) => boolean,
  madeAt: number | undefined,
  purpose: Partial<Purpose> = {},
): Promise<Exchange> {
  const { client, given } = context
  const send = (): Promise<Exchange> => context.send(source, purpose, { isUrgent: true })
  const exchange = await retryWhileSettling(client, given, send, isGood, madeAt)
  const { creates: file, operation } = exchange.probe
  const isMissed = operation === additionOperation && isMissing(exchange.response ?? {})
  if (isMissed && file !== undefined && given.target.absent['files.retrieve'] === undefined) {
    // Without an answer, the retrieval shows nothing about the file or the graph.
    const poll = { requirement: null, role: 'poll' } as const
    await orElse(client, () => ask(client, () => retrieval(given, file), poll))
  }
  return exchange
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

export const ownId = relation(async (context, also) => {
  const { client, given, scenario } = context
  const operation = operationIn(context)
  await requireControl(context, operationIn(context))
  const make = grantedProbe(context, operation, () => distinctRequest(client, given, operation))
  const sent = await together(context, make)
  // A guardrail, a lost answer or a limit may have affected one, and some targets accept only one at a time.
  for (let more = 2; more > 0 && sent.filter(isTaken).length < 2; more--)
    sent.push(await sendCreation(context))
  if (operation === uploadOperation && !scenario && given.options.depth === 'full') {
    const file = contentOf(given)
    const name = freshFilename(given, file.filename)
    // If the name is refused the second time, this shows nothing.
    for (let time = 0; time < 2; time++)
      await orElse(client, () => upload(client, given, file, true, name))
  }
  const limited = sent.find(isThrottling) ?? sent[0]!
  const ids = sent.flatMap((exchange) => createdId(given, exchange) ?? [])
  need('fewer than two concurrent creations returned an id: one', limited, () => ids.length > 1)
  if (given.target.limits.concurrency < 2)
    await also(async () => ({ outcome: 'open', why: { reason: needTwo } }))
  return async () => undefined
}, true)

/** @param more further refusals */
export const noEffect = (more: (context: CheckContext) => readonly Refusal[] = () => []): Judge =>
  relation(async (context, also) => {
    const { client, given, requirement } = context
    await requireControl(context, operationIn(context))
    const everywhere = await refusalsOf(client, given, operationIn(context))
    const refusals = sampled(given, requirement.id, [...everywhere, ...more(context)])
    await allEnded(refusals.map((refusal) => also(() => lookAfter(context, refusal))))
  })

/** Repeats the creation after its refusal, with another one in between; three times, unless accepted. */
async function lookAfter(
  context: CheckContext,
  { requirement: of, what, change }: Refusal,
): Promise<void> {
  const { client, given } = context
  const operation = operationIn(context)
  const isOfFault = (exchange: Exchange) => ofFaults.includes(exchange.response?.status ?? 0)
  // A new file may be unknown for a while.
  const about = `${operation}/${of}`
  const setup = { about, what, isSuccess: isOfFault, role: 'setup', badInput: true } as const
  const isSuccess = (one: Exchange): boolean => countsAsGranted(one) || isConflict(one)
  for (let look = 1; look <= timesAlike; look++) {
    const probe = await validRequest(client, given, operation)
    const faulty = await context.send(await change(probe), setup)
    need('the creation that should be refused', faulty, isOfFault)
    const again = await context.send(probe, { isSuccess }, { fresh: true, isHeld: true })
    if (isTaken(again)) return
    // An unanswered one may have created what this one conflicts with.
    need('the creation after a refused one', again, () => !again.unanswered && isRefused(again))
    // One more per attempt: with a fixed order, a periodic failure would seem to follow a refusal.
    for (let count = 0; count < look; count++) await create(context)
  }
}

export const onceAtOnce = relation(async (context) => {
  const { client, given, requirement } = context
  if (given.target.limits.concurrency < 2) throw new NotExercised(needTwo)
  await requireControl(context, operationIn(context))
  const rule = relationRule(requirement.id)
  // Again while that tells nothing: the accepted one may be lost, others throttled, and one crash may be chance.
  for (let left = 3; left > 0 && rule(client.journal).outcome === 'open'; left--) {
    const probe = await validRequest(client, given, operationIn(context))
    await together(context, () => probe)
  }
})

/** Requests what exists until it is refused: each replica may process an addition for a while. */
async function again(context: CheckContext, { probe, endedAt }: Exchange): Promise<void> {
  const id = operationIn(context)
  const { exists, same, what } = creatorOf(id)
  const purpose = { badInput: true, expects: exists, what: `with ${same} as ${what} that exists` }
  const isGood = (one: Exchange): boolean => id !== additionOperation || isConflict(one)
  await look(context, refused(probe), isGood, endedAt, purpose)
}

/** What exists is not created again: neither the second and third time, nor after another creation. */
export const once = relation(async (context, also) => {
  const { client, given, requirement } = context
  const id = operationIn(context)
  const isAddition = id === additionOperation
  await requireControl(context, operationIn(context))
  const isQuick = given.options.depth === 'quick'
  const first = await create(context)
  if (isAddition && !isQuick) await together(context, () => validRequest(client, given, id))
  await again(context, first)
  if (isQuick) return undefined
  if (isAddition) await also(() => addTwin(context, first.probe))
  await sendCreation(context)
  if (
    isAddition &&
    canAdd(given) &&
    isDeclared(given, uploadOperation) &&
    isDeclared(given, 'graphs.create')
  )
    await also(() => addToCreated(context))
  return async () => {
    // A server may only check new names, not those in use. A scenario may create in another account.
    const usable = `${id}/2xx-usable`
    const isFor = (one: HistoryEvent, of: string) => one.exchange.purpose.requirement === of
    const all = madeBy(client.journal, id)
    const others = all.filter((one) => !isFor(one, usable) || !given.target.scenarios[usable])
    const hasHeld = ({ object = '' }: HistoryEvent): boolean =>
      client.journal.within(object).some((one) => one.isGranted)
    const used = others.find(hasHeld) ?? others.find((one) => isFor(one, usable))
    const made = all
      .filter((one) => one === used || isFor(one, requirement.id))
      .map((one) => one.exchange)
    await awaitAge(client, made)
    // Of simultaneously added files, a server may have kept only the last one. If it takes one too soon, the next waits.
    for (const one of made) await again(context, one)
  }
})

/** Adds another file under the name of one in the declared graph: it is no duplicate. */
async function addTwin(context: CheckContext, first: Probe): Promise<CaseVerdict> {
  const { client, given } = context
  const { journal } = client
  const name = journal.of(first.creates ?? '')[0]?.name
  const file = await orElse(client, () => upload(client, given, contentOf(given), true, name))
  const held = { outcome: 'held', cases: 0 } as const
  if (!file || journal.of(file).some((one) => one.within !== undefined)) return held
  // A refusal is judged here alone.
  const fault = 'file: under a name in use'
  const probe = { ...(await addition(given, first.params['graph_id']!, file)), fault }
  const twin = await context.send(probe, { isSuccess: isTaken })
  // An unanswered addition may have added it.
  if (!isConflict(twin) || twin.unanswered || !isTaken(await sendCreation(context))) return held
  const what = `of a file under the name of another one in the graph, ${name}`
  const expected = 'no 409: it is another file, with an id of its own'
  return { outcome: 'broken', evidence: { exchange: twin, what, expected } }
}

const canAdd = (given: Given): boolean =>
  isDeclared(given, additionOperation) && pointerOf(given, additionOperation, 'file') !== undefined

/** Adds a file twice to a graph that the run creates, and again after a request for its name. */
async function addToCreated(context: CheckContext): Promise<void> {
  const creation = await create(context, 'graphs.create')
  const graph = namedId(context.given, creation)
  const first = await create(context, additionOperation, inGraph(graph))
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
  const source = (): Promise<Probe> => requestOf(client, given, one, id)
  const exchange = await look(context, source, isUsable, given.objects.madeAt.get(id))
  if (isUsable(exchange)) return
  // A retrieval without any answer has failed.
  if (!(one.operation === 'files.retrieve' && exchange.unansweredTwice)) answered(exchange)
  if (isDeclared(given, one.operation)) await control(client, given, one.operation)
}

/** Requirements whose objects are used again at the end: made simultaneously, requested twice, attached. */
export const alsoMadeFor = (creates: string): RequirementId[] =>
  ['2xx-own-id', '400-duplicate-name', '2xx-attached-to-graph'].map(
    (condition) => `${creates}/${condition}` as RequirementId,
  )

const largeBytes = 64 * 1024

/** Objects used again at the end: of each media type the first, large ones, those of other requirements, a file in a graph. */
function madeBefore({ client, requirement }: CheckContext, creates: OperationId) {
  const { doomed } = sharedBy(client)
  const ids: readonly (string | null)[] = [requirement.id, ...alsoMadeFor(creates)]
  const made = madeBy(client.journal, creates).filter(
    (one) => one.request === 'valid' && !doomed.has(one.object!),
  )
  const isFile = creates === uploadOperation
  const chosen = made.filter((one, at) => {
    const { probe, purpose } = one.exchange
    // Late creations of another charset would be waited for.
    const isFirst = made.findIndex((other) => !isFile || other.label === one.label) === at
    return isFirst || (probe.body?.length ?? 0) > largeBytes || ids.includes(purpose.requirement)
  })
  return [...chosen, ...(isFile ? madeBy(client.journal, additionOperation).slice(0, 1) : [])]
}

/**
 * A created object can be used at once, or `settleMs` later, and again at the end of the run, like those created before
 * and beside it.
 */
export const usable = relation(async (context) => {
  const { client, given, requirement, scenario } = context
  const { absent, operations } = given.target
  const creates = operationIn(context)
  const sendable = usesByPath(creates).filter(
    ({ operation: id }) =>
      absent[id] === undefined &&
      (id === 'files.retrieve' || id === 'jobs.create' || operations[id]?.body !== undefined),
  )
  const uses = sampled(given, requirement.id, sendable)
  if (uses.length === 0)
    throw new NotExercised(`no operation that uses ${operation(creates).creates?.what} is declared`)
  const isAtEnd = !scenario && given.options.depth === 'full'
  await inScenario(context, creates, async () => {
    // Prepared first, so that nothing delays the use after the creation.
    for (const one of uses) await orElse(client, () => requestOf(client, given, one, ''))
    if (creates === uploadOperation && isAtEnd)
      await orElse(client, () => uploadSample(client, given, 'other'))
    const id = namedId(given, await create(context))
    await allEnded(uses.map((one) => use(context, one, id)))
  })
  if (!isAtEnd) return undefined
  return async () => {
    const made = madeBefore(context, creates)
    await awaitAge(client, made)
    const useAgain = async ({ exchange, object = '' }: HistoryEvent): Promise<void> => {
      const isOwn = exchange.purpose.requirement === requirement.id
      for (const one of isOwn ? uses : uses.slice(-1)) await use(context, one, object)
    }
    await allEnded(made.map(useAgain))
  }
}, true)

export const toGraph =
  (graphId: string) =>
  (upload: Probe): Probe => ({ ...upload, query: { ...upload.query, graphId } })

/** A file uploaded with graphId is in that graph: adding it again gives 409. */
export const attached = relation(async (context, also) => {
  const { client, given } = context
  const { graph = '' } = given.target.resources
  // A server that ignores graphId accepts an unknown graph: the declared one must be verified separately.
  const ofGraphs = isDeclared(given, additionOperation) ? additionOperation : 'graphs.query'
  await grantedControl(client, given, ofGraphs, 'cannot verify that resources.graph exists')
  await also(() => attachAndAdd(context, graph))
  if (given.options.depth === 'full' && isDeclared(given, 'graphs.create'))
    await also(async () =>
      attachAndAdd(context, await makeOne(client, given, 'graphs.create'), graph),
    )
})

/**
 * The file may be processed for a while: each attempt adds a new one, once, after a longer pause, and after another one
 * was attached, since a server may keep only the last. One that is in the graph is added to the other graph, too.
 */
async function attachAndAdd(
  context: CheckContext,
  graph: string,
  other?: string,
): Promise<CaseVerdict> {
  const { client, given } = context
  const attach = (): Promise<Exchange> => sendCreation(context, uploadOperation, toGraph(graph))
  let uploaded = await attach()
  const found = grantedFinding(context, uploaded, 'a 2xx')
  const verdict = findingVerdict(found, { exchange: uploaded, what: 'with graphId' })
  // Without additions, only the upload is shown.
  if (found || !canAdd(given)) return verdict
  let last: Exchange | undefined
  for (const ms of [0, ...laterAttempts(given)]) {
    const file = namedId(given, uploaded)
    uploaded = await attach()
    await pause(client, ms)
    last = await add(context, graph, file)
    if (!isConflict(last) || last.unanswered) continue
    if (other !== undefined) await addElsewhere(context, file, [graph, other])
    return verdict
  }
  // Enough time has passed: is it refused in place of the 409, or would any file be?
  if (!isTaken(last!)) await sendCreation(context, additionOperation, inGraph(graph))
  throw new NotExercised(`the addition of the file ${wasAnswered(last!)}`)
}

/** A server may attach to a known graph, whichever is requested, or to all of them. */
async function addElsewhere(
  context: CheckContext,
  file: string,
  [graph, other]: readonly [string, string],
): Promise<void> {
  const { client, given } = context
  if (!isConflict(await add(context, other, file))) return
  const plain = await upload(client, given, contentOf(given))
  for (const one of [graph, other]) if (!isTaken(await add(context, one, plain))) return
  // A file in processing may be refused for a while.
  await pause(client, given.target.limits.settleMs)
  await add(context, other, file)
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
