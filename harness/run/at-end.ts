import { type Exchange, NotExercised, type Run, withFinding } from '../engine/index.ts'
import { answerAtEnd, isHarmless, leavesState } from '../journal/index.ts'
import { type Failure, mistakeReason, type RequirementResult } from '../report/index.ts'
import { exclusiveIds } from '../target/index.ts'

/** With more failures than this, one that recurs is not sent again: most are wrong every time. */
const maxAskedOften = 30

/**
 * Resends each failed request alone at the end of the run. Returns the results whose first failure has changed, with
 * the new answer: it depends on earlier requests, time, or chance. Skipped in a quick run.
 */
export async function sendFailedAgain<R extends RequirementResult>(
  run: Run,
  failed: readonly R[],
): Promise<R[]> {
  if (run.options.depth === 'quick' || run.life.ended) return []
  const isOften = failed.length <= maxAskedOften
  const changed = await Promise.all(
    failed.map((result) =>
      sentAgain(run, result, isOften).catch((error: unknown): R | undefined =>
        error instanceof NotExercised
          ? undefined
          : { ...result, outcome: 'not-exercised', ...mistakeReason(error), failures: [] },
      ),
    ),
  )
  return changed.filter((result) => result !== undefined)
}

async function sentAgain<R extends RequirementResult>(
  run: Run,
  result: R,
  isOften: boolean,
): Promise<R | undefined> {
  const [failure, ...others] = result.failures
  const exchange = failure?.exchange && run.findings.shown.get(failure.exchange)
  // Its meaning depends on the requests around it.
  if (!exchange || exclusiveIds(run.target).has(result.id)) return undefined
  if (exchange.finding !== undefined || !isHarmless(exchange)) return undefined
  // Resending only helps if the failure depends on no state that is gone.
  if ((failure.takes ?? 'object-of-run') !== 'object-of-run') return undefined
  const { probe } = exchange
  // If it creates an object after all, that is listed and removed like others.
  const mayMake = probe.effect !== 'none' && leavesState(probe)
  const purpose = { requirement: result.id, role: 'probe', skipPassive: !mayMake } as const
  // Such a target locks keys after wrong ones.
  const isFew =
    run.target.limits.credentialProbes === 'few' &&
    run.api.requirement(result.id)?.fault === 'credentials'
  const again = () => run.client.sendOnce(probe, purpose, { fresh: true })
  const { finding } = await askAtEnd(exchange, again, isOften && !isFew)
  if (!finding) return undefined
  const clean = (text: string): string => run.client.recorder.redact(text)
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
