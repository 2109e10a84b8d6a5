import { operation as operationOf } from '../../catalogue/operations.ts'
import {
  describeResponse,
  differing,
  type Exchange,
  isNobodys,
  isRight,
  isWrong,
  kindOfFailure,
  mayRepeat,
  type PreviousRequest,
} from '../engine/index.ts'
import type { Answer, Entry, Request } from './ask.ts'

/**
 * Whether each answer has to be wrong, on a connection that the request before has just used, or right, on a fresh one: an order
 * that neither replicas in turn nor a fault in one of so many answers show.
 */
const wrongBehind = { repeatable: [true, true, false, true], once: [true] } as const

/**
 * What is to be judged of a request that was answered wrongly on a connection which another one had used. Right on a fresh
 * connection and wrong again after the request before it: that one is to blame, its row fails, and the right answer counts. Else the
 * answers differ, and the wrong one is judged.
 */
export function onConnections(
  request: Request,
  wrong: Exchange,
  entries: readonly Entry[],
): Answer {
  const isRepeatable = mayRepeat(wrong)
  // What is no answer of the service had no effect, most likely.
  if (!isRepeatable && wrong.response && !isNobodys(wrong.response)) return { judge: wrong }
  const trial = entries.filter(({ ask }) => ask.fresh ?? ask.after).map(({ exchange }) => exchange)
  const [fresh, ...others] = trial
  if (!fresh) return { asks: [{ request, fresh: true }] }
  if (isWrong(fresh)) return { judge: wrong, wrongAnywhere: kindOfFailure(wrong) }
  if (!isRight(fresh)) return { judge: wrong }
  for (const [at, isBehind] of wrongBehind[isRepeatable ? 'repeatable' : 'once'].entries()) {
    const other = others[at]
    const after = isBehind ? repeated(wrong.previousRequest!) : undefined
    if (isBehind && !after) return { judge: wrong }
    if (!other) return { asks: [after ? { request, after } : { request, fresh: true }] }
    const fits = isBehind ? other.previousRequest && isWrong(other) : isRight(other)
    if (!fits)
      return { judge: { ...wrong, finding: differing([wrong, ...trial].map(describeResponse)) } }
  }
  return { judge: fresh, blames: wrong }
}

/** The request once more; undefined if it cannot be sent at will, as one that starts a job. */
function repeated({ again, probe, purpose }: PreviousRequest): Request | undefined {
  const { effect, operation } = probe
  if (effect === 'none') return { name: 'the request before', source: probe, purpose }
  const goesOn = effect === 'generates' && operationOf(operation!).creates !== undefined
  return again && !goesOn ? { name: 'the request before', source: again, purpose } : undefined
}
