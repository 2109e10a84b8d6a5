import type { MadeRequest } from '../checks/case.ts'
import {
  countsAsGranted,
  createdId,
  eventOf,
  type HistoryEvent,
  type Verdict,
  type Credential,
  type Exchange,
  isBreakdown,
  isExpected,
  isGranted,
  isThrottling,
  jsonOf,
  NotExercised,
  type Probe,
  Throttled,
  wasAnswered,
  withHeader,
  type Evidence,
} from '../../harness/journal/index.ts'
import {
  additionOperation,
  operation,
  type OperationId,
  uploadOperation,
} from '../../catalogue/operations.ts'
import {
  accepted,
  grantedByScenario,
  grantedProbe,
  inScenario,
  wronglyRefused,
  grantedVerdict,
} from '../checks/granted.ts'
import {
  additionOf,
  bodyOf,
  contentOf,
  declaredResource,
  distinctRequest,
  isDeclared,
  validRequest,
} from '../checks/valid-request.ts'
import { atRole, pointerOf } from '../checks/changes.ts'
import { control, grantedControl, operationIn } from '../checks/control.ts'
import {
  concluded,
  furtherCase,
  type Judged,
  pairsVerdict,
  type CaseVerdict,
  isOver,
} from '../checks/rules.ts'
import {
  freshFilename,
  inBatches,
  laterAttempts,
  namedId,
  once,
  resendAsDeclared,
  resendWhile,
  retryWhileSettling,
  sendAtOnce,
  sharedBy,
  upload,
  uploadProbe,
  withOwnContent,
} from '../checks/created.ts'
import { refused } from '../checks/conditions.ts'
import { sampled } from '../checks/values.ts'
import {
  type Given,
  type Client,
  isOwnBreakdown,
  operationProbe,
  orElse,
  pause,
} from '../../harness/client/index.ts'
import {
  answered,
  ask,
  askHolding,
  awaitAge,
  type CheckContext,
  decisive,
  againAtEnd,
  type Judge,
  type Later,
  grantedFinding,
} from '../../harness/run/index.ts'
import { getAt } from '../../schemas/json.ts'
import { withCredential } from '../authentication/credentials.ts'
import { invalidForms, malformedForms, noCredential } from '../authentication/key-forms.ts'
import {
  creatorOf,
  isUsable,
  madeBy,
  ownIdRule,
  thingsOf,
  timesAlike,
  usesByPath,
  relationRule,
  attachedRule,
  extensionIn,
  placesOf,
} from './rules.ts'
import { uploadSample } from '../pdf-parse/refusals.ts'

export interface Refusal {
  readonly requirement: string
  readonly what: string
  readonly statuses: readonly number[]
  change(valid: Probe): Probe | Promise<Probe>
}

export const ofBodies: readonly number[] = [400, 415, 422]

const byKey = (requirement: string, what: string, credential: Credential): Refusal => ({
  requirement,
  what,
  statuses: [Number(requirement.slice(0, 3))],
  change: (valid) => withCredential(valid, credential),
})

export async function refusedByKey(given: Given): Promise<Refusal[]> {
  const full = await given.keys.fullKey()
  const all = await given.keys.declared()
  const invalid = full
    ? invalidForms({ full, expired: await given.keys.expiredKey(), all }).slice(0, 1)
    : []
  const malformed = malformedForms(undefined).filter((one) => one.kind === 'no JWT')
  for (const { credential } of [...invalid, ...malformed]) given.keys.learn(credential)
  return [
    byKey('401-missing-credentials', 'without a key', noCredential),
    ...malformed.map((one) => byKey('401-malformed-key', one.what, one.credential)),
    ...invalid.map((one) => byKey('401-invalid-key', one.what, one.credential)),
    ...(given.target.keys.expired
      ? [byKey('401-expired-key', 'with an expired key', await given.keys.expired())]
      : []),
  ]
}

export async function refusedByRights(
  client: Client,
  given: Given,
  operation: OperationId,
): Promise<Refusal[]> {
  const credential = await orElse(client, () => given.keys.restricted(operation))
  const what = 'with a key that lacks the permission'
  return credential ? [byKey('403-insufficient-rights', what, credential)] : []
}

