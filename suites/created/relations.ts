import { createdId } from '../../harness/history/index.ts'
import type { CheckContext, Exchange, Judge, Probe, Run } from '../../harness/engine/index.ts'
import {
  describeResponse,
  wasAnswered,
  isGranted,
  isOwnBreakdown,
  isThrottling,
  NotExercised,
  perRun,
  sendWithRetries,
  Throttled,
} from '../../harness/engine/index.ts'
import { type OperationId, uploadOperation } from '../../catalogue/operations.ts'
import {
  atRole,
  byScenario,
  condition,
  contentOf,
  countsAsGranted,
  distinctRequest,
  freshFilename,
  grantedByScenario,
  grantedControl,
  grantedProbe,
  judgeAlso,
  judgeEach,
  operationIn,
  refused,
  sampled,
  sendAtOnce,
  sendUntilSettled,
  twinsOf,
  uploadProbe,
  withOwnContent,
} from '../../harness/checks/index.ts'
import {
  create,
  creatorIn,
  notCreated,
  noteRefused,
  type Refusal,
  refusedByGrammar,
  refusedByKey,
  refusedByRights,
  refusedByType,
} from './created-object.ts'

/** Relations that hold for every operation that creates something, whatever that is. */

/** A fault that somebody else, or a replica, could explain has to show in so many looks. */
export const maxLooks = 3
/** Creations of one thing that are sent at once; and of several, each of which is used again. */
const atOnce = { full: 4, quick: 2 }
const severalAtOnce = { full: 3, quick: 2 }
/** Further creations, one at a time, if fewer than two of those were granted. */
const maxMore = 2

async function requireControl(context: CheckContext): Promise<void> {
  context.control = (await grantedControl(context.run, operationIn(context))).state
}

/** The ids of what is used again at the end, by operation: made at the very same time, asked for a second time, or large. */
const toUseAgain = perRun(() => new Map<OperationId, string[]>())

export function idsToUseAgain(run: Run, operation: OperationId): readonly string[] {
  return toUseAgain(run).get(operation) ?? []
}

export function useAgain(run: Run, operation: OperationId, ids: readonly string[]): void {
  toUseAgain(run).set(operation, [...new Set([...idsToUseAgain(run, operation), ...ids])])
}

/** The object that was created to be used, by operation. */
export const usedIn = perRun(() => new Map<OperationId, string>())

/** The creation with the name of what has been used since, if there is such a thing: a server may look for the name of what is new alone. */
function withUsedName({ run }: CheckContext, probe: Probe): Probe {
  const { operation } = probe
  const id = operation && usedIn(run).get(operation)
  const name = run.objects.created.find((one) => one.operation === operation && one.id === id)?.name
  return id && name !== undefined ? atRole(run, probe, 'name', name) : probe
}

/** Two uploads of different content under one name: a server that knows files by their name gives one id. */
async function uploadUnderOneName(context: CheckContext): Promise<void> {
  const { run, scenario } = context
  if (scenario || run.options.depth === 'quick') return
  const name = freshFilename(run, contentOf(run).filename)
  const make = (): Promise<Probe> => uploadProbe(run, withOwnContent(run, contentOf(run)), name)
  // One that does not take a name twice shows nothing by it.
  await context.send(make, { role: 'setup' })
  await context.send(make, { role: 'setup' })
}

const needTwo = 'concurrent creations need limits.concurrency of 2 or more'

/** Judges that several creations at once each give an id that no other creation of the run gives. */
export const ownId: Judge = async (context) => {
  const { run, requirement } = context
  const operation = operationIn(context)
  await requireControl(context)
  const make = grantedProbe(context, operation, () => distinctRequest(run, operation))
  const together = { size: severalAtOnce[run.options.depth], make, requirement: requirement.id }
  const sent = await sendAtOnce(run, together)
  // A guardrail, a lost answer or a limit may have met one of them, and one at a time is all that some targets take.
  for (let more = maxMore; more > 0 && grantedOf(sent).length < 2; more--)
    sent.push(await context.send(make))
  const made = sent.flatMap((exchange) => createdId(run, exchange) ?? [])
  useAgain(run, operation, made)
  if (operation === uploadOperation) await uploadUnderOneName(context)
  context.open.plan(1)
  if (run.target.limits.concurrency < 2) context.open.leave(needTwo)
  else context.open.settle(1)
  const [first] = sent
  const limited = sent.find(isThrottling)
  if (made.length < 2 && limited) throw new Throttled(describeResponse(limited))
  if (made.length < 2)
    throw new NotExercised(
      `fewer than two concurrent creations named an id: ${first ? describeResponse(first) : ''}`,
    )
  const judge = async (): Promise<void> => {
    context.cases += made.length
    const twin = twinsOf(run).found.find(({ probe }) => probe.operation === operation)
    if (!twin) return
    context.shownBy = twin.purpose.requirement
    const actual = `id ${createdId(run, twin)}, which another creation gave (operations.${operation}.fields.id says where it stands)`
    context.fail(twin, 'an id that no other creation gives', '', actual)
  }
  await judge()
  context.atEnd = judge
}

/** True for a creation that was refused as a request, not for its key or by a limit, or that broke the server. */
function isRefused({ response, throttled }: Exchange): boolean {
  return (
    response !== undefined &&
    !throttled &&
    !isGranted(response) &&
    ![401, 403, 429, 503].includes(response.status)
  )
}

/** Why that answer shows nothing; a limit is told as such. */
function showsNothing(which: string, exchange: Exchange): NotExercised {
  const Reason = isThrottling(exchange) ? Throttled : NotExercised
  return new Reason(`${which} ${wasAnswered(exchange)}`)
}

