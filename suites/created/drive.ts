import type { RequirementId } from '../../catalogue/catalogue.ts'
import { refused } from '../checks/case.ts'
import {
  type Ask,
  countsAsGranted,
  type Verdict,
  type Exchange,
  type HistoryEvent,
  isMissing,
  isOpen,
  type Left,
  type Made,
  type Open,
  type Probe,
  type Purpose,
  type Source,
  timesAlike,
  wasAnswered,
  withChange,
  open,
} from '../../harness/journal/index.ts'
import {
  additionOperation,
  operationOf,
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
  operationIn,
  control,
  grantedControl,
  requireControl,
} from '../checks/valid-request.ts'
import { sampled } from '../checks/random.ts'
import { pointerOf } from '../checks/changes.ts'
import {
  concluded,
  findingVerdict,
  furtherCase,
  joined,
  type Judged,
  requestFor,
} from '../checks/rules.ts'
import {
  atOnce,
  firstOpen,
  freshFilename,
  inTurn,
  isConflict,
  isTaken,
  namedId,
  need,
  retrieval,
  sharedBy,
  together,
  upload,
} from '../checks/created.ts'
import { type Given, type Client, operationProbe, allEnded } from '../../harness/client/index.ts'
import {
  awaitAge,
  type CheckContext,
  judgeEvidence,
  type Judge,
  grantedFinding,
  sendAtOnce,
  whySilent,
} from '../../harness/run/index.ts'
import { uploadSample } from '../pdf-parse.suite.ts'
import { type RefusedChange, refusalsOf } from '../general.suite.ts'
import {
  creatorOf,
  isRefused,
  isUsable,
  ofFaults,
  madeBy,
  usesByPath,
  relationRule,
} from './rules.ts'

interface Sent {
  /** What was judged besides. */
  readonly cases?: Judged[]
  /** Sends more at the end of the run, after which the rule judges once more. */
  readonly atEnd?: () => Promise<Left>
}

export type Send = (context: CheckContext) => Promise<Sent | Left>

/**
 * Judges the whole run by the rule of the requirement, after `send`: even if not everything could be sent, the server may
 * have shown enough.
 * @param isScenarioAlone a scenario's request is judged by its own answer, since `send` does not send it
 */
export const relation =
  (send: Send, isScenarioAlone = false): Judge =>
  async (context) => {
    const { client, requirement, scenario } = context
    if (scenario && isScenarioAlone) return grantedByScenario(context)
    const sent = await send(context)
    const { cases = [], atEnd }: Sent = isOpen(sent) ? { cases: [sent] } : (sent ?? {})
    const judge = (): Verdict => {
      const verdict = judgeEvidence(context, relationRule(requirement)!(client.journal))
      const own = concluded(cases)
      return verdict.outcome === 'open' && own.cases ? own : joined([own, verdict])
    }
    const verdict = judge()
    if (!atEnd || verdict.outcome === 'broken') return verdict
    const judgeAtEnd = async (): Promise<Verdict> => {
      const left = await atEnd()
      if (left) cases.push(left)
      return judge()
    }
    return { outcome: 'later', cases: verdict.cases ?? 0, judge: judgeAtEnd }
  }

type Change = (valid: Probe) => Probe

/** With content of its own, else as declared. */
async function sendCreation(
  context: CheckContext,
  operation = operationIn(context),
  change: Change = (valid) => valid,
) {
  const { client, given } = context
  const source = (make: typeof validRequest) =>
    grantedProbe(context, operation, () => withChange(make(client, given, operation), change))
  const otherwise = operation === uploadOperation ? source(validRequest) : undefined
  return context.send(source(distinctRequest), { isSuccess: countsAsGranted }, { otherwise })
}

const create = async (...of: Parameters<typeof sendCreation>) =>
  need('a creation', await sendCreation(...of), countsAsGranted)

const inGraph =
  (graph: string): Change =>
  (addition) => ({ ...addition, params: { graph_id: graph } })

/**
 * Sends a request about a new object, again while the target may still process it. If an addition finds no file or no
 * graph, its file is looked for.
 */