export const refusedByType: Refusal = {
  requirement: '400-wrong-content-type',
  what: 'labelled text/plain',
  statuses: ofBodies,
  change: (valid) => refused(withHeader(valid, 'content-type', 'text/plain')),
}

export const refusedByGrammar: Refusal = {
  requirement: '400-malformed-json',
  what: 'with a bracket too many',
  statuses: ofBodies,
  change: (valid) => refused({ ...valid, body: `${String(valid.body)}}` }),
}

/** Creates an object for a requirement and returns its id; throws `NotExercised` if refused or without an id. */
export async function createObject(
  context: CheckContext,
  operation: OperationId,
  make = (): Promise<Probe> => validRequest(context.client, context.given, operation),
): Promise<string> {
  return namedId(context.given, await create(context, make, 'the creation'))
}

/** Whether a creation may have been refused for its content, such as its name. */
function isRefusedByName(exchange: Exchange): boolean {
  const { creates } = exchange.probe.operation === null ? {} : operation(exchange.probe.operation)
  const isNamed = creates?.name !== undefined && 'role' in creates.name
  return isNamed && [400, 409, 422].includes(exchange.response?.status ?? 0)
}

/**
 * Sends a creation, each time with a new name, past guardrails and formats that refuse unique content. Throws
 * `NotExercised` if it is not accepted; the creation's own requirement reports its faults.
 */
export async function create(
  context: CheckContext,
  make: () => Promise<Probe>,
  which: string,
): Promise<Exchange> {
  const { client, given, scenario } = context
  const send = (one = make): Promise<Exchange> => context.send(one, { role: 'setup' })
  const sent = await resendWhile(await send(), send, isRefusedByName, 3)
  const creation =
    sent.probe.operation === uploadOperation && !scenario
      ? await resendAsDeclared(sent, () => send(() => validRequest(client, given, uploadOperation)))
      : sent
  if (countsAsGranted(creation)) return creation
  const { response } = creation
  const isWrong =
    response !== undefined &&
    (response.status < 300 || isBreakdown(response) || isRefusedByName(creation))
  if (isWrong && !scenario) sharedBy(client).wronglyRefused.push(creation)
  answered(creation)
  throw new NotExercised(`${which} ${wasAnswered(creation)}`)
}

/** Notes a valid creation that crashes the server, or is refused as existing. */
function noteRefused(context: CheckContext, creation: Exchange): void {
  const { client } = context
  const { response, unanswered } = creation
  // A file whose id another upload returned is not new.
  const isTwin = ownIdRule(client.journal, uploadOperation).outcome === 'broken'
  if (unanswered || isTwin || !response || response.isBlock) return
  const { exists } = creatorOf(operationIn(context))
  if (isBreakdown(response) || isExpected(exists, response))
    sharedBy(client).wronglyRefused.push(creation)
}

/** Judges that the control and every other valid creation of the run are accepted. */
export const eachAccepted: Judge = async (context) => {
  const verdict = await accepted.judge(context)
  const refused = context.scenario
    ? undefined
    : wronglyRefused(context.client, operationIn(context))
  return refused && verdict.outcome === 'held'
    ? { outcome: 'broken', cases: 1, evidence: [refused] }
    : verdict
}

/** A creation of something new: a newly uploaded file is added to the declared graph. */
async function freshCreation(client: Client, given: Given, id: OperationId): Promise<Probe> {
  if (id !== additionOperation) return validRequest(client, given, id)
  if (pointerOf(given, id, 'file') === undefined)
    throw new NotExercised('declare operations.graphs.add-file.fields.file')
  return addition(
    given,
    declaredResource(given, 'graph'),
    await upload(client, given, contentOf(given)),
  )
}

export async function addition(given: Given, graph: string, file: string): Promise<Probe> {
  const pointer = pointerOf(given, additionOperation, 'file') ?? ''
  const json = additionOf(given, file, pointer)
  const parts = { params: { graph_id: graph }, json, effect: 'creates' } as const
  return { ...(await operationProbe(given, additionOperation, parts)), creates: file }
}

