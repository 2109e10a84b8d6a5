import { requirementOf, type RequirementId } from '../../catalogue/catalogue.ts'
import { type Condition, materialOf } from '../checks/case.ts'
import {
  countsAsGranted,
  type Verdict,
  type Exchange,
  type HistoryEvent,
  NotExercised,
  type Probe,
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
import { pointerOf, refused } from '../checks/faults.ts'
import {
  concluded,
  findingVerdict,
  furtherCase,
  joined,
  type CaseVerdict,
  type Judged,
} from '../checks/rules.ts'
import {
  freshFilename,
  isTaken,
  namedId,
  resendAsDeclared,
  need,
  whileSettling,
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
} from '../../harness/client/index.ts'
import {
  awaitAge,
  type CheckContext,
  decisive,
  type Judge,
  grantedFinding,
  whySilent,
} from '../../harness/run/index.ts'
import { everyFault } from '../general.suite.ts'
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

/**
 * The first case of each fault for which every creation is refused, if the target declares enough for any.
 * @param own further ones of the operation
 */
export async function refusalsOf(
  client: Client,
  given: Given,
  operation: OperationId,
  own: Readonly<Record<string, Condition>> = {},
): Promise<Refusal[]> {
  const refusals: Refusal[] = []
  for (const [requirement, condition] of Object.entries({ ...own, ...everyFault })) {
    const id = `${operation}/${requirement}` as RequirementId
    const material = materialOf(given, requirementOf(id), operation)
    const cases = await orElse(client, async () =>
      condition.casesIn(material, { given }, async () => material.valid),
    )
    const [first] = cases ?? []
    if (!first) continue
    const { what, change } = first
    refusals.push({ requirement, what, change: (valid) => refused(change(valid)) })
  }
  return refusals
}

const isConflict = (exchange: Exchange): boolean => exchange.response?.status === 409

interface Sent {
  /** What was shown besides, or why a state could not be caused. */
  readonly cases?: readonly Judged[]
  /** Sends more at the end of the run, after which the rule judges once more. */
  readonly atEnd?: () => Promise<void>
}

const unsent = (reason: string): Sent => ({ cases: [{ outcome: 'open', why: { reason } }] })

/**
 * A requirement whose rule judges the whole run, after `send`: even if not everything could be sent, because a server
 * answers no more, it may have shown enough.
 * @param takesScenario whether `send` sends what its scenario says; else a scenario's request is judged alone
 */
export const relation =
  (
    send: (context: CheckContext) => Promise<Sent | undefined> | Promise<void>,
    takesScenario = false,
  ): Judge =>
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
    const sent = await sendAll(async () => send(context))
    cases.push(...(sent?.cases ?? []))
    const verdict = judge()
    const atEnd = sent?.atEnd
    if (!atEnd || verdict.outcome === 'broken') return verdict
    return { outcome: 'later', cases: verdict.cases ?? 0, judge: () => sendAll(atEnd).then(judge) }
  }

type Change = (valid: Probe) => Probe

/** Sends a valid creation, with a change; with content of its own, else as declared. */
async function sendCreation(
  context: CheckContext,
  operation = operationIn(context),
  change: Change = (valid) => valid,
): Promise<Exchange> {
  const { client, given } = context
  const send = (make: typeof validRequest): Promise<Exchange> => {
    const own = async (): Promise<Probe> => change(await make(client, given, operation))
    return context.send(grantedProbe(context, operation, own), { isSuccess: countsAsGranted })
  }
  return resendAsDeclared(await send(distinctRequest), () => send(validRequest))
}

/** Throws `NotExercised` if it is not accepted. */
const create = async (...of: Parameters<typeof sendCreation>): Promise<Exchange> =>
  need('a creation', await sendCreation(...of), countsAsGranted)

const inGraph =
  (graph: string): Change =>
  (addition) => ({ ...addition, params: { graph_id: graph } })

const retrieval = (given: Given, id: string): Promise<Probe> =>
  operationProbe(given, 'files.retrieve', { params: { file_id: id } })

/**
 * Sends a request about a new object, again while the target may still process it. Looks for the file of an addition
 * that found no file, or no graph: it may be missing.
 */
async function look(
  context: CheckContext,
  send: () => Promise<Exchange>,
  isGood: (exchange: Exchange) => boolean,
  madeAt: number | undefined,
): Promise<Exchange> {
  const { client, given } = context
  const exchange = await whileSettling(client, given, send, isGood, madeAt)
  const { creates: file, operation } = exchange.probe
  const isMissed = operation === additionOperation && isMissing(exchange.response ?? {})
  if (isMissed && file !== undefined) await awaitFile(context, file)
  return exchange
}

