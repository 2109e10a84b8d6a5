import { type Exchange, NotExercised, type Run, sendOnce, withFinding } from '../engine/index.ts'
import { answerAtEnd, isHarmless, leavesState } from '../journal/index.ts'
import { type Failure, mistakeReason, type RequirementResult } from '../report/index.ts'
import { exclusiveIds } from '../target/index.ts'

/** Above so many failures, one that shows again is not sent any more: most of them are wrong each time. */
const maxAskedOften = 30

/**
 * Sends what failed once more when everything else was sent, each request by itself. Gives the results of which the first
 * failure shows otherwise by then, with what came: it takes what was sent before, or time, or it comes and goes. A quick run
 * has no requests to spare.
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
  // What is sent around a request, or beside it, makes something else of it.
  if (!exchange || exclusiveIds(run.target).has(result.id)) return undefined
  if (exchange.finding !== undefined || !isHarmless(exchange)) return undefined
  // Asking again tells something only if the failure needs no state that is over by now.
  if ((failure.takes ?? 'object-of-run') !== 'object-of-run') return undefined
  const { probe } = exchange
  // An object that it makes after all is listed and removed like others.
  const mayMake = probe.effect !== 'none' && leavesState(probe)
  const purpose = { requirement: result.id, role: 'probe', skipPassive: !mayMake } as const
  // Such a target locks keys after wrong ones.
  const isFew =
    run.target.limits.credentialProbes === 'few' &&
    run.api.requirement(result.id)?.fault === 'credentials'
  const again = () => sendOnce(run, probe, purpose, { fresh: true })
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

/** Sends a request as often as `answerAtEnd` asks for; gives the exchange with what that showed. */
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