async function look(
  context: CheckContext,
  source: Source,
  purpose: Partial<Purpose>,
  settles: Ask['settles'],
) {
  const exchange = await context.send(source, purpose, { isUrgent: true, settles })
  if (isOpen(exchange)) return exchange
  const { creates: file, operation } = exchange.probe
  const isMissed = operation === additionOperation && isMissing(exchange.response ?? {})
  if (isMissed && file !== undefined) await awaitFile(context, file)
  return exchange
}

/** Retrieves a new file until it is known. */
async function awaitFile(context: CheckContext, file: string): Promise<void> {
  const { given } = context
  if (given.target.absent['files.retrieve'] !== undefined) return
  const setup = { requirement: null, role: 'setup', isSuccess: isTaken } as const
  await context.send(() => retrieval(given, file), setup)
}

export const needTwo: Open = open('concurrent creations need limits.concurrency of 2 or more')

export const ownId: Send = async (context) => {
  const { client, given, scenario } = context
  const { depth } = given.options
  const operation = operationIn(context)
  const control = await requireControl(context)
  if (isOpen(control)) return control
  const make = grantedProbe(context, operation, () => distinctRequest(client, given, operation))
  const sent = await sendAtOnce(client, requestFor(context, 'at once', make, {}), atOnce[depth])
  if (isOpen(sent)) return sent
  // A guardrail, a lost answer or a limit may have affected one, and some targets accept only one at a time.
  while (sent.filter(isTaken).length < 2) {
    const made = await create(context)
    if (isOpen(made)) return made
    sent.push(made)
  }
  if (operation === uploadOperation && !scenario && depth === 'full') {
    const file = contentOf(given)
    if (isOpen(file)) return file
    const name = freshFilename(given, file.filename)
    // If the name is refused the second time, this shows nothing.
    for (let time = 0; time < 2; time++) await upload(client, given, file, true, name)
  }
  const isAlone = given.target.limits.concurrency < 2
  return { cases: isAlone ? [needTwo] : [], atEnd: async () => undefined }
}

/** @param more further refusals */
export const noEffect = (
  more: (context: CheckContext) => readonly RefusedChange[] = () => [],
): Judge =>
  relation(async (context) => {
    const { given, requirement } = context
    const control = await requireControl(context)
    if (isOpen(control)) return control
    const everywhere = await refusalsOf(given, operationIn(context))
    const refusals = sampled(given, requirement.id, [...everywhere, ...more(context)])
    return together(refusals, (refusal) => lookAfter(context, refusal))
  }, true)

/** Repeats a creation after its refusal, three times unless it is accepted, with others in between. */
async function lookAfter(
  context: CheckContext,
  { purpose, change }: RefusedChange,
): Promise<Exchange | Left> {
  const { client, given } = context
  const operation = operationIn(context)
  const isOfFault = (exchange: Exchange) => ofFaults.includes(exchange.response?.status ?? 0)
  const isSuccess = (one: Exchange) => countsAsGranted(one) || isConflict(one)
  const isClear = (one: Exchange) => isTaken(one) || isRefused(one)
  for (let look = 1; look <= timesAlike; look++) {
    const probe = await validRequest(client, given, operation)
    // A new file may be unknown for a while.
    const faulty = { ...purpose, isSuccess: isOfFault }
    const sent = await context.send(() => withChange(probe, change), faulty)
    const refusal = need('the creation that should be refused', sent, isOfFault)
    if (isOpen(refusal)) return refusal
    const next = await context.send(() => probe, { isSuccess }, { fresh: true })
    const again = need('the creation after a refused one', next, isClear)
    if (isOpen(again) || isTaken(again)) return again
    // One more each time, so that no periodic failure seems to follow a refusal.
    const left = await inTurn(Array.from({ length: look }), () => create(context))
    if (left) return left
  }
  return undefined
}