/** Retrieves a new file until it is known; without an answer, that shows nothing. */
async function awaitFile(context: CheckContext, file: string): Promise<void> {
  const { client, given } = context
  if (given.target.absent['files.retrieve'] !== undefined) return
  const setup = { requirement: null, role: 'setup', isSuccess: isTaken } as const
  await orElse(client, () => context.send(() => retrieval(given, file), setup))
}

/** How many creations are sent at once. */
const atOnce = { full: 4, quick: 2 }
const needTwo = 'concurrent creations need limits.concurrency of 2 or more'

export const ownId = relation(async (context) => {
  const { client, given, requirement, scenario } = context
  const { depth } = given.options
  const operation = operationIn(context)
  await requireControl(context)
  const make = grantedProbe(context, operation, () => distinctRequest(client, given, operation))
  const sent = await sendAtOnce(context, atOnce[depth], make, requirement.id)
  // A guardrail, a lost answer or a limit may have affected one, and some targets accept only one at a time.
  while (sent.filter(isTaken).length < 2) sent.push(await create(context))
  if (operation === uploadOperation && !scenario && depth === 'full') {
    const file = contentOf(given)
    const name = freshFilename(given, file.filename)
    // If the name is refused the second time, this shows nothing.
    for (let time = 0; time < 2; time++)
      await orElse(client, () => upload(client, given, file, true, name))
  }
  const isAlone = given.target.limits.concurrency < 2
  return { ...(isAlone && unsent(needTwo)), atEnd: async () => undefined }
}, true)

/** @param more further refusals */
export const noEffect = (more: (context: CheckContext) => readonly Refusal[] = () => []): Judge =>
  relation(async (context) => {
    const { client, given, requirement } = context
    await requireControl(context)
    const everywhere = await refusalsOf(client, given, operationIn(context))
    const refusals = sampled(given, requirement.id, [...everywhere, ...more(context)])
    await allEnded(refusals.map((refusal) => lookAfter(context, refusal)))
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
    if (!again.unanswered) need('the creation after a refused one', again, () => isRefused(again))
    // One more per attempt: with a fixed order, a periodic failure would seem to follow a refusal.
    for (let count = 0; count < look; count++) await create(context)
  }
}

export const onceAtOnce = relation(async (context) => {
  const { client, given, requirement } = context
  if (given.target.limits.concurrency < 2) return unsent(needTwo)
  await requireControl(context)
  const rule = relationRule(requirement.id)
  // Again while that tells nothing: the accepted one may be lost, others throttled, and one crash may be chance.
  for (let time = 0; time < 3 && rule(client.journal).outcome === 'open'; time++) {
    const probe = await validRequest(client, given, operationIn(context))
    await sendAtOnce(context, atOnce[given.options.depth], () => probe, requirement.id, time > 0)
  }
  return undefined
})

/** Requests what exists until it is refused: each replica may process an addition for a while. */
async function again(context: CheckContext, { probe, endedAt }: Exchange): Promise<void> {
  const id = operationIn(context)
  const { exists, same, what } = creatorOf(id)
  const purpose = { badInput: true, expects: exists, what: `with ${same} as ${what} that exists` }
  const isGood = (one: Exchange): boolean => id !== additionOperation || isConflict(one)
  const send = () => context.send(refused(probe), purpose, { isUrgent: true })
  await look(context, send, isGood, endedAt)
}

/** What exists is not created again: neither the second and third time, nor after another creation. */
export const once = relation(async (context) => {
  const { client, given, requirement } = context
  const { scenarios } = given.target
  const id = operationIn(context)
  const isAddition = id === additionOperation
  await requireControl(context)
  const first = await create(context)
  await again(context, first)
  if (given.options.depth === 'quick') return undefined
  const further: Parameters<typeof furtherCase>[1][] = [() => addTwin(context, first.probe)]
  if (isDeclared(given, 'graphs.create')) further.push(() => addToCreated(context))
  // At once: these objects are looked at again when they are old enough.
  const cases = isAddition ? further.map((one) => furtherCase(client, one)) : []
  await allEnded<unknown>([sendCreation(context), ...cases])
  if (isAddition) await addAtOnce(context)
  const atEnd = async (): Promise<void> => {
    const isOwn = ({ exchange }: HistoryEvent) => exchange.purpose.requirement === requirement.id
    // A server may only check new names, not those in use. A scenario may create in another account.
    const isUsed = ({ exchange, object = '' }: HistoryEvent): boolean =>
      !scenarios[exchange.purpose.requirement ?? ''] &&
      client.journal.within(object).some((one) => one.isGranted)
    const all = madeBy(client.journal, id)
    const used = all.find(isUsed)
    const made = all.filter((one) => one === used || isOwn(one)).map((one) => one.exchange)
    await awaitAge(client, made)
    // If a server takes one too soon, the next waits.
    for (const one of made) await again(context, one)
  }
  return { cases: await Promise.all(cases), atEnd }
})