function fileIn(given: Given, probe: Probe): string | undefined {
  const pointer = pointerOf(given, additionOperation, 'file')
  return pointer === undefined ? undefined : String(getAt(jsonOf(probe), pointer))
}

/** Retrieves the file of a failed addition, which may be missing. */
async function lookForFile(client: Client, given: Given, exchange: Exchange): Promise<void> {
  const isMissing = exchange.response?.status === 404 || exchange.response?.status === 410
  const file =
    exchange.probe.operation === additionOperation ? fileIn(given, exchange.probe) : undefined
  if (!isMissing || file === undefined) return
  if (given.target.absent['files.retrieve'] !== undefined) return
  const retrieval = await operationProbe(given, 'files.retrieve', { params: { file_id: file } })
  // Without an answer, the retrieval shows nothing about the file or the graph.
  await orElse(client, () => ask(client, retrieval, { requirement: null, role: 'poll' }))
}

export const isTaken = (exchange: Exchange): boolean =>
  exchange.response !== undefined && isGranted(exchange.response)

export const isConflict = (exchange: Exchange): boolean => exchange.response?.status === 409

const atOnce = { full: 4, quick: 2 }
const severalAtOnce = { full: 3, quick: 2 }

/** Records the control, and returns its request; throws `NotExercised` if it was not accepted. */
async function requireControl(context: CheckContext): Promise<() => Promise<Probe>> {
  const found = await grantedControl(context.client, context.given, operationIn(context))
  context.control = found.state
  return found.valid
}

/** Judges a requirement by its rule on the whole run. A case that cannot be judged reports its own reason. */
export function relationVerdict(context: CheckContext, further: readonly Judged[] = []): Verdict {
  const verdict = decisive(context, relationRule(context.requirement.id)(context.client.journal))
  const isLeft = further.some((one) => one.outcome === 'open')
  return isLeft && verdict.outcome !== 'broken' ? concluded(further) : verdict
}

function showsNothing(which: string, exchange: Exchange): never {
  const Reason = isThrottling(exchange) ? Throttled : NotExercised
  throw new Reason(`${which} ${wasAnswered(exchange)}`)
}

async function uploadUnderOneName(context: CheckContext): Promise<void> {
  const { given, scenario } = context
  if (scenario || given.options.depth === 'quick') return
  const name = freshFilename(given, contentOf(given).filename)
  const make = (): Promise<Probe> =>
    uploadProbe(given, withOwnContent(given, contentOf(given)), name)
  // If the name is refused the second time, this shows nothing.
  await context.send(make, { role: 'setup' })
  await context.send(make, { role: 'setup' })
}

const needTwo = 'concurrent creations need limits.concurrency of 2 or more'

export const ownId: Judge = async (context) => {
  const { client, given, requirement } = context
  const operation = operationIn(context)
  await requireControl(context)
  const make = grantedProbe(context, operation, () => distinctRequest(client, given, operation))
  const size = severalAtOnce[given.options.depth]
  const sent = await sendAtOnce(client, given, { size, make, requirement: requirement.id })
  // A guardrail, a lost answer or a limit may have affected one, and some targets accept only one at a time.
  for (let more = 2; more > 0 && sent.filter(isTaken).length < 2; more--)
    sent.push(await context.send(make))
  if (operation === uploadOperation) await uploadUnderOneName(context)
  const limited = sent.find(isThrottling) ?? sent[0]!
  if (sent.filter((exchange) => createdId(given, exchange) !== undefined).length < 2)
    showsNothing('fewer than two concurrent creations returned an id: one', limited)
  const isSingle = given.target.limits.concurrency < 2
  const together: Judged[] = isSingle
    ? [{ outcome: 'open', why: { reason: needTwo }, isFurther: true }]
    : []
  return againAtEnd(relationVerdict(context), 'held', async () =>
    relationVerdict(context, together),
  )
}

