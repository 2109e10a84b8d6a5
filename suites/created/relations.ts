import {
  countsAsGranted,
  createdId,
  type HistoryEvent,
  historyOf,
} from '../../harness/journal/index.ts'
import { type OperationId, uploadOperation } from '../../catalogue/operations.ts'
import {
  atRole,
  byScenario,
  contentOf,
  distinctRequest,
  freshFilename,
  grantedByScenario,
  grantedControl,
  grantedProbe,
  tryAlso,
  tryEach,
  judgeVerdict,
  noteControl,
  operationIn,
  refused,
  sampled,
  sendAtOnce,
  sendUntilSettled,
  uploadProbe,
  withOwnContent,
} from '../../harness/checks/index.ts'
import {
  type Exchange,
  isGranted,
  isOwnBreakdown,
  isThrottling,
  NotExercised,
  type Probe,
  Throttled,
  wasAnswered,
} from '../../harness/engine/index.ts'
import {
  askHolding,
  awaitAge,
  type CheckContext,
  type Judge,
  judgePairs,
} from '../../harness/run/index.ts'
import { relationRule } from '../relation-rules.ts'
import { creatorOf, madeBy } from './attempts.ts'
import {
  create,
  freshCreation,
  isTaken,
  lookForFile,
  noteRefused,
  type Refusal,
  refusedByGrammar,
  refusedByKey,
  refusedByRights,
  refusedByType,
} from './created-object.ts'
import { timesAlike } from './rules.ts'

/** Creates the situations for the relation rules, which judge them. */

const atOnce = { full: 4, quick: 2 }
const severalAtOnce = { full: 3, quick: 2 }
const maxMore = 2

/** Records the control, and returns its request; throws `NotExercised` if it was not accepted. */
export async function requireControl(context: CheckContext): Promise<() => Promise<Probe>> {
  const found = await grantedControl(context.run, operationIn(context))
  noteControl(context, found)
  return found.valid
}

const verdictOn = ({ run, requirement }: CheckContext) =>
  relationRule(requirement.id)(historyOf(run))

/** Judges a requirement by its rule on the whole run. A case that cannot be judged reports its own reason. */
export function judgeRelation(context: CheckContext): void {
  const verdict = verdictOn(context)
  const { planned, judged } = context.open
  context.cases = 0
  if (verdict.outcome !== 'open' || planned <= judged) judgeVerdict(context, verdict)
}

/** Throws why the answer is inconclusive; distinguishes throttling. */
function showsNothing(which: string, exchange: Exchange): never {
  const Reason = isThrottling(exchange) ? Throttled : NotExercised
  throw new Reason(`${which} ${wasAnswered(exchange)}`)
}

/** Two uploads of different content under one name: a server that identifies files by name returns one id. */
async function uploadUnderOneName(context: CheckContext): Promise<void> {
  const { run, scenario } = context
  if (scenario || run.options.depth === 'quick') return
  const name = freshFilename(run, contentOf(run).filename)
  const make = (): Promise<Probe> => uploadProbe(run, withOwnContent(run, contentOf(run)), name)
  // If the name is refused the second time, this shows nothing.
  await context.send(make, { role: 'setup' })
  await context.send(make, { role: 'setup' })
}

const needTwo = 'concurrent creations need limits.concurrency of 2 or more'

/** Simultaneous creations return ids that no other creation of the run returns. */
export const ownId: Judge = async (context) => {
  const { run, requirement } = context
  const operation = operationIn(context)
  await requireControl(context)
  const make = grantedProbe(context, operation, () => distinctRequest(run, operation))
  const size = severalAtOnce[run.options.depth]
  const sent = await sendAtOnce(run, { size, make, requirement: requirement.id })
  // A guardrail, a lost answer or a limit may have affected one, and some targets accept only one at a time.
  for (let more = maxMore; more > 0 && sent.filter(isTaken).length < 2; more--)
    sent.push(await context.send(make))
  if (operation === uploadOperation) await uploadUnderOneName(context)
  context.open.plan(1)
  if (run.target.limits.concurrency < 2) context.open.leave(needTwo)
  else context.open.settle(1)
  const limited = sent.find(isThrottling) ?? sent[0]!
  if (sent.filter((exchange) => createdId(run, exchange) !== undefined).length < 2)
    showsNothing('fewer than two concurrent creations returned an id: one', limited)
  judgeRelation(context)
  context.atEnd = async () => judgeRelation(context)
}

/**
 * A refused creation has no effect.
 * @param more refusals that only this operation has
 */
export async function noEffect(
  context: CheckContext,
  more: readonly Refusal[] = [],
): Promise<void> {
  const { run, scenario } = context
  if (scenario) {
    await grantedByScenario(context)
    return
  }
  await requireControl(context)
  const refusals = [
    ...(await refusedByKey(run)),
    ...(await refusedByRights(run, operationIn(context))),
    refusedByType,
    refusedByGrammar,
    ...more,
  ]
  await tryEach(sampled(context, refusals), (refusal) =>
    tryAlso(context, () => lookAfter(context, refusal)),
  )
  judgeRelation(context)
}

