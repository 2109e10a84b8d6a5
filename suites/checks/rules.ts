import fc from 'fast-check'
import type { Pairs } from '../../catalogue/answers.ts'
import type { Client } from '../../harness/client/index.ts'
import {
  type Ask,
  type Asks,
  type Look,
  lookAt,
  type Evidence,
  type Exchange,
  type Journal,
  type Making,
  type Open,
  type Purpose,
  type Source,
  type Verdict,
  open,
} from '../../harness/journal/index.ts'
import { plainReason } from '../../harness/report/index.ts'
import {
  type CheckContext,
  comparePairs,
  type Finding,
  maxAtOnce,
  whySilent,
} from '../../harness/run/index.ts'

/** The journal's verdict on one case. `name`: another name of the same row; it is kept while the search goes on. */
export type CaseVerdict =
  | { readonly outcome: 'held'; readonly cases: number; readonly isGranted?: boolean }
  | { readonly outcome: 'name'; readonly evidence: Evidence }
  | { readonly outcome: 'broken'; readonly evidence: Evidence }
  | Open
  | Asks

export const held = { outcome: 'held', cases: 1 } as const

/** A case, and the rule that judges it by the answers to its requests. */
export interface CaseRule {
  readonly judge: (journal: Journal) => CaseVerdict
  /** After all other cases, or at the end of the run; default: at once. */
  readonly when?: 'after the others' | 'at the end' | undefined
  /** If this case is inconclusive, the others are still judged. */
  readonly isFurther?: boolean
}

/** The answer to a request that is made anew until one is enough. */
export function lookUntil(
  client: Client,
  askOf: (at: number) => Ask,
  isEnough: (exchange: Exchange, tries: number) => boolean,
): Look {
  for (let at = 0; ; at++) {
    const seen = lookAt(client.journal, askOf(at), client.known)
    if (seen.outcome !== 'answered' || isEnough(seen.exchange, at + 1)) return seen
  }
}

/** A request for a requirement; its name tells it from others of the requirement. */
export const requestFor = (
  context: Pick<CheckContext, 'requirement'>,
  name: string,
  source: Source,
  purpose: Partial<Purpose>,
): Ask => ({
  name: `${context.requirement.id} ${name}`,
  source,
  purpose: { requirement: context.requirement.id, role: 'probe', ...purpose },
})

export function madeOnce(make: () => Making): () => Making {
  let made: Making | undefined
  return () => (made ??= make())
}

/** A case that is judged by the answer to a request, if one came. */
export const answerRule =
  (
    context: Pick<CheckContext, 'client' | 'given'>,
    request: Ask,
    verdictOn: (exchange: Exchange, journal: Journal) => CaseVerdict,
  ): CaseRule['judge'] =>
  (journal) => {
    const seen = lookAt(journal, request, context.client.known)
    if (seen.outcome !== 'answered') return seen
    const why = whySilent(seen.exchange)
    return why ? open(why) : verdictOn(seen.exchange, journal)
  }

export function pairsVerdict(
  context: CheckContext,
  exchange: Exchange,
  expected: Pairs,
  what: string,
): CaseVerdict {
  const compared = comparePairs(context, exchange, expected)
  if (typeof compared === 'object') return open(compared.why)
  if (compared === 'held') return held
  return { outcome: compared, evidence: { exchange, what, expected } }
}

export function findingVerdict(
  found: Finding | undefined,
  evidence: Omit<Evidence, 'expected'>,
): CaseVerdict {
  if (!found) return held
  if ('reason' in found) return open(found)
  return { outcome: 'broken', evidence: { ...evidence, ...found } }
}

/** Caches the verdict of a case once it asks for nothing more. */
export function remembering({ judge, isFurther = false }: CaseRule): (journal: Journal) => Judged {
  let known: Judged | undefined
  return (journal) => {
    if (known && known.outcome !== 'asks') return known
    const verdict = judge(journal)
    return (known = isFurther ? { ...verdict, isFurther } : verdict)
  }
}

/** The verdicts on cases so far. */
export interface InOrder {
  readonly asks: readonly Ask[]
  /** One of them decides the requirement, or leaves it open. */
  readonly isOver: boolean
  readonly verdicts: readonly Judged[]
}

/** Judges cases in order, until as much is asked for as can be sent at once. The first ones that are settled stay so. */
export function judgeInOrder(cases: readonly CaseRule[], most: number) {
  const rules = cases.map(remembering)
  const settled: Judged[] = []
  let isOver = false
  return (journal: Journal): InOrder => {
    const verdicts = [...settled]
    const asks: Ask[] = []
    for (let at = settled.length; at < rules.length && asks.length < most; at++) {
      const verdict = rules[at]!(journal)
      verdicts.push(verdict)
      if (verdict.outcome === 'asks') asks.push(...verdict.asks)
      else if (at === settled.length) settled.push(verdict)
      isOver ||= verdict.outcome === 'broken' || (verdict.outcome === 'open' && !verdict.isFurther)
    }
    return { asks, isOver, verdicts }
  }
}

export type Judged = CaseVerdict & { readonly isFurther?: boolean }

