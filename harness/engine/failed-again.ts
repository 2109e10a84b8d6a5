import { operation as operationOf } from '../../catalogue/operations.ts'
import type { Failure, RequirementResult } from '../report/model.ts'
import { isGranted, tpeOf } from './answer.ts'
import { shownExchanges } from './check-context.ts'
import { describeAnswer, withFinding } from './describe.ts'
import type { Exchange } from './exchange.ts'
import type { Run } from './run.ts'
import { sendOnce } from './send.ts'
import { isThrottling, mayRepeat } from './wrong-answer.ts'

/** An answer that is another one at the end is asked for so often: it may come and go. */
const times = 4

/**
 * Sends what failed once more when everything else was sent, each request by itself. Gives the results of which the first
 * failure shows otherwise by then, with what came: it takes what was sent before, or time, or it comes and goes. A quick run
 * has no requests to spare.
 */
export async function sendFailedAgain<R extends RequirementResult>(run: Run, results: Iterable<R>): Promise<R[]> {
  if (run.options.depth === 'quick') return []
  if (run.life.ended) return []
  const told = await Promise.all([...results].map((result) => sentAgain(run, result)))
  return told.filter((result) => result !== undefined)
}

async function sentAgain<R extends RequirementResult>(run: Run, result: R): Promise<R | undefined> {
  const [failure, ...others] = result.failures
  const exchange = failure?.exchange && shownExchanges(run).get(failure.exchange)
  if (!exchange || !isOpen(failure, exchange) || !isPlain(run, result.id) || !isHarmless(exchange)) return undefined
  const later = await answersAtEnd(run, result.id, exchange).catch(() => [])
  const [last] = later
  if (last === undefined || kindOf(last) === kindOf(exchange)) return undefined
  return { ...result, failures: [toldWith(run, failure, { exchange, later, last }), ...others] }
}

/** What asking again can tell: not what takes a state that is over by now. */
function isOpen({ takes }: Failure, { finding }: Exchange): boolean {
  return finding === undefined && (takes === undefined || takes === 'object-of-run')
}

/** The answers to the request by itself; no more than one if that is the one that failed, none if one of them says nothing. */
async function answersAtEnd(run: Run, id: string, { probe, ...failed }: Exchange): Promise<Exchange[]> {
  const purpose = { requirement: id, role: 'probe', unobserved: true } as const
  const later: Exchange[] = []
  while (later.length < times) {
    const exchange = await sendOnce(run, probe, purpose, { fresh: true })
    if (!exchange.answer || isThrottling(exchange)) return []
    later.push(exchange)
    if (kindOf(later[0]!) === kindOf(failed)) break
  }
  return later
}

interface Later {
  readonly exchange: Exchange
  readonly later: readonly Exchange[]
  readonly last: Exchange
}

function toldWith(run: Run, failure: Failure, { exchange, later, last }: Later): Failure {
  const clean = (text: string): string => run.client.recorder.redact(text)
  if (later.every((other) => kindOf(other) === kindOf(last)))
    return { ...failure, takes: failure.takes ?? 'earlier-requests', later: clean(describeAnswer(last)) }
  const counts = new Map<string, number>()
  for (const answer of [exchange, ...later].map(describeAnswer)) counts.set(answer, (counts.get(answer) ?? 0) + 1)
  const finding = { kind: 'answers-differ', answers: [...counts] } as const
  return { ...failure, takes: 'chance', actual: clean(withFinding({ ...exchange, finding }, failure.actual)) }
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

function kindOf({ answer }: Pick<Exchange, 'answer'>): string {
  return `${answer?.status} ${answer ? (tpeOf(answer) ?? '') : ''}`
}