export async function noEffect(
  context: CheckContext,
  more: readonly Refusal[] = [],
): Promise<Verdict | Later> {
  const { client, given, scenario } = context
  if (scenario) return grantedByScenario(context)
  await requireControl(context)
  const refusals = [
    ...(await refusedByKey(given)),
    ...(await refusedByRights(client, given, operationIn(context))),
    refusedByType,
    refusedByGrammar,
    ...more,
  ]
  const looked = await inBatches(
    sampled(context.given, context.requirement.id, refusals),
    (refusal) => furtherCase(client, () => lookAfter(context, refusal)),
  )
  return relationVerdict(context, looked)
}

/** Repeats the creation after its refusal, with another one in between; three times, unless accepted. */
async function lookAfter(
  context: CheckContext,
  { requirement: of, what, change, statuses }: Refusal,
): Promise<undefined> {
  const { client, given, requirement } = context
  const operation = operationIn(context)
  const setup = { about: `${operation}/${of}`, role: 'setup', badInput: true, what } as const
  const isSuccess = (one: Exchange): boolean => countsAsGranted(one) || isConflict(one)
  const purpose = { requirement: requirement.id, role: 'probe', isSuccess } as const
  for (let look = 1; look <= timesAlike; look++) {
    const probe = await freshCreation(client, given, operation)
    const refusedOne = await context.send(await change(probe), setup)
    if (!statuses.includes(refusedOne.response?.status ?? 0))
      showsNothing('the creation that should be refused', refusedOne)
    const again = await askHolding(client, probe, purpose, true)
    if (isTaken(again)) return undefined
    // An unanswered one may have created what this one conflicts with.
    if (again.unanswered || !isRefused(again))
      showsNothing('the creation after a refused one', again)
    // One more per attempt: with a fixed order, a periodic failure would seem to follow a refusal.
    for (let count = 0; count < look; count++) {
      const plain = await context.send(() => freshCreation(client, given, operation), {
        role: 'setup',
      })
      if (isTaken(plain)) continue
      noteRefused(context, plain)
      showsNothing('a creation without a refused one before it', plain)
    }
  }
  return undefined
}

const isRefused = (exchange: Exchange): boolean =>
  exchange.response !== undefined &&
  !exchange.throttled &&
  !isGranted(exchange.response) &&
  ![401, 403, 429, 503].includes(exchange.response.status)

/** Whether the answers are conclusive: two creations were accepted, or one was accepted and another refused. */
function isTelling(sent: readonly Exchange[]): boolean {
  const made = sent.filter(isTaken).length
  return made > 1 || (made === 1 && sent.some(isRefused))
}

export const onceAtOnce: Judge = async (context) => {
  const { client, given, requirement } = context
  if (given.target.limits.concurrency < 2) throw new NotExercised(needTwo)
  await requireControl(context)
  const operation = operationIn(context)
  const sendAll = async (): Promise<readonly Exchange[]> => {
    const probe = await freshCreation(client, given, operation)
    const size = atOnce[given.options.depth]
    return sendAtOnce(client, given, { size, make: () => probe, requirement: requirement.id })
  }
  let sent = await sendAll()
  // Repeat if inconclusive: the answer to the accepted creation may be lost, or the others throttled.
  for (let more = sent.some(isThrottling) ? 5 : 2; more > 0 && !isTelling(sent); more--)
    sent = await sendAll()
  // The second must be refused; a server that always crashes on it is broken.
  if (sent.some(isOwnBreakdown)) await sendAll()
  const taken = sent.filter(isTaken).length
  if (taken === 0)
    showsNothing(
      'none of the concurrent creations was accepted: one',
      sent.find(isThrottling) ?? sent[0]!,
    )
  return relationVerdict(context)
}

export async function askAgain(context: CheckContext, probe: Probe): Promise<Exchange> {
  const { client, given } = context
  const { exists, same, what } = creatorOf(operationIn(context))
  const purpose = { badInput: true, expects: exists, what: `with ${same} as ${what} that exists` }
  const last = await context.send(refused(probe), purpose)
  await lookForFile(client, given, last)
  return last
}

function onceVerdict(
  context: CheckContext,
  last: Exchange,
  further: readonly Judged[] = [],
): Verdict {
  const { exists } = creatorOf(operationIn(context))
  return last.response
    ? relationVerdict(context, further)
    : concluded([pairsVerdict(context, last, exists, last.purpose.what ?? '')])
}

