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

/** An answer is asked for so often at the end, as it may come and go: by replica, or at random. */
const times = 4

/** Whether a request that failed may be sent again: it makes nothing, or was refused before. */
export function isHarmless(exchange: Exchange): boolean {
  const { response, probe } = exchange
  if (!response || isThrottling(exchange) || !mayRepeat(exchange)) return false
  return !leavesState(probe) || !isGranted(response)
}

/** Whether it makes an object, or adds one to another: granted once, the same request is answered otherwise from then on. */
export function leavesState({ operation }: Probe): boolean {
  if (operation === null) return false
  const { creates, freshFileAt } = operationOf(operation)
  return creates !== undefined || freshFileAt !== undefined
}

/**
 * What the answers of the end of a run, when all else was sent, make of one that failed: how many more are needed, or the exchange
 * with what they show, if that is anything else than before.
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
  // What makes an object after all is not sent any more.
  const mayMake = failed.probe.effect !== 'none' && leavesState(failed.probe)
  const isMade = mayMake && later.some(({ response }) => isGranted(response!))
  if (first && !isOften && isAlike(first)) return failed
  if (later.length < times && !isMade) {
    const leavesNothing = !mayMake && failed.probe.effect !== 'creates'
    // At once, if that leaves nothing behind: one each of all failures in turn, instances that take turns would give each failure the
    // same one every time.
    return { more: leavesNothing && (isOften || first) ? times - later.length : 1 }
  }
  if (later.every(isAlike)) return failed
  const finding = later.every((other) => kindOf(other) === kindOf(first!))
    ? ({ kind: 'otherwise-later', response: describeResponse(first!) } as const)
    : differing([failed, ...later].map(describeResponse))
  return { ...failed, finding }
}
