import type { Effect } from '../../catalogue/operation.ts'
import { Failed } from '../engine/outcome.ts'
import type { Probe } from '../engine/probe.ts'
import { judgeEach, mostAtOnce } from './at-once.ts'
import type { RefusalContext } from './refusals.ts'

/** One request with a fault, or with several; made when it is sent, so that a creation among them has a name of its own. */
export interface Case {
  readonly what: string
  readonly effect: Effect
  make(): Promise<Probe>
  /** Cases that it holds together, each with fewer faults: sent if its answer leaves open what they would be answered. */
  readonly parts?: readonly Case[]
  /** A refusal, too, answers for all of its parts. */
  readonly isConclusive?: boolean
}

/**
 * Judges cases, several at once, until none is left or no more may be granted; those that were judged are taken out. If all
 * that a request holds is granted, each of its parts was looked at. A refusal may be of the first of them alone, and a 5xx
 * does not say which it was: both are followed by the parts.
 * @param may how many of them may be granted yet
 */
export async function judgeCases(refusal: RefusalContext, cases: Case[], may: () => number): Promise<void> {
  while (cases.length > 0 && may() > 0) {
    const batch = cases.splice(0, Math.min(mostAtOnce, may()))
    const open = await openParts(refusal, batch)
    cases.unshift(...open)
  }
}

/** Parts of refused cases, in their order. */
async function openParts(refusal: RefusalContext, cases: readonly Case[]): Promise<Case[]> {
  const open = new Map<Case, readonly Case[]>()
  await judgeEach(cases, async (one) => open.set(one, await judgeCase(refusal, one)))
  return cases.flatMap((one) => open.get(one) ?? [])
}

async function judgeCase(refusal: RefusalContext, one: Case): Promise<readonly Case[]> {
  const { parts = [], isConclusive = false } = one
  try {
    const isGranted = await refusal.judge(await one.make(), one.what)
    return isGranted || isConclusive ? [] : parts
  } catch (error) {
    if (error instanceof Failed && error.failure.exchange?.response) await showWhich(refusal, parts)
    throw error
  }
}

/** Throws the failure of the first part that fails by itself. */
async function showWhich(refusal: RefusalContext, parts: readonly Case[]): Promise<void> {
  for (const part of parts) await showWhich(refusal, await judgeCase(refusal, part))
}