/** A creation of another requirement, whose name is in use: a server may only check new names. */
function alsoMade(context: CheckContext, id: OperationId): HistoryEvent | undefined {
  const usable = `${id}/2xx-usable`
  // A scenario may create in another account, with other names.
  if (context.given.target.scenarios[usable] !== undefined) return undefined
  return madeBy(context.client.journal, id).find(
    (one) => one.exchange.purpose.requirement === usable,
  )
}

/** An existing thing is not created again, neither the second and third time, nor after another creation. */
export const onceEver: Judge = async (context) => {
  const { client, given } = context
  const valid = await requireControl(context)
  // A retry takes a new name: the previous name may exist by now.
  const { probe, endedAt } = await create(context, valid, 'the first creation')
  const look = async (): Promise<Verdict> => onceVerdict(context, await askAgain(context, probe))
  const first = await look()
  if (first.outcome !== 'held' || given.options.depth === 'quick') return first
  const second = await look()
  if (second.outcome !== 'held') return second
  await context.send(valid, { role: 'setup' })
  const judge = async (): Promise<Verdict> => {
    const other = alsoMade(context, probe.operation!)
    await awaitAge(client, [endedAt, other?.endedAt ?? 0])
    const again = other?.name === undefined ? probe : atRole(given, probe, 'name', other.name)
    return onceVerdict(context, await askAgain(context, again))
  }
  return againAtEnd(second, 'held', judge)
}

type Use = ReturnType<typeof usesByPath>[number]

const sendable = (given: Given, creates: OperationId): Use[] =>
  usesByPath(creates).filter(
    (one) =>
      given.target.absent[one.operation] === undefined &&
      (['files.retrieve', 'jobs.create'].includes(one.operation) ||
        given.target.operations[one.operation]?.body !== undefined),
  )

/** A file for additions to created graphs, uploaded once: a refusal because of it says nothing about the graph. */
function fileToAdd(client: Client, given: Given): Promise<string | undefined> {
  const declared = given.target.operations['graphs.add-file']?.fields['file']
  if (declared === undefined || !given.target.operations['files.upload']?.content)
    return Promise.resolve(undefined)
  return once(client, 'file for created graphs', () => upload(client, given, contentOf(given)))
}

/** The inputs of a created application are unknown: none is sent, and a 400 passes. */
async function requestOf(client: Client, given: Given, one: Use, id: string): Promise<Probe> {
  const params = { [one.param]: id }
  const { effect } = operation(one.operation)
  if (one.operation === 'files.retrieve') return operationProbe(given, one.operation, { params })
  const file = one.operation === additionOperation ? await fileToAdd(client, given) : undefined
  if (file !== undefined) return addition(given, id, file)
  const json = one.operation === 'jobs.create' ? { inputs: [] } : bodyOf(given, one.operation)
  return operationProbe(given, one.operation, { params, json, effect })
}

async function use(context: CheckContext, one: Use, id: string, madeAt?: number): Promise<void> {
  const { client, given } = context
  const willDo = (exchange: Exchange): boolean => {
    const event = eventOf(given.target, exchange, false)
    return event !== undefined && isUsable(event)
  }
  const send = (): Promise<Exchange> => context.send(() => requestOf(client, given, one, id))
  const exchange = await retryWhileSettling(client, given, send, willDo, madeAt)
  // A retrieval without any answer has failed.
  if (!(one.operation === 'files.retrieve' && exchange.unansweredTwice)) answered(exchange)
  if (willDo(exchange)) return
  await lookForFile(client, given, exchange)
  if (isDeclared(given, one.operation)) await control(client, given, one.operation)
}

const ownPdf = (client: Client, given: Given): Promise<string | undefined> =>
  orElse(client, () => uploadSample(client, given, 'other'))

/** Requirements whose objects are used again at the end: made simultaneously, requested twice, attached. */
const alsoUsed = ['2xx-own-id', '400-duplicate-name', '2xx-attached-to-graph']
const largeBytes = 64 * 1024

