import { exclusiveIds } from '../../target-file/index.ts'
import type { Failure, RequirementResult } from '../../report/index.ts'
import { shownExchanges } from '../check-context.ts'
import { describeResponse, withFinding } from '../describe.ts'
import { differing, type Exchange, isThrottling, mayRepeat, type Probe } from '../exchange.ts'
import { isGranted } from '../response.ts'
import type { Run } from '../run.ts'
import { sendOnce } from '../send.ts'
import { kindOf } from './connection-trial.ts'

/** An answer is asked for so often at the end, as it may come and go: by replica, or at random. */
const times = 4
/** Above so many failures, one that shows again is not sent any more: most of them are wrong each time. */
const maxAskedOften = 30

/**
 * Sends what failed once more when everything else was sent, each request by itself. Gives the results of which the first
 * failure shows otherwise by then, with what came: it takes what was sent before, or time, or it comes and goes. A quick run
 * has no requests to spare.
 */
export async function sendFailedAgain<R extends RequirementResult>(
  run: Run,
  results: Iterable<R>,
): Promise<R[]> {
  if (run.options.depth === 'quick') return []
  if (run.life.ended) return []
  const failed = [...results]
  const changed = await Promise.all(
    failed.map((result) => sentAgain(run, result, failed.length <= maxAskedOften)),
  )
  return changed.filter((result) => result !== undefined)
}

async function sentAgain<R extends RequirementResult>(
  run: Run,
  result: R,
  often: boolean,
): Promise<R | undefined> {
  const [failure, ...others] = result.failures
  const exchange = failure?.exchange && shownExchanges(run).get(failure.exchange)
  // What is sent around a request, or beside it, makes something else of it.
  if (!exchange || exclusiveIds(run.target).has(result.id)) return undefined
  // Asking again tells something only if the failure needs no state that is over by now.
  const isOpen =
    exchange.finding === undefined && (failure.takes ?? 'object-of-run') === 'object-of-run'
  if (!isOpen || !isHarmless(run, exchange)) return undefined
  // Such a target locks keys after wrong ones.
  const isFew =
    run.target.limits.credentialProbes === 'few' &&
    run.api.requirement(result.id)?.fault === 'credentials'
  const later = await responsesAtEnd(run, result.id, exchange, often && !isFew).catch(() => [])
  if (later.every((other) => kindOf(other) === kindOf(exchange))) return undefined
  return { ...result, failures: [withLaterResponses(run, failure, exchange, later), ...others] }
}

/** The answers to the request by itself; no more than one if that is the one that failed, unless `often`; none if one says nothing. */
async function responsesAtEnd(
  run: Run,
  id: string,
  failed: Exchange,
  often: boolean,
): Promise<Exchange[]> {
  // An object that it makes after all is listed and removed like others, and is not made twice.
  const mayMake = failed.probe.effect !== 'none' && leavesState(run, failed.probe)
  const purpose = { requirement: id, role: 'probe', skipPassive: !mayMake } as const
  const ask = (): Promise<Exchange> => sendOnce(run, failed.probe, purpose, { fresh: true })
  const leavesNothing = !mayMake && failed.probe.effect !== 'creates'
  const later: Exchange[] = []
  while (later.length < times) {
    // At once, if that leaves nothing behind: one each of all failures in turn, instances that take turns would give each
    // failure the same one every time.
    const count = leavesNothing && (often || later.length > 0) ? times - later.length : 1
    later.push(...(await Promise.all(Array.from({ length: count }, ask))))
    if (later.some((other) => !other.response || isThrottling(other))) return []
    if (mayMake && isGranted(later.at(-1)!.response!)) break
    if (!often && kindOf(later[0]!) === kindOf(failed)) break
  }
  return later
}

function withLaterResponses(
  run: Run,
  failure: Failure,
  exchange: Exchange,
  later: readonly Exchange[],
): Failure {
  const first = later[0]!
  const clean = (text: string): string => run.client.recorder.redact(text)
  if (later.every((other) => kindOf(other) === kindOf(first)))
    return {
      ...failure,
      takes: failure.takes ?? 'earlier-requests',
      later: clean(describeResponse(first)),
    }
  const finding = differing([exchange, ...later].map(describeResponse))
  return {
    ...failure,
    takes: 'chance',
    actual: clean(withFinding({ ...exchange, finding }, failure.actual)),
  }
}

/** Sent once more it makes nothing, or was refused before; and a target that refuses it generates nothing. */
function isHarmless(run: Run, exchange: Exchange): boolean {
  const { response, probe } = exchange
  if (!response || isThrottling(exchange) || !mayRepeat(exchange)) return false
  return !leavesState(run, probe) || !isGranted(response)
}

/** Whether it makes an object, or adds one to another: granted once, the same request is answered otherwise from then on. */
function leavesState({ api }: Run, { operation }: Probe): boolean {
  if (operation === null) return false
  const { creates, freshFileAt } = api.operation(operation)
  return creates !== undefined || freshFileAt !== undefined
}