/** Adds new files at the same moment: a server may keep only one of them, which shows when each is added again. */
async function addAtOnce(context: CheckContext): Promise<void> {
  const { client, given, requirement } = context
  const make = (): Promise<Probe> => validRequest(client, given, additionOperation)
  const additions = await allEnded(Array.from({ length: atOnce.full }, make))
  for (const { creates = '' } of additions) await awaitFile(context, creates)
  // One whose connection was closed is replaced.
  const next = () => additions.pop() ?? make()
  await sendAtOnce(context, additions.length, next, requirement.id)
}

/** Adds another file under the name of one in the declared graph: it is no duplicate. */
async function addTwin(context: CheckContext, first: Probe): Promise<CaseVerdict | undefined> {
  const { client, given } = context
  const { journal } = client
  const name = journal.of(first.creates ?? '')[0]?.name
  const file = await orElse(client, () => upload(client, given, contentOf(given), true, name))
  if (!file || journal.of(file).some((one) => one.within !== undefined)) return undefined
  // A refusal is judged here alone.
  const probe = { ...withFile(given, first, file), fault: 'file: under a name in use' }
  const exchange = await context.send(probe, { isSuccess: isTaken })
  // An unanswered addition may have added it.
  const isSure = isConflict(exchange) && !exchange.unanswered
  if (!isSure || !isTaken(await sendCreation(context))) return undefined
  const what = `of a file under the name of another one in the graph, ${name}`
  const expected = 'no 409: it is another file, with an id of its own'
  return { outcome: 'broken', evidence: { exchange, what, expected } }
}

/** Adds a file to a graph that the run creates, and requests the name of that graph. */
async function addToCreated(context: CheckContext): Promise<void> {
  const graph = await create(context, 'graphs.create')
  const id = namedId(context.given, graph)
  await again(context, await create(context, additionOperation, inGraph(id)))
  const about = 'graphs.create/400-duplicate-name'
  await context.send(graph.probe, { role: 'setup', badInput: true, about })
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
  const send = () => context.send(() => requestOf(client, given, one, id), {}, { isUrgent: true })
  const exchange = await look(context, send, isUsable, given.objects.madeAt.get(id))
  if (isUsable(exchange)) return
  // A retrieval without any answer has failed.
  const silent = whySilent(exchange)
  if (silent && !(one.operation === 'files.retrieve' && exchange.unansweredTwice))
    throw new NotExercised(silent)
  if (isDeclared(given, one.operation)) await control(client, given, one.operation)
}

/** Requirements whose objects are used again at the end: made simultaneously, requested twice, attached. */
export const alsoMadeFor = (creates: string): RequirementId[] =>
  ['2xx-own-id', '400-duplicate-name', '2xx-attached-to-graph'].map(
    (condition) => `${creates}/${condition}` as RequirementId,
  )

/** Objects used again at the end: of each media type the first, a large one, those of other requirements, a file in a graph. */
function madeBefore({ client, requirement }: CheckContext, creates: OperationId) {
  const { doomed } = sharedBy(client)
  const ids: readonly (string | null)[] = [
    requirement.id,
    'envelope/large-body',
    ...alsoMadeFor(creates),
  ]
  const made = madeBy(client.journal, creates).filter(
    (one) => one.request === 'valid' && !doomed.has(one.object!),
  )
  const isFile = creates === uploadOperation
  // Late creations of another charset would be waited for.
  const isFirst = (one: HistoryEvent): boolean =>
    one === made.find((other) => !isFile || other.label === one.label)
  const chosen = made.filter(
    (one) => isFirst(one) || ids.includes(one.exchange.purpose.requirement),
  )
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
    return unsent(`no operation that uses ${operation(creates).creates?.what} is declared`)
  const isWhole = !scenario && given.options.depth === 'full'
  await inScenario(context, creates, async () => {
    // Prepared first, so that nothing delays the use after the creation.
    for (const one of uses) await orElse(client, () => requestOf(client, given, one, ''))
    if (creates === uploadOperation && isWhole)
      await orElse(client, () => uploadSample(client, given, 'other'))
    const id = namedId(given, await create(context))
    await allEnded(uses.map((one) => use(context, one, id)))
  })
  const atEnd = async (): Promise<void> => {
    const made = madeBefore(context, creates)
    await awaitAge(client, made)
    await allEnded(
      made.map(async ({ exchange, object = '' }) => {
        const isOwn = exchange.purpose.requirement === requirement.id
        for (const one of isOwn ? uses : uses.slice(-1)) await use(context, one, object)
      }),
    )
  }
  return isWhole ? { atEnd } : undefined
}, true)