/** Repeats the creation after its refusal, with another one in between; three times, unless accepted. */
async function lookAfter(
  context: CheckContext,
  { requirement: of, what, change, statuses }: Refusal,
): Promise<void> {
  const { run, requirement } = context
  const operation = operationIn(context)
  const setup = { about: `${operation}/${of}`, role: 'setup', badInput: true, what } as const
  const purpose = { requirement: requirement.id, role: 'probe' } as const
  const isSettled = (one: Exchange): boolean => countsAsGranted(one) || one.response?.status === 409
  for (let look = 1; look <= timesAlike; look++) {
    const probe = await freshCreation(run, operation)
    const refusedOne = await context.send(await change(probe), setup)
    if (!statuses.includes(refusedOne.response?.status ?? 0))
      showsNothing('the creation that should be refused', refusedOne)
    const send = () => askHolding(run, probe, purpose, { fresh: true })
    const again = await sendUntilSettled(run, await send(), send, isSettled)
    if (isTaken(again)) return
    // An unanswered one may have created what this one conflicts with.
    if (again.unanswered || !isRefused(again))
      showsNothing('the creation after a refused one', again)
    // One more per attempt: with a fixed order, a periodic failure would seem to follow a refusal.
    for (let count = 0; count < look; count++) {
      const plain = await context.send(() => freshCreation(run, operation), { role: 'setup' })
      if (isTaken(plain)) continue
      noteRefused(context, plain)
      showsNothing('a creation without a refused one before it', plain)
    }
  }
}

const isRefused = ({ response, throttled }: Exchange): boolean =>
  response !== undefined &&
  !throttled &&
  !isGranted(response) &&
  ![401, 403, 429, 503].includes(response.status)

/** Whether it shows the fate of a creation beside an accepted one, whose answer may be lost. */
function isTelling(sent: readonly Exchange[]): boolean {
  const made = sent.filter(isTaken).length
  return made > 1 || (made === 1 && sent.some(isRefused))
}

/** Of simultaneous creations of one thing at most one is accepted. */
export const onceAtOnce: Judge = async (context) => {
  const { run, requirement, scenario } = context
  if (scenario) return byScenario(context)
  if (run.target.limits.concurrency < 2) throw new NotExercised(needTwo)
  await requireControl(context)
  const { operation } = creatorOf(operationIn(context))
  const sendAll = async (): Promise<readonly Exchange[]> => {
    const probe = await freshCreation(run, operation)
    const size = atOnce[run.options.depth]
    return sendAtOnce(run, { size, make: () => probe, requirement: requirement.id })
  }
  let sent = await sendAll()
  // The accepted one may have lost its answer, and the others may be throttled.
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
  judgeRelation(context)
}

/** Requests an existing thing once more. */
export async function askAgain(context: CheckContext, probe: Probe): Promise<Exchange> {
  const { run } = context
  const { exists, same, what } = creatorOf(operationIn(context))
  const purpose = { badInput: true, expects: exists, what: `with ${same} as ${what} that exists` }
  const last = await context.send(refused(probe), purpose)
  await lookForFile(run, last)
  return last
}

/** Judges that an existing thing is refused; a missing answer is all there is to see. */
export function judgeOnce(context: CheckContext, last: Exchange): void {
  if (!last.response)
    judgePairs(context, last, creatorOf(operationIn(context)).exists, last.purpose.what ?? '')
  judgeRelation(context)
}

/** A creation of another requirement, whose name is in use: a server may only check new names. */
function alsoMade({ run }: CheckContext, id: OperationId): HistoryEvent | undefined {
  const usable = `${id}/2xx-usable`
  // A scenario may create in another account, with other names.
  if (run.target.scenarios[usable] !== undefined) return undefined
  return madeBy(historyOf(run), id).find(({ exchange }) => exchange.purpose.requirement === usable)
}

/** An existing thing is not created again, neither the second and third time, nor after another creation. */
export const once: Judge = async (context) => {
  const { run, scenario } = context
  if (scenario) return byScenario(context)
  const valid = await requireControl(context)
  // A repeated first creation uses another name: the last one exists.
  const { probe, endedAt } = await create(context, valid, 'the first creation')
  judgeOnce(context, await askAgain(context, probe))
  if (run.options.depth === 'quick') return
  judgeOnce(context, await askAgain(context, probe))
  await context.send(valid, { role: 'setup' })
  context.atEnd = async () => {
    const other = alsoMade(context, probe.operation!)
    await awaitAge(run, [endedAt, other?.endedAt ?? 0])
    const again = other?.name === undefined ? probe : atRole(run, probe, 'name', other.name)
    judgeOnce(context, await askAgain(context, again))
  }
}