/** Objects used again at the end: the first one, those of other requirements, a file in a graph, and a PDF. */
async function madeBefore(client: Client, given: Given, creates: OperationId): Promise<string[]> {
  const made = madeBy(client.journal, creates)
  const isLarge = ({ exchange: { probe } }: HistoryEvent): boolean =>
    creates === uploadOperation && (probe.body?.length ?? 0) > largeBytes
  const askedAgain = thingsOf(client.journal, creates).flatMap((attempts) =>
    attempts.length > 1 ? attempts : [],
  )
  const isAlsoUsed = (one: HistoryEvent): boolean => {
    const { requirement, role } = one.exchange.purpose
    const isOf = alsoUsed.some((name) => requirement === `${creates}/${name}`)
    return isOf && (role === 'probe' || askedAgain.includes(one))
  }
  const isWanted = (one: HistoryEvent, at: number): boolean =>
    at === 0 || isLarge(one) || isAlsoUsed(one)
  const ids = made.filter(isWanted).map((one) => one.object!)
  if (creates !== uploadOperation) return ids
  const added = madeBy(client.journal, 'graphs.add-file').at(0)
  return [...ids, added?.object, await ownPdf(client, given)].filter((id) => id !== undefined)
}

/**
 * A created object can be used at once, or `settleMs` later, and again at the end of the run, like those created before
 * and beside it.
 */
export async function usable(context: CheckContext): Promise<Verdict | Later> {
  const { client, given, scenario } = context
  const creates = operationIn(context)
  const uses = sampled(context.given, context.requirement.id, sendable(given, creates))
  if (uses.length === 0)
    throw new NotExercised(`no operation that uses ${operation(creates).creates?.what} is declared`)
  const isAtEnd = !scenario && given.options.depth === 'full'
  let made = ''
  await inScenario(context, creates, async () => {
    const make = grantedProbe(context, creates, () => distinctRequest(client, given, creates))
    // Prepared first, so that nothing delays the use after the creation.
    if (creates === 'graphs.create') await orElse(client, () => fileToAdd(client, given))
    else if (creates === uploadOperation && isAtEnd) await ownPdf(client, given)
    made = await createObject(context, creates, make)
    await inBatches(uses, (one) => use(context, one, made))
  })
  const verdict = relationVerdict(context)
  if (!isAtEnd) return verdict
  return againAtEnd(verdict, 'held', async () => {
    const others = (await madeBefore(client, given, creates)).filter((id) => id !== made)
    const madeAt = (id: string): number => given.objects.madeAt.get(id) ?? 0
    await awaitAge(client, [made, ...others].map(madeAt))
    const all = [
      ...uses.map((one) => ({ id: made, one })),
      ...[...new Set(others)].map((id) => ({ id, one: uses.at(-1)! })),
    ]
    await inBatches(all, (other) => use(context, other.one, other.id, madeAt(other.id)))
    return relationVerdict(context)
  })
}

/**
 * Adds the same file repeatedly: once refused, it must always be refused, also after another addition. Each replica may
 * process an addition for a while, so that acceptance within that time proves nothing.
 */
export const addSameFileAgain: Judge = async (context) => {
  const { client, given } = context
  const valid = await requireControl(context)
  const probe = await valid()
  const further: Judged[] = []
  await addFirst(context, probe)
  const isQuick = given.options.depth === 'quick'
  const added = isQuick ? [] : await addOthers(context, valid)
  const last = added.at(-1)?.endedAt ?? performance.now()
  await askUntilRefused(context, probe)
  const look = async (): Promise<Verdict> => onceVerdict(context, await askAgain(context, probe))
  const first = await look()
  if (first.outcome !== 'held' || isQuick) return first
  await orElse(client, () => addTwin(context, probe))
  await context.send(valid, { role: 'setup' })
  const second = await look()
  if (second.outcome !== 'held') return second
  if (canAddToCreated(given)) further.push(await furtherCase(client, () => addToCreated(context)))
  const third = await look()
  const judge = async (): Promise<Verdict> => {
    await awaitAge(client, [last])
    const late = await askAgain(context, probe)
    await addAgainLate(context, added, valid)
    return onceVerdict(context, late, further)
  }
  return againAtEnd(third, 'held', judge)
}

