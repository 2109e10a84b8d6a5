import { operation as operationOf } from '../../catalogue/operations.ts'
import {
  describeResponse,
  differing,
  type Exchange,
  isGranted,
  isNobodys,
  isRight,
  isWrong,
  kindOfFailure,
  mayRepeat,
  type PreviousRequest,
} from '../engine/index.ts'
import type { Answer, Entry, Known, Request } from './ask.ts'

/**
 * Whether each answer must be wrong (after the previous request) or right (on a fresh connection): an order that
 * neither alternating replicas nor a periodic fault shows, nor, the first time, a fault in every third answer by
 * chance.
 */
const wrongBehind = {
  proven: [true, true, false, true],
  first: [true, true, false, true, true, false, true, true, false, true, true],
  once: [true, true, true, true],
} as const

export const sentFor = ({ probe, purpose }: PreviousRequest): string =>
  `${probe.operation} ${purpose.about ?? purpose.requirement}`

/**
 * Judges a wrong answer on a reused connection. If it is right on a fresh one and wrong again after the previous
 * request, that request is to blame: its requirement fails, and the right answer counts. Otherwise the answers differ,
 * and the wrong one is judged.
 */
export function onConnections(
  request: Request,
  wrong: Exchange,
  entries: readonly Entry[],
  { spoilers }: Pick<Known, 'spoilers'>,
): Answer {
  const isRepeatable = mayRepeat(wrong)
  // Without an answer from the service itself, there was most likely no effect.
  if (!isRepeatable && wrong.response && !isNobodys(wrong.response)) return { judge: wrong }
  const trial = entries.filter(({ ask }) => ask.fresh ?? ask.after).map(({ exchange }) => exchange)
  const [fresh, ...others] = trial
  if (!fresh) return { asks: [{ request, fresh: true }] }
  if (isWrong(fresh)) return { judge: wrong, wrongAnywhere: kindOfFailure(wrong) }
  // A connection that remembers a key: to serve a request without it is that request's own fault.
  if (!isRight(fresh) || isServedWithoutKey(wrong)) return { judge: wrong }
  const before = wrong.previousRequest!
  const trials = spoilers.has(sentFor(before)) ? 'proven' : 'first'
  for (const [at, isBehind] of wrongBehind[isRepeatable ? trials : 'once'].entries()) {
    const other = others[at]
    const after = isBehind ? repeated(before) : undefined
    if (isBehind && !after) return { judge: wrong }
    if (!other) return { asks: [after ? { request, after } : { request, fresh: true }] }
    const fits = isBehind ? other.previousRequest && isWrong(other) : isRight(other)
    if (!fits)
      return { judge: { ...wrong, finding: differing([wrong, ...trial].map(describeResponse)) } }
  }
  return { judge: fresh, blames: wrong }
}

const isServedWithoutKey = ({ probe, response }: Exchange): boolean =>
  !probe.credential.full && response !== undefined && isGranted(response)

/** Repeats the request; undefined if it cannot be repeated at will, such as one that starts a job. */
function repeated({ again, probe, purpose }: PreviousRequest): Request | undefined {
  const { effect, operation } = probe
  if (effect === 'none') return { name: 'the request before', source: probe, purpose }
  const goesOn = effect === 'generates' && operationOf(operation!).creates !== undefined
  return again && !goesOn ? { name: 'the request before', source: again, purpose } : undefined
}