export const noDuplicateAtOnce: Send = async (context) => {
  const { client, given, requirement } = context
  if (given.target.limits.concurrency < 2) return needTwo
  const control = await requireControl(context)
  if (isOpen(control)) return control
  const rule = relationRule(requirement)!
  // Again while that says nothing: the accepted one may be lost, others throttled, and one crash may be chance.
  for (let time = 0; time < 3 && rule(client.journal).outcome === 'open'; time++) {
    const probe = await control.valid()
    const request = requestFor(context, 'at once', () => probe, {})
    const size = atOnce[given.options.depth]
    const sent = await sendAtOnce(client, { ...request, fresh: time > 0 }, size)
    if (isOpen(sent)) return sent
  }
  return undefined
}

/** Requests what exists until it is refused: each replica may process an addition for a while. */
async function again(context: CheckContext, made: Exchange | Open) {
  if (isOpen(made)) return made
  const id = operationIn(context)
  const { exists, same, what } = creatorOf(id)
  const purpose = { badInput: true, expects: exists, what: `with ${same} as ${what} that exists` }
  const isGood = (one: Exchange) => id !== additionOperation || isConflict(one)
  return look(context, refused(made.probe), purpose, { since: made.endedAt, isGood })
}

/** What exists is not created again: not the second and third time, nor after another creation. */
export const noDuplicate: Send = async (context) => {
  const { client, given, requirement } = context
  const { scenarios } = given.target
  const id = operationIn(context)
  const isAddition = id === additionOperation
  const control = await requireControl(context)
  if (isOpen(control)) return control
  const first = await create(context)
  if (isOpen(first)) return first
  const second = await again(context, first)
  if (isOpen(second)) return second
  if (given.options.depth === 'quick') return undefined
  const toCreated = isDeclared(given, 'graphs.create') ? [addToCreated] : []
  const further = isAddition ? [addTwin, ...toCreated] : []
  // At once: these objects are looked at again when they are old enough.
  const cases = further.map((act) => furtherCase(act(context, first.probe)))
  const others = [sendCreation(context), isAddition && addAtOnce(context)]
  const [left] = await allEnded<unknown>([firstOpen(others), ...cases])
  if (isOpen(left)) return left
  const atEnd = async (): Promise<Left> => {
    const isOwn = (one: HistoryEvent) => one.exchange.purpose.requirement === requirement.id
    // A server may only check new names, not those in use. A scenario may create in another account.
    const isUsed = ({ exchange, object = '' }: HistoryEvent) =>
      !scenarios[exchange.purpose.requirement ?? ''] &&
      client.journal.within(object).some((one) => one.isGranted)
    const all = madeBy(client.journal, id)
    const used = all.find(isUsed)
    const made = all.flatMap((one) => (one === used || isOwn(one) ? one.exchange : []))
    await awaitAge(client, made)
    // If a server takes one too soon, the next waits.
    return inTurn(made, (one) => again(context, one))
  }
  return { cases: await Promise.all(cases), atEnd }
}

/** Adds new files at once: if a server keeps only one of them, that shows when each is added again. */
async function addAtOnce(context: CheckContext) {
  const { client, given } = context
  const make = () => validRequest(client, given, additionOperation)
  const additions = await allEnded(Array.from({ length: atOnce.full }, make))
  for (const one of additions)
    if (!isOpen(one) && one.creates !== undefined) await awaitFile(context, one.creates)
  // One whose connection was closed is replaced.
  const next = () => additions.pop() ?? make()
  return sendAtOnce(client, requestFor(context, 'at once', next, {}), additions.length)
}