async function addFirst(context: CheckContext, probe: Probe): Promise<void> {
  const first = await context.send(probe, { role: 'setup', isSuccess: countsAsGranted })
  if (!countsAsGranted(first)) throw new NotExercised(`the first addition ${wasAnswered(first)}`)
}

async function askUntilRefused(context: CheckContext, probe: Probe): Promise<void> {
  let added = performance.now()
  for (const ms of laterAttempts(context.given)) {
    const exchange = await askAgain(context, probe)
    if (!exchange.response) return
    if (!isTaken(exchange) && !exchange.throttled) {
      if (!isTaken(await askAgain(context, probe))) return
      added = performance.now()
    }
    await pause(context.client, Math.max(0, added + ms - performance.now()))
  }
}

async function addTwin(context: CheckContext, first: Probe): Promise<void> {
  const { client, given } = context
  const file = fileIn(given, first)
  const uploaded = madeBy(client.journal, uploadOperation).find((one) => one.object === file)
  if (uploaded?.name === undefined) return
  const twin = await upload(client, given, contentOf(given), true, uploaded.name)
  if (twin === file) return
  const probe = await addition(given, first.params['graph_id'] ?? '', twin)
  const add = () => context.send(probe, { role: 'setup' })
  await retryWhileSettling(client, given, add, isTaken)
}

async function addOthers(
  context: CheckContext,
  valid: () => Promise<Probe>,
): Promise<readonly Exchange[]> {
  const { client, given, requirement } = context
  const make = (): Promise<Probe> => freshCreation(client, given, additionOperation)
  const together = { size: 3, make, requirement: requirement.id }
  const one = async () => [await context.send(valid, { role: 'setup' })]
  return (await orElse(client, () => sendAtOnce(client, given, together), one)).filter(isTaken)
}

/**
 * Adds simultaneously added files again: a server may have kept only the last one. If it accepts one too soon, repeats
 * this with other files, and waits `settleMs` first.
 */
async function addAgainLate(
  context: CheckContext,
  added: readonly Exchange[],
  valid: () => Promise<Probe>,
): Promise<void> {
  const { client, given } = context
  const again = (made: readonly Exchange[]): Promise<Exchange[]> =>
    Promise.all(made.map((one) => askAgain(context, one.probe)))
  if (!(await again(added)).some(isTaken)) return
  const later = await addOthers(context, valid)
  await pause(client, given.target.limits.settleMs)
  await again(later)
}

const canAddToCreated = (given: Given): boolean =>
  given.target.operations['files.upload']?.content !== undefined &&
  isDeclared(given, 'graphs.create') &&
  pointerOf(given, additionOperation, operation(additionOperation).freshFileAt ?? '') !== undefined

/** Adds a file twice to a graph that the run creates, and again after a request for its name. */
async function addToCreated(context: CheckContext): Promise<undefined> {
  const { client, given } = context
  // A retry takes a new name: the previous name may exist by now.
  let creation = await validRequest(client, given, 'graphs.create')
  const make = async () => (creation = await validRequest(client, given, 'graphs.create'))
  const graph = await createObject(context, 'graphs.create', make)
  const probe = await addition(given, graph, await upload(client, given, contentOf(given)))
  await addFirst(context, probe)
  const again = (): Promise<Exchange> => askAgain(context, probe)
  await retryWhileSettling(client, given, again, isConflict)
  const about = 'graphs.create/400-duplicate-name'
  const afterRefusal = (): Promise<Exchange> =>
    context.send(creation, { role: 'setup', badInput: true, about }).then(again)
  // Another replica may still process the addition.
  await retryWhileSettling(client, given, afterRefusal, isConflict)
  return undefined
}

/**
 * Adds a deleted file to a new graph that accepts files: in the declared graph an accepted addition would remain, and
 * the next run would get a 409.
 */
export const addDeleted: MadeRequest = {
  async valid({ client, given, ...context }, valid) {
    const isMakeable = canAddToCreated(given) && !given.options.readOnly
    const make = () => graphWithFile({ client, given, ...context }, valid)
    const made = isMakeable ? await orElse(client, make) : undefined
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
  const others = sampled(context.given, context.requirement.id, otherExtensions(given))
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
