import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { type Client, type Given, effectOf } from '../../harness/client/index.ts'
import {
  NotExercised,
  Throttled,
  wasAnswered,
  type Ask,
  countsAsGranted,
  type Evidence,
  type Journal,
  type Verdict,
} from '../../harness/journal/index.ts'
import { leftOut, type Reason } from '../../harness/report/index.ts'
import { mayGenerate, type CheckContext, maxAtOnce, sendShared } from '../../harness/run/index.ts'
import { type Case, type CaseCondition, countAll, type Material, type Refusal } from './case.ts'
import { whyNotOfInput } from './control.ts'
import { sharedBy } from './created.ts'
import { oddCases } from './odd-cases.ts'
import { type CaseRule, remembering } from './rules.ts'
import { validRequest } from './valid-request.ts'
import { sampled } from './values.ts'

export const badInput: CaseCondition = {
  cases: casesOf,
  async casesIn(context, material) {
    const cases = casesOf(material)
    await requireAnother(context, material)
    return cases
  },
  judge,
}

function casesOf(material: Material): readonly Case[] {
  // Some of it may be accepted.
  if (material.options.readOnly && material.valid.effect !== 'none')
    throw new NotExercised(leftOut('--read-only'))
  return sampled({ given: material, requirement: material.requirement }, oddCases(material))
}

/**
 * Sends first what cannot make the target generate, then the rest while the run may generate more. At the end, reports
 * what is left, and checks crashes found by other requirements.
 */
async function judge(refusal: Refusal, isEnd: boolean): Promise<Verdict> {
  const { context, material, cases } = refusal
  const { client, given } = context
  const rules = new Map<Case, CaseRule>()
  const ruleOf: RuleOf = (one) => {
    const known = rules.get(one) ?? remembering(refusal.ruleOf(one))
    rules.set(one, known)
    return known
  }
  const generates = effectOf(given, material.operation) === 'generates'
  const mayTake = (one: Case): boolean => generates && one.effect !== 'none'
  const look = (some: readonly Case[]) => (most: number) => walk(client.journal, ruleOf, some, most)
  const { generated } = sharedBy(client)
  const unlimited = { left: Infinity }
  const allowed = mayGenerate(given, context.requirement.id)
  const allowance = allowed === undefined ? unlimited : (generated.allowance ??= { left: allowed })
  const free = await settleWalk(
    client,
    ruleOf,
    look(cases.filter((one) => !mayTake(one))),
    unlimited,
  )
  const costly = free.end
    ? free
    : await settleWalk(client, ruleOf, look(cases.filter(mayTake)), allowance)
  const judged = free.judged + costly.judged
  const failed =
    (await ended(client, given, costly)) ??
    (isEnd && (await crashOf(client, given, material.operation)))
  if (failed) return { ...failed, cases: judged }
  if (!isEnd) {
    generated.waiting += countAll(costly.pending.map((other) => other.one))
    return { outcome: 'asks', cases: judged, asks: [], atEnd: true }
  }
  const left = costly.pending.length
  if (left === 0) return { outcome: 'held', cases: judged }
  const { maxGenerations } = given.target.limits
  // What was used, and what had to wait for it.
  const enough = Math.ceil((maxGenerations + generated.waiting) / 10) * 10
  const why = `maxGenerations: the target accepts so much bad input that limits.maxGenerations (${maxGenerations}) is used up; ${enough} would be enough; ${left} of ${judged + left} cases were not judged`
  return { outcome: 'open', cases: judged, why }
}

type RuleOf = (one: Case) => CaseRule

interface Walk {
  readonly pending: { readonly one: Case; readonly asks: readonly Ask[] }[]
  judged: number
  /** Why it goes no further: a 5xx, or what says nothing. */
  end?: Evidence | Reason
}

/**
 * Judges cases in order. A request that combines several odd values judges all of them if it is accepted. If
 * it gets a 4xx or 5xx, one value may be the cause, so each is sent alone. @param most stop at this many cases that are not judged yet
 */
