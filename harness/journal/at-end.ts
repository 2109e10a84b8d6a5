import { operation as operationOf } from '../../catalogue/operations.ts'
import {
  describeResponse,
  differing,
  type Exchange,
  isGranted,
  isThrottling,
  kindOf,
  mayRepeat,
  type Probe,
} from '../engine/index.ts'

/** Number of attempts at the end, since an answer may vary, by replica or at random. */
const times = 4

/** Whether a failed request may be sent again: it creates nothing, or was refused before. */
export function isHarmless(exchange: Exchange): boolean {
  const { response, probe } = exchange
  if (!response || isThrottling(exchange) || !mayRepeat(exchange)) return false
  return !leavesState(probe) || !isGranted(response)
}

/** Whether it creates an object or adds one to another: once accepted, the same request gets another answer. */
export function leavesState({ operation }: Probe): boolean {
  if (operation === null) return false
  const { creates, freshFileAt } = operationOf(operation)
  return creates !== undefined || freshFileAt !== undefined
}

/**
 * Compares answers at the end of the run with an earlier failure: how many more are needed, or the exchange with what
 * they show, if it differs.
 * @param isOften several, whatever comes first
 */
export function answerAtEnd(
  failed: Exchange,
  later: readonly Exchange[],
  isOften: boolean,
): Exchange | { readonly more: number } {
  const isAlike = (other: Exchange): boolean => kindOf(other) === kindOf(failed)
  if (later.some((other) => !other.response || isThrottling(other))) return failed
  const [first] = later
  // A request that creates something after all is not sent again.
  const mayMake = failed.probe.effect !== 'none' && leavesState(failed.probe)
  const isMade = mayMake && later.some(({ response }) => isGranted(response!))
  if (first && !isOften && isAlike(first)) return failed
  if (later.length < times && !isMade) {
    const leavesNothing = !mayMake && failed.probe.effect !== 'creates'
    // All at once if that leaves nothing behind: sending one per failure in turn would hit the same of several
    // instances every time.
    return { more: leavesNothing && (isOften || first) ? times - later.length : 1 }
  }
  if (later.every(isAlike)) return failed
  const finding = later.every((other) => kindOf(other) === kindOf(first!))
    ? ({ kind: 'otherwise-later', response: describeResponse(first!) } as const)
    : differing([failed, ...later].map(describeResponse))
  return { ...failed, finding }
}