/** Judges a creation after one that was refused; throws `NotExercised` if it shows nothing. */
async function lookAfter(context: CheckContext, refusal: Refusal): Promise<void> {
  const { run, requirement } = context
  const creator = creatorIn(context)
  const { what, change, statuses } = refusal
  const about = `${creator.operation}/${refusal.requirement}`
  let again: Exchange | undefined
  for (let look = 1; look <= maxLooks; look++) {
    const probe = await creator.fresh(run)
    const refusedOne = await context.send(await change(probe), {
      about,
      role: 'setup',
      badInput: true,
    })
    if (!statuses.includes(refusedOne.response?.status ?? 0))
      throw showsNothing('the creation that should be refused', refusedOne)
    const purpose = { requirement: requirement.id, role: 'probe' } as const
    const send = () => sendWithRetries(run, probe, purpose, { fresh: true })
    const isOver = (exchange: Exchange): boolean =>
      countsAsGranted(exchange) || exchange.response?.status === 409
    again = await sendUntilSettled(run, await send(), send, isOver)
    if (again.response && isGranted(again.response)) return void context.cases++
    // One whose answer was lost may have made what this one meets.
    if (again.unanswered || !isRefused(again))
      throw showsNothing('the creation after a refused one', again)
    const plain = await context.send(() => creator.fresh(run), { role: 'setup' })
    if (plain.response && isGranted(plain.response)) continue
    noteRefused(context, plain)
    throw showsNothing('a creation without a refused one before it', plain)
  }
  if (!again) return
  const expected = `a 2xx: the refused creation made nothing, so ${creator.same} is still free`
  context.fail(again, expected, `after the same one was refused ${what}, in ${maxLooks} attempts`)
}

/**
 * Judges that a creation which is refused makes nothing.
 * @param more refusals that only this operation has
 */
export async function noEffect(
  context: CheckContext,
  more: readonly Refusal[] = [],
): Promise<void> {
  const { run, scenario } = context
  if (scenario) return grantedByScenario(context)
  await requireControl(context)
  const byRights = await refusedByRights(run, operationIn(context))
  const refusals = [
    ...(await refusedByKey(run)),
    ...byRights,
    refusedByType,
    refusedByGrammar,
    ...more,
  ]
  await judgeEach(sampled(context, refusals), (refusal) =>
    judgeAlso(context, () => lookAfter(context, refusal)),
  )
}

export function grantedOf(sent: readonly Exchange[]): Exchange[] {
  return sent.filter(({ response }) => response && isGranted(response))
}

/** Whether it shows what becomes of a creation beside one that is granted. That one's answer may be lost. */
function isTelling(sent: readonly Exchange[]): boolean {
  const made = grantedOf(sent)
  return made.length > 1 || (made.length === 1 && sent.some((exchange) => isRefused(exchange)))
}

/** Throw `NotExercised` unless what was made is seen: at all, and so soon that two of one moment are proof. */
interface SeenWhen {
  before(context: CheckContext): Promise<unknown>
  accusing(context: CheckContext): Promise<unknown>
}

/** Judges that of several creations of one thing at the very same time at most one is granted. */
export async function onceAtOnce(context: CheckContext, seen?: SeenWhen): Promise<void> {
  const { run, requirement } = context
  const creator = creatorIn(context)
  if (context.scenario) return byScenario(context)
  if (run.target.limits.concurrency < 2) throw new NotExercised(needTwo)
  await requireControl(context)
  await seen?.before(context)
  const sendAll = async (): Promise<readonly Exchange[]> => {
    const probe = await creator.fresh(run)
    return sendAtOnce(run, {
      size: atOnce[run.options.depth],
      make: () => probe,
      requirement: requirement.id,
    })
  }
  let sent = await sendAll()
  // The one that was granted may have lost its answer, and those beside it may have been throttled.
  for (let more = 2; more > 0 && !isTelling(sent); more--) sent = await sendAll()
  // Whoever comes second is refused: a server that breaks on it each time is broken.
  const again = sent.some(isOwnBreakdown) ? await sendAll() : []
  const broken = grantedOf(again).length > 0 ? again.find(isOwnBreakdown) : undefined
  const made = grantedOf(sent)
  const [, second] = made
  context.cases += sent.filter((exchange) => isRefused(exchange)).length
  const what = `with ${creator.same}, at once with ${sent.length - 1} others`
  if (broken) context.fail(broken, 'a refusal, and no breakdown, of all but one of them', what)
  if (second) await seen?.accusing(context)
  if (second)
    context.fail(second, `that at most one is granted`, what, `${made.length} of them were granted`)
  const shown = sent.find(isThrottling) ?? sent[0]!
  const Reason = isThrottling(shown) ? Throttled : NotExercised
  if (made.length === 0)
    throw new Reason(`none of the concurrent creations was granted: ${describeResponse(shown)}`)
}

/** Judges that what exists is not made again: not the second and the third time, and not after another one was made. */
export const once = condition(async ({ context, valid, judge }) => {
  const creator = creatorIn(context)
  // A first creation that is sent once more takes another name: the last one sent is the one that exists.
  const first = await create(context, valid)
  if (!countsAsGranted(first)) notCreated(context, first, 'the first creation')
  const again = refused(first.probe)
  await judge(again, `with ${creator.same} as ${creator.what} that exists`)
  // A clean-up after the refused creation may remove the existing object.
  useAgain(context.run, operationIn(context), [createdId(context.run, first) ?? []].flat())
  if (context.run.options.depth === 'quick') return
  await judge(again, `with ${creator.same} as ${creator.what} that exists, for the third time`)
  await context.send(valid, { role: 'setup' })
  const later = `with ${creator.same} as ${creator.what} that exists, after another one was made, at the end of the run`
  context.atEnd = async () => void (await judge(withUsedName(context, again), later))
})