/** Another file under the name of one in the graph is no duplicate. */
async function addTwin(context: CheckContext, first: Probe): Promise<Judged | undefined> {
  const { client, given } = context
  const { journal } = client
  const name = journal.of(first.creates ?? '')[0]?.name
  const file = await upload(client, given, contentOf(given), true, name)
  if (isOpen(file) || journal.of(file).some((one) => one.within !== undefined)) return undefined
  // A refusal is judged here alone.
  const fault = 'file: under a name in use'
  const make = () => withChange(withFile(given, first, file), (probe) => ({ ...probe, fault }))
  const exchange = await context.send(make, { isSuccess: isTaken })
  if (isOpen(exchange)) return exchange
  // An addition that got anything else may have added it; a new file may be unknown at first.
  const additions = journal.of(file).filter((one) => one.operation === additionOperation)
  const isInNone = additions.every((one) => one.status === 409 || isMissing(one))
  if (!isConflict(exchange) || !isInNone) return undefined
  const another = await sendCreation(context)
  if (isOpen(another)) return another
  if (!isTaken(another)) return undefined
  const what = `of a file under the name of another one in the graph, ${name}`
  const expected = 'no 409: it is another file, with an id of its own'
  return { outcome: 'broken', evidence: { exchange, what, expected } }
}

/** Adds a file to a created graph, and requests the name of that graph. */
async function addToCreated(context: CheckContext): Promise<Left> {
  const graph = await create(context, 'graphs.create')
  if (isOpen(graph)) return graph
  const id = namedId(context.given, graph)
  if (isOpen(id)) return id
  const second = await again(context, await create(context, additionOperation, inGraph(id)))
  if (isOpen(second)) return second
  const about = 'graphs.create/400-duplicate-name'
  const sent = await context.send(graph.probe, { role: 'setup', badInput: true, about })
  return isOpen(sent) ? sent : undefined
}

type Use = ReturnType<typeof usesByPath>[number]

/** The inputs of a created application are unknown: none is sent, and a 400 passes. */
async function requestOf(client: Client, given: Given, one: Use, object: string): Promise<Made> {
  const { operation: id, param } = one
  const params = { [param]: object }
  if (id === 'files.retrieve') return retrieval(given, object)
  if (id === 'jobs.create')
    return operationProbe(given, id, { params, json: { inputs: [] }, effect: 'generates' })
  // The file of an addition is uploaded once: a refusal because of it says nothing about the graph.
  const make = () => validRequest(client, given, id)
  const shared = sharedRequest(client, `${id} of created objects`, make)
  return withChange(shared, (probe) => ({ ...probe, params }))
}

async function use(context: CheckContext, one: Use, id: string): Promise<unknown> {
  const { client, given } = context
  const since = given.objects.madeAt.get(id) ?? performance.now()
  const make = () => requestOf(client, given, one, id)
  const exchange = await look(context, make, {}, { since, isGood: isUsable })
  if (isOpen(exchange) || isUsable(exchange)) return exchange
  const why = whySilent(exchange)
  if (why) return open(why)
  return isDeclared(given, one.operation) && control(client, given, one.operation)
}

/** Their objects are used again at the end: made at once, requested twice, attached. */
export const alsoMadeFor = (creates: string): RequirementId[] =>
  ['2xx-own-id', '400-duplicate-name', '2xx-attached-to-graph'].map(
    (condition) => `${creates}/${condition}` as RequirementId,
  )

/** Used again at the end: the first of each media type, a large one, those of other requirements, a file in a graph. */
function madeBefore({ client, requirement }: CheckContext, creates: OperationId) {
  const { doomed } = sharedBy(client)
  const ids: readonly (string | null)[] = [
    requirement.id,
    'envelope/large-body',
    ...alsoMadeFor(creates),
  ]
  const isOwn = (one: HistoryEvent) => one.exchange.purpose.requirement === requirement.id
  const made = madeBy(client.journal, creates).filter(
    (one) => (one.request === 'valid' || isOwn(one)) && !doomed.has(one.object!),
  )
  const isFile = creates === uploadOperation
  // Late creations of another charset would be waited for.
  const isFirst = (one: HistoryEvent) =>
    one === made.find((other) => !isFile || other.label === one.label)
  const chosen = made.filter(
    (one) => isFirst(one) || ids.includes(one.exchange.purpose.requirement),
  )
  return [...chosen, ...(isFile ? madeBy(client.journal, additionOperation).slice(0, 1) : [])]
}

