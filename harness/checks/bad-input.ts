import { countsAsGranted } from '../journal/index.ts'
import { busyStatus, operation as operationOf } from '../../catalogue/operations.ts'
import {
  effectOf,
  Failed,
  mayGenerate,
  NotExercised,
  Throttled,
  wasAnswered,
} from '../engine/index.ts'
import { leftOut } from '../report/index.ts'
import { tryEach, maxAtOnce } from './at-once.ts'
import { tryCase } from './by-cases.ts'
import {
  type Case,
  type CaseCondition,
  countAll,
  type Material,
  materialOf,
  type RefusalContext,
} from './case.ts'
import { requireOfInput } from './control.ts'
import { type Allowance, generationsLeft, sharedBy } from './created.ts'
import { oddCases } from './odd-cases.ts'
import { validRequest } from './valid-request.ts'
import { sampled } from './values.ts'

/** Judges that no fault of a body or of its members is answered by a 5xx. */
export const badInput: CaseCondition = {
  cases: casesOf,
  async bringAbout(refusal) {
    const { context, operation, granted } = refusal
    const { run, open } = context
    const all = [...casesOf(materialOf(run, context.requirement, operation))]
    await requireAnother(refusal)
    open.plan(all.length)
    const generates = effectOf(run, operation) === 'generates'
    const mayTake = (one: Case): boolean => generates && one.effect !== 'none'
    const free = all.filter((one) => !mayTake(one))
    const left = all.filter(mayTake)
    await tryCases(refusal, free, { left: () => Infinity })
    context.atEnd = async () => showCrash(refusal)
    if (!generates) return
    // What may be granted goes on until as much was generated as is this requirement's share.
    const may = (mayGenerate(run, context.requirement.id) ?? Infinity) + granted()
    await tryCases(refusal, left, { left: () => may - granted() })
    if (left.length === 0) return
    const { generated } = sharedBy(run)
    generated.waiting += countAll(left)
    // What the others did not need is theirs who have cases left; jobs would make that end a late one.
    context.atEnd = async () => {
      if (busyStatus(operation) === undefined) await tryCases(refusal, left, generationsLeft(run))
      await showCrash(refusal)
      const { maxGenerations } = run.target.limits
      // Whatever the target grants: what was allowed, and all that had to wait.
      const enough = Math.ceil((maxGenerations + generated.waiting) / 10) * 10
      open.leave(
        `maxGenerations: the target grants so much bad input that limits.maxGenerations (${maxGenerations}) is used up; ${enough} would do`,
      )
    }
  },
}

function casesOf(material: Material): readonly Case[] {
  // Some of it may be granted.
  if (material.options.readOnly && material.valid.effect !== 'none')
    throw new NotExercised(leftOut('--read-only'))
  return sampled({ run: material, requirement: material.requirement }, oddCases(material))
}

/**
 * Judges cases, several at once, until none is left or no more may be granted; those that were judged are taken out. If all
 * that a request holds is granted, each of its parts was looked at. A refusal may be of the first of them alone, and a 5xx
 * does not say which it was: both are followed by the parts.
 */
async function tryCases(
  refusal: RefusalContext,
  cases: Case[],
  { left, keep }: Allowance,
): Promise<void> {
  const { open } = refusal.context
  while (cases.length > 0 && left() > 0) {
    const batch = cases.splice(0, Math.min(maxAtOnce, left()))
    const giveBack = keep?.(batch.length)
    const after = new Map<Case, readonly Case[]>()
    const judge = async (one: Case) => after.set(one, await partsAfter(refusal, one))
    await tryEach(batch, judge).finally(giveBack)
    const parts = batch.flatMap((one) => after.get(one) ?? [])
    open.settle(batch.length)
    open.plan(parts.length)
    cases.unshift(...parts)
  }
}

async function partsAfter(refusal: RefusalContext, one: Case): Promise<readonly Case[]> {
  const { parts = [], isConclusive = false } = one
  try {
    const isGranted = await tryCase(refusal, one)
    return isGranted || isConclusive ? [] : parts
  } catch (error) {
    if (error instanceof Failed && error.failure.exchange?.response) await showWhich(refusal, parts)
    throw error
  }
}

async function showWhich(refusal: RefusalContext, parts: readonly Case[]): Promise<void> {
  for (const part of parts) await showWhich(refusal, await partsAfter(refusal, part))
}

/** A fault of a member that another requirement is about is bad input as well. */
async function showCrash({ context, operation }: RefusalContext): Promise<void> {
  const crash = sharedBy(context.run).crashes.find(
    ({ exchange }) => exchange.probe.operation === operation,
  )
  if (!crash) return
  await requireOfInput(context.run, crash.exchange)
  context.again.shownBy = crash.exchange.purpose.requirement
  context.fail(crash.exchange, 'anything but a 5xx', crash.what)
}

/** A creation that may be granted shows nothing if no second valid one is: another requirement tells that it breaks then. */
async function requireAnother({ context, operation }: RefusalContext): Promise<void> {
  if (operationOf(operation).creates?.name === undefined) return
  // One of its own at each try: the answer to the first may be lost.
  const purpose = { role: 'setup', isSuccess: countsAsGranted } as const
  const another = await context.send(() => validRequest(context.run, operation), purpose)
  if (countsAsGranted(another)) return
  const Reason = another.throttled ? Throttled : NotExercised
  throw new Reason(`a second valid request ${wasAnswered(another)}`)
}