export const toGraph =
  (graphId: string): Change =>
  (upload) => ({ ...upload, query: { ...upload.query, graphId } })

/** A file uploaded with graphId is in that graph: adding it again gives 409. */
export const attached = relation(async (context) => {
  const { client, given } = context
  const { graph = '' } = given.target.resources
  // A server that ignores graphId accepts an unknown graph: the declared one must be verified separately.
  const ofGraphs = isDeclared(given, additionOperation) ? additionOperation : 'graphs.query'
  await grantedControl(client, given, ofGraphs, 'cannot verify that resources.graph exists')
  const cases = [await furtherCase(client, () => attachAndAdd(context, graph))]
  if (given.options.depth === 'full' && isDeclared(given, 'graphs.create')) {
    const made = (): Promise<string> => makeOne(client, given, 'graphs.create')
    cases.push(await furtherCase(client, async () => attachAndAdd(context, await made(), graph)))
  }
  return { cases }
})

/**
 * The file may be processed for a while: each attempt adds a new one, once, after a longer pause, and after another one
 * was attached, since a server may keep only the last. One that is in the graph is added to the other graph, too: a
 * server may attach to a known graph, whichever is requested, or to all of them.
 */
async function attachAndAdd(
  context: CheckContext,
  graph: string,
  other?: string,
): Promise<CaseVerdict> {
  const { client, given } = context
  const attach = (): Promise<Exchange> => sendCreation(context, uploadOperation, toGraph(graph))
  const add = async (to: string, file: string): Promise<Exchange> => {
    const into = { operation: additionOperation, param: 'graph_id' } as const
    const probe = withFile(given, await requestOf(client, given, into, to), file)
    return context.send(probe, { role: 'setup' })
  }
  let uploaded = await attach()
  const found = grantedFinding(context, uploaded, 'a 2xx')
  const verdict = findingVerdict(found, { exchange: uploaded, what: 'with graphId' })
  const takesFiles = pointerOf(given, additionOperation, 'file') !== undefined
  // Without additions, only the upload is shown.
  if (found || !takesFiles || !isDeclared(given, additionOperation)) return verdict
  let file = ''
  const addNext = async (): Promise<Exchange> => {
    file = namedId(given, uploaded)
    uploaded = await attach()
    return add(graph, file)
  }
  const isIn = (one: Exchange): boolean => isConflict(one) && !one.unanswered
  const last = await whileSettling(client, given, addNext, isIn)
  if (!isIn(last)) {
    // Enough time has passed: is it refused in place of the 409, or would any file be?
    if (!isTaken(last)) await sendCreation(context, additionOperation, inGraph(graph))
    const reason = `the addition of the file ${wasAnswered(last)}`
    return { outcome: 'open', why: { reason } }
  }
  if (other === undefined) return verdict
  // A file in processing may be refused for a while.
  const isFree = (one: Exchange): boolean => !isConflict(one)
  if (isFree(await whileSettling(client, given, () => add(other, file), isFree))) return verdict
  const plain = await upload(client, given, contentOf(given))
  await awaitFile(context, plain)
  for (const one of [graph, other]) await add(one, plain)
  return verdict
}

export const ownRecord = relation(async (context) => {
  const { client, given } = context
  if (!isDeclared(given, 'files.upload')) return unsent('declare files.upload')
  // Both exist before either is read: a server may return the latest record.
  const file = contentOf(given)
  for (const id of [await upload(client, given, file), await upload(client, given, file)]) {
    const send = context.send(() => retrieval(given, id), { isSuccess: isTaken })
    need('the retrieval of an uploaded file', await send)
  }
  return undefined
})
