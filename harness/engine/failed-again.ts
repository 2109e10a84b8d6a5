import { operation as operationOf } from '../../catalogue/operations.ts'
import type { Failure, RequirementResult } from '../report/model.ts'
import { isGranted, tpeOf } from './answer.ts'
import { shownExchanges } from './check-context.ts'
import { describeAnswer } from './describe.ts'
import type { Exchange } from './exchange.ts'
import type { Run } from './run.ts'
import { sendOnce } from './send.ts'
import { isThrottling, mayRepeat } from './wrong-answer.ts'

/**
 * Sends what failed once more when everything else was sent, each request by itself. Gives the results of which the first
 * failure shows otherwise by then, with what came: it takes what was sent before, or time. A quick run has no requests to spare.
 */
export async function sendFailedAgain<R extends RequirementResult>(run: Run, results: Iterable<R>): Promise<R[]> {
  if (run.options.depth === 'quick') return []
  const told = await Promise.all([...results].map((result) => (run.life.ended ? undefined : sentAgain(run, result))))
  return told.filter((result) => result !== undefined)
}

async function sentAgain<R extends RequirementResult>(run: Run, result: R): Promise<R | undefined> {
  const [failure, ...others] = result.failures
  const exchange = failure?.exchange && shownExchanges(run).get(failure.exchange)
  if (!exchange || failure.takes !== undefined || !isPlain(run, result.id) || !isHarmless(exchange)) return undefined
  const purpose = { requirement: result.id, role: 'probe', unobserved: true } as const
  const later = await sendOnce(run, exchange.probe, purpose, { fresh: true }).catch(() => undefined)
  if (!later?.answer || isThrottling(later) || kindOf(later) === kindOf(exchange)) return undefined
  const words = run.client.recorder.redact(describeAnswer(later))
  const told: Failure = { ...failure, takes: 'earlier-requests', later: words }
  return { ...result, failures: [told, ...others] }
}

/** Requests of the target file around it, or beside it, make something else of it. */
function isPlain({ target }: Run, id: string): boolean {
  const { before, after, repeat } = target.scenarios[id] ?? { before: [], after: [] }
  return before.length === 0 && after.length === 0 && repeat === undefined
}

/** Sent once more it makes and costs nothing that it has not made before. */
function isHarmless(exchange: Exchange): boolean {
  const { answer, probe } = exchange
  if (!answer || isThrottling(exchange) || !mayRepeat(exchange)) return false
  const isFree = probe.operation === null || operationOf(probe.operation).effect === 'none'
  return isFree || !isGranted(answer)
}

function kindOf({ answer }: Exchange): string {
  return `${answer?.status} ${answer ? (tpeOf(answer) ?? '') : ''}`
}