function walk(journal: Journal, ruleOf: RuleOf, cases: readonly Case[], most: number): Walk {
  const seen: Walk = { pending: [], judged: 0 }
  const queue = cases.toReversed()
  for (let one = queue.pop(); one && !seen.end && seen.pending.length < most; one = queue.pop()) {
    const verdict = ruleOf(one).judge(journal)
    if (verdict.outcome === 'asks') {
      seen.pending.push({ one, asks: verdict.asks })
      continue
    }
    seen.judged++
    if (verdict.outcome === 'open') seen.end = verdict.why
    else if (verdict.outcome !== 'held') {
      const which = whichBroke(journal, ruleOf, one.parts ?? []) ?? verdict.evidence
      if ('asks' in which) return { ...seen, pending: [{ one, asks: which.asks }] }
      seen.end = which
    } else if (!verdict.isGranted) queue.push(...partsAfter(one).toReversed())
  }
  return seen
}

const partsAfter = ({ parts = [], isConclusive }: Case): readonly Case[] =>
  isConclusive ? [] : parts

function whichBroke(
  journal: Journal,
  ruleOf: RuleOf,
  cases: readonly Case[],
): Evidence | { readonly asks: Ask[] } | undefined {
  for (const one of cases) {
    const verdict = ruleOf(one).judge(journal)
    if (verdict.outcome === 'asks') return { asks: [...verdict.asks] }
    if (verdict.outcome === 'open') return undefined
    const isOver = verdict.outcome === 'held' && verdict.isGranted
    const deeper = isOver ? undefined : whichBroke(journal, ruleOf, partsAfter(one))
    if (deeper) return deeper
    if (verdict.outcome !== 'held') return verdict.evidence
  }
  return undefined
}

/** Sends the requests of a walk, as long as the allowance covers them all if accepted; unanswered ones count. */
async function settleWalk(
  client: Client,
  ruleOf: RuleOf,
  look: (most: number) => Walk,
  allowance: { left: number },
): Promise<Walk> {
  const isGranted = (one: Case): boolean => {
    const verdict = ruleOf(one).judge(client.journal)
    return verdict.outcome === 'held' && verdict.isGranted === true
  }
  for (;;) {
    const most = Math.min(maxAtOnce, allowance.left)
    const seen = look(most > 0 ? most : Infinity)
    const batch = seen.pending.slice(0, most)
    if (seen.end || batch.length === 0) return seen
    allowance.left -= batch.length
    await Promise.all(batch.flatMap((one) => one.asks).map((ask) => sendShared(client, ask)))
    allowance.left += batch.length - batch.filter((other) => isGranted(other.one)).length
  }
}

async function ended(
  client: Client,
  given: Given,
  one: Pick<Walk, 'end' | 'judged'>,
): Promise<Verdict | undefined> {
  if (!one.end) return undefined
  if ('reason' in one.end)
    return { outcome: 'open', cases: one.judged, why: one.end.reason, reason: one.end }
  const why = await whyNotOfInput(client, given, one.end.exchange)
  return why === undefined
    ? { outcome: 'broken', cases: one.judged, evidence: [one.end] }
    : { outcome: 'open', cases: one.judged, why }
}

async function crashOf(
  client: Client,
  given: Given,
  operation: OperationId,
): Promise<Verdict | undefined> {
  const crash = sharedBy(client).crashes.find((one) => one.exchange.probe.operation === operation)
  if (!crash) return undefined
  const { exchange, what } = crash
  const shownBy = exchange.purpose.requirement
  const end: Evidence = { exchange, what, expected: 'anything but a 5xx', shownBy }
  return ended(client, given, { judged: 1, end })
}

/** A crash on a creation proves nothing if a second valid creation crashes too: another requirement reports that. */
async function requireAnother(context: CheckContext, material: Material): Promise<void> {
  if (operationOf(material.operation).creates?.name === undefined) return
  // A new object per try, since the answer to the first may be lost.
  const purpose = { role: 'setup', isSuccess: countsAsGranted } as const
  const another = await context.send(
    () => validRequest(context.client, context.given, material.operation),
    purpose,
  )
  if (countsAsGranted(another)) return
  const Reason = another.throttled ? Throttled : NotExercised
  throw new Reason(`a second valid request ${wasAnswered(another)}`)
}