const first = <K extends CaseVerdict['outcome']>(verdicts: readonly Judged[], outcome: K) =>
  verdicts.find((one): one is Extract<Judged, { readonly outcome: K }> => one.outcome === outcome)

interface OtherCases {
  /** One after the other: each may depend on what was asked before. */
  readonly inOrder?: boolean | undefined
  readonly generated?: ((journal: Journal) => InOrder) | undefined
}

/** A requirement that is broken by any of these cases, and held by all of them. */
export function allOf(cases: readonly CaseRule[], others: OtherCases = {}) {
  const most = others.inOrder ? 1 : maxAtOnce
  const parts = ([undefined, 'after the others', 'generated', 'at the end'] as const).map(
    (when) => {
      if (when === 'generated') return { when, judge: others.generated }
      const own = cases.filter((one) => one.when === when)
      return { when, judge: own.length > 0 ? judgeInOrder(own, most) : undefined }
    },
  )
  return (journal: Journal): Verdict => {
    const seen: Judged[] = []
    for (const { when, judge } of parts) {
      if (!judge) continue
      const { asks, isOver, verdicts } = judge(journal)
      seen.push(...verdicts)
      if (isOver) break
      if (asks.length === 0) continue
      const isLast = when === 'at the end'
      if (isLast) return { outcome: 'asks', cases: countOf(seen), asks, atEnd: true }
      return { outcome: 'asks', cases: 0, asks }
    }
    return concluded(seen, cases.length)
  }
}

function countOf(verdicts: readonly CaseVerdict[]): number {
  let sum = 0
  for (const one of verdicts)
    if (one.outcome === 'held') sum += one.cases
    else if (one.outcome === 'name' || one.outcome === 'broken') sum++
  return sum
}

export function concluded(seen: readonly Judged[], planned = seen.length): Verdict {
  const cases = countOf(seen)
  const broken = seen.find((one) => one.outcome === 'broken')
  const name = seen.find((one) => one.outcome === 'name')
  const [evidence, ...more] = [broken, name].flatMap((one) => one?.evidence ?? [])
  if (evidence) return { outcome: 'broken', cases, evidence: [evidence, ...more] }
  const open = seen.filter((one) => one.outcome === 'open')
  const [plain] = open.filter((one) => !one.isFurther)
  if (plain) return { ...plain, cases }
  const [left] = open
  if (!left) return { outcome: 'held', cases }
  const { reason } = plainReason(left.why)
  const of = `${open.length} of ${planned} cases were not judged`
  return { outcome: 'open', cases, why: open.length === planned ? reason : `${reason}; ${of}` }
}

/** A further case: if it cannot be judged, the requirement does not pass, but its other cases are still judged. */
export async function furtherCase(judged: Promise<Judged | undefined>): Promise<Judged> {
  return { isFurther: true, ...((await judged) ?? { outcome: 'held', cases: 0 }) }
}

/** Broken by one of these, open by one of them, or held by all. */
export function joined(verdicts: readonly Verdict[]): Verdict {
  const cases = verdicts.reduce((sum, one) => sum + (one.cases ?? 0), 0)
  const found =
    verdicts.find((verdict) => verdict.outcome === 'broken') ??
    verdicts.find((verdict) => verdict.outcome !== 'held')
  return { ...(found ?? { outcome: 'held' }), cases }
}

/** Over HTTP each shrink step is a request: after this many the smallest so far is shown. */
const maxShrinks = 40

interface Search<T> {
  readonly arbitrary: fc.Arbitrary<T>
  readonly seed: number
  readonly numRuns: number
  ruleOf(value: T): CaseRule
}

/**
 * Judges `numRuns` generated cases. Once one of them is broken, it asks for smaller ones until the smallest is known. Each
 * time it searches anew with what the journal knows, and stops at the first case that the journal does not know.
 */
export function generatedBy<T>({ arbitrary, ruleOf, ...search }: Search<T>) {
  const judge = judgeInOrder(fc.sample(arbitrary, search).map(ruleOf), maxAtOnce)
  return (journal: Journal): InOrder => {
    const judged = judge(journal)
    const broken = first(judged.verdicts, 'broken')
    if (!broken || first(judged.verdicts, 'open')) return judged
    const tried: CaseVerdict[] = []
    const isOver = (): boolean => {
      const last = tried.at(-1)?.outcome
      const failed = tried.findIndex((one) => one.outcome === 'broken')
      const isEnough = failed >= 0 && tried.length - failed > maxShrinks
      return last === 'asks' || last === 'open' || isEnough
    }
    const { counterexamplePath } = fc.check(
      fc.property(arbitrary, (value) => {
        // A long value has millions of smaller ones: returning true would go through them all.
        if (isOver()) throw new fc.PreconditionFailure(true)
        tried.push(ruleOf(value).judge(journal))
        return tried.at(-1)?.outcome !== 'broken'
      }),
      search,
    )
    const next = first(tried.slice(-1), 'asks')
    if (next) return { asks: next.asks, isOver: false, verdicts: [next] }
    const smallest = first(tried.toReversed(), 'broken')
    const path = smallest && { path: counterexamplePath }
    const evidence = { ...(smallest ?? broken).evidence, ...path }
    return { asks: [], isOver: true, verdicts: [{ outcome: 'broken', evidence }] }
  }
}