/** A created object can be used at once, or `settleMs` later, and like others again at the end of the run. */
export const usable: Send = async (context) => {
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
    return open(`no operation that uses ${operationOf(creates).creates?.what} is declared`)
  const isWhole = !scenario && given.options.depth === 'full'
  const left = await inScenario(context, creates, async (): Promise<Left> => {
    // Prepared first: nothing must delay the use after the creation.
    for (const one of uses) await requestOf(client, given, one, '')
    if (creates === uploadOperation && isWhole) await uploadSample(client, given, 'other')
    const id = namedId(given, await create(context))
    if (isOpen(id)) return id
    return together(uses, (one) => use(context, one, id))
  })
  const atEnd = async (): Promise<Left> => {
    const made = madeBefore(context, creates)
    await awaitAge(client, made)
    return together(made, ({ exchange, object = '' }) => {
      const isOwn = exchange.purpose.requirement === requirement.id
      // An addition might cure a graph that nothing was added to.
      return inTurn(isOwn ? uses : uses.slice(0, 1), (one) => use(context, one, object))
    })
  }
  return left ?? (isWhole ? { atEnd } : undefined)
}

export const toGraph =
  (graphId: string): Change =>
  (upload) => ({ ...upload, query: { ...upload.query, graphId } })

export const attached: Send = async (context) => {
  const { client, given } = context
  const { graph = '' } = given.target.resources
  // A server that ignores graphId accepts any graph: whether the declared one exists is asked separately.
  const ofGraphs = isDeclared(given, additionOperation) ? additionOperation : 'graphs.query'
  const why = 'cannot verify that resources.graph exists'
  const control = await grantedControl(client, given, ofGraphs, why)
  if (isOpen(control)) return control
  const cases = [await furtherCase(attachAndAdd(context, graph))]
  if (given.options.depth === 'full' && isDeclared(given, 'graphs.create')) {
    const made = await makeOne(client, given, 'graphs.create')
    cases.push(await furtherCase(attachAndAdd(context, made)))
  }
  return { cases }
}

/**
 * A file may be processed for a while: each attempt adds a new one, once, after a longer pause, and after another was
 * attached, since a server may keep only the last.
 */
async function attachAndAdd(context: CheckContext, graph: string | Open): Promise<Judged> {
  if (isOpen(graph)) return graph
  const { client, given } = context
  const attach = () => sendCreation(context, uploadOperation, toGraph(graph))
  let uploaded = await attach()
  if (isOpen(uploaded)) return uploaded
  const found = grantedFinding(context, uploaded, 'a 2xx')
  const verdict = findingVerdict(found, { exchange: uploaded, what: 'with graphId' })
  const takesFiles = pointerOf(given, additionOperation, 'file') !== undefined
  if (found || !takesFiles || !isDeclared(given, additionOperation)) return verdict
  const next = async (): Promise<Made> => {
    const id = namedId(given, uploaded)
    if (isOpen(id)) return id
    uploaded = await attach()
    const into = { operation: additionOperation, param: 'graph_id' } as const
    return withChange(requestOf(client, given, into, graph), (probe) => withFile(given, probe, id))
  }
  const isIn = (one: Exchange) => isConflict(one) && !one.unanswered
  const settles = { since: performance.now(), isGood: isIn }
  // A copy that a closed connection lost may have added it.
  const last = await context.send(next, { role: 'setup' }, { settles, fresh: true })
  if (isOpen(last)) return last
  if (isIn(last)) return verdict
  // Enough time has passed: is it refused in place of the 409, or would any file be?
  if (!isTaken(last)) await sendCreation(context, additionOperation, inGraph(graph))
  return open(`the addition of the file ${wasAnswered(last)}`)
}

export const ownRecord: Send = async (context) => {
  const { client, given } = context
  // Both exist before they are read, at once: a server may return the latest, or mix up its answers.
  const file = contentOf(given)
  const ids = [await upload(client, given, file), await upload(client, given, file)]
  return together(ids, async (id) => {
    if (isOpen(id)) return id
    const sent = await context.send(() => retrieval(given, id), { isSuccess: isTaken })
    return need('the retrieval of an uploaded file', sent)
  })
}
