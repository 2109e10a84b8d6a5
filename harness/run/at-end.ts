import type { Client, Given } from '../client/index.ts'
import { findRequirement } from '../../catalogue/catalogue.ts'
import { blamed } from './failure.ts'
import {
  type Exchange,
  kindOf,
  NotExercised,
  type PreviousRequest,
  withFinding,
  answerAtEnd,
  isHarmless,
  leavesState,
} from '../journal/index.ts'
import { type Failure, mistakeReason, type RequirementResult } from '../report/index.ts'
import { exclusiveIds } from '../target/index.ts'

/** With more failures than this, one that recurs is not sent again: most are wrong every time. */
const maxAskedOften = 30

/**
 * Resends each failed request alone at the end of the run. Returns the results whose first failure has changed, with
 * the new answer: it depends on earlier requests, time, or chance. Skipped in a quick run.
 */
export async function sendFailedAgain<R extends RequirementResult>(
  client: Client,
  given: Given,
  failed: readonly R[],
): Promise<R[]> {
  if (given.options.depth === 'quick' || client.life.ended) return []
  const isOften = failed.length <= maxAskedOften
  const changed = await Promise.all(
    failed.map((result) =>
      sentAgain(client, given, result, isOften).catch((error: unknown): R | undefined =>
        error instanceof NotExercised
          ? undefined
          : { ...result, outcome: 'not-exercised', ...mistakeReason(error), failures: [] },
      ),
    ),
  )
  return changed.filter((result) => result !== undefined)
}

async function sentAgain<R extends RequirementResult>(
  client: Client,
  given: Given,
  result: R,
  isOften: boolean,
): Promise<R | undefined> {
  const [failure, ...others] = result.failures
  const exchange = failure?.exchange && client.findings.shown.get(failure.exchange)
  // Its meaning depends on the requests around it.
  if (!exchange || exclusiveIds(given.target).has(result.id)) return undefined
  if (exchange.finding !== undefined || !isHarmless(exchange)) return undefined
  // Resending only helps if the failure depends on no state that is gone.
  if ((failure.takes ?? 'object-of-run') !== 'object-of-run') return undefined
  const { probe } = exchange
  // If it creates an object after all, that is listed and removed like others.
  const mayMake = probe.effect !== 'none' && leavesState(probe)
  const purpose = { requirement: result.id, role: 'probe', skipPassive: !mayMake } as const
  // Such a target locks keys after wrong ones.
  const isFew =
    given.target.limits.credentialProbes === 'few' &&
    findRequirement(result.id)?.fault === 'credentials'
  const again = () => client.sendOnce({ source: probe, purpose, fresh: true })
  const { finding } = await askAtEnd(exchange, again, isOften && !isFew)
  if (!finding) return undefined
  const clean = (text: string): string => client.recorder.redact(text)
  const told: Failure =
    finding.kind === 'otherwise-later'
      ? {
          ...failure,
          takes: failure.takes ?? 'earlier-requests',
          later: clean(finding.response),
        }
      : {
          ...failure,
          takes: 'chance',
          actual: clean(withFinding({ ...exchange, finding }, failure.actual)),
        }
  return { ...result, failures: [told, ...others] }
}

async function askAtEnd(
  failed: Exchange,
  again: () => Promise<Exchange>,
  isOften: boolean,
): Promise<Exchange> {
  const later: Exchange[] = []
  for (;;) {
    const answer = answerAtEnd(failed, later, isOften)
    if (!('more' in answer)) return answer
    later.push(...(await Promise.all(Array.from({ length: answer.more }, again))))
  }
}

/** Wrong answers of which the cause is looked for, and how often it must show. */
const maxSought = 10
const proofs = 3

/**
 * Looks for the request that spoiled an answer which is right without it. Returns the changed results: the requirement
 * of the spoiling request fails, not that of the spoiled one.
 */
export async function blameSpoilers<R extends RequirementResult>(
  client: Client,
  given: Given,
  results: ReadonlyMap<string, R>,
): Promise<R[]> {
  const changed = new Map<string, R>()
  const spoiled = [...results.values()].filter(({ failures: [first, ...more] }) => {
    return first?.takes === 'earlier-requests' && first.later !== undefined && more.length === 0
  })
  const spoilers: PreviousRequest[] = []
  for (const result of spoiled.slice(0, maxSought)) {
    const shown = result.failures[0]!.exchange
    const wrong = shown && client.findings.shown.get(shown)
    if (!wrong?.requestsBefore || client.life.ended) continue
    if (wrong.probe.effect !== 'none' && leavesState(wrong.probe)) continue
    const found = await spoilerOf(client, wrong, [...spoilers, ...wrong.requestsBefore])
    const { id, failure } = found?.recorded
      ? blamed(given, found, wrong, found.recorded())
      : { id: undefined, failure: undefined }
    const own = id === undefined ? undefined : (changed.get(id) ?? results.get(id))
    if (!found || !failure || !own) continue
    if (!spoilers.includes(found)) spoilers.unshift(found)
    if (id !== result.id) {
      const reason = `its answer was wrong only after a request of ${id}, which fails for that`
      changed.set(result.id, { ...result, outcome: 'not-exercised', reason, failures: [] })
    }
    if (own.outcome !== 'failed' || id === result.id)
      changed.set(own.id, { ...without(own), outcome: 'failed', failures: [failure] })
  }
  return [...changed.values()]
}

function without<R extends RequirementResult>({ reason: _reason, why: _why, ...rest }: R) {
  return rest as R
}

async function spoilerOf(
  client: Client,
  wrong: Exchange,
  candidates: readonly PreviousRequest[],
): Promise<PreviousRequest | undefined> {
  const unjudged = { skipPassive: true, skipJudging: 'at all' } as const
  const send = (exchange: Pick<Exchange, 'probe' | 'purpose'>): Promise<Exchange> =>
    client.sendOnce({
      source: exchange.probe,
      purpose: { ...exchange.purpose, ...unjudged },
      fresh: true,
    })
  const isWrong = async (): Promise<boolean> => kindOf(await send(wrong)) === kindOf(wrong)
  for (const one of candidates) {
    let shown = 0
    for (; shown < proofs; shown++) {
      await send(one)
      if (!(await isWrong()) || (await isWrong())) break
    }
    if (shown === proofs) return one
  }
  return undefined
}
