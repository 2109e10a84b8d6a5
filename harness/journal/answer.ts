import { operation as operationOf } from '../../catalogue/operations.ts'
import {
  type Exchange,
  isBlocked,
  isGranted,
  isWrong,
  kindOfFailure,
  tpeOf,
} from '../engine/index.ts'
import type { Answer, Entry, Known, Request } from './ask.ts'
import { onConnections } from './connections.ts'

/**
 * Attempts while transient guardrails or model errors interfere. For valid requests 5: among the hundreds of a run, a
 * server that blocks one in twelve blocks none every time. For invalid ones more: they generate nothing, and a server
 * that blocks every n-th request may hit each of a rotation.
 */
const triesOf = { granted: 5, refused: 8 }
const settlingEveryMs = 1000

/**
 * Decides the answer to a request; if something other than the request may have made it wrong, asks again with that
 * changed.
 */
export function answerTo(request: Request, entries: readonly Entry[], known: Known): Answer {
  const plain = entries.filter(isPlain).map(({ exchange }) => exchange)
  const sent = plain.at(-1)
  if (!sent) return { asks: [{ request }] }
  // Another requirement may have sent it, to which a block is as good an answer as any.
  const isBlock = (one: Exchange): boolean => isMet(one, request.purpose.expects)
  if (isBlock(sent) && plain.filter(isBlock).length < mostBlocks(sent))
    return { asks: [{ request }] }
  if (isAwaited(sent) && isUnknown(sent, known) && isSettling(known, sent))
    return { asks: [{ request, pauseMs: settlingEveryMs }] }
  // An answer that is not HTTP was resent, but its connection is still checked.
  const suspected = sent.unanswered?.noResponse?.cause === 'malformed' ? sent.unanswered : sent
  if (!mayBeSpoiled(suspected, known)) return { judge: sent }
  const answer = onConnections(request, suspected, entries, known)
  return 'judge' in answer && suspected !== sent ? { ...answer, judge: sent } : answer
}

const isUnknown = (exchange: Exchange, { wrongAnywhere }: Known): boolean =>
  isWrong(exchange) && !wrongAnywhere.has(kindOfFailure(exchange))

const isPlain = ({ ask: { fresh, after } }: Entry): boolean => !fresh && !after

/** Hit by a guardrail or a model error that it is not about. */
export const isMet = (exchange: Exchange, expects = exchange.purpose.expects): boolean =>
  !exchange.throttled && isBlocked(exchange, expects)

const mostBlocks = ({ probe, purpose }: Exchange): number =>
  probe.effect === 'none' && purpose.expects && !purpose.isSuccess
    ? triesOf.refused
    : triesOf.granted

/** Senders of valid requests wait on their own, and a new job may be missing: a later reading finds it. */
const isAwaited = ({ purpose, response }: Exchange): boolean =>
  purpose.expects !== undefined &&
  !purpose.isSuccess &&
  !(purpose.role === 'poll' && response?.status === 404)

/**
 * True if the request names an object that the run made less than `settleMs` ago, so that the answer may only mean that
 * it is not there yet.
 */
export function isSettling(
  { settleMs, madeAt }: Pick<Known, 'settleMs' | 'madeAt'>,
  { probe, response, sentAt }: Exchange,
): boolean {
  const status = response?.status ?? 0
  if (status < 400 || status > 499 || [401, 403, 429].includes(status)) return false
  for (const [id, at] of madeAt) {
    if (at <= sentAt - settleMs) continue
    const isInBody = typeof probe.body === 'string' && probe.body.includes(id)
    if (isInBody || Object.values(probe.params).includes(id)) return true
  }
  return false
}

export function countsAsGranted({ response, probe }: Exchange): boolean {
  if (!response) return false
  const [status, tpe] = (probe.operation !== null && operationOf(probe.operation).alreadyDone) || []
  return isGranted(response) || (response.status === status && tpeOf(response) === tpe)
}

function mayBeSpoiled(exchange: Exchange, known: Known): boolean {
  const { previousRequest, purpose, response } = exchange
  return (
    previousRequest !== undefined &&
    isUnknown(exchange, known) &&
    !isMet(exchange) &&
    !isSettling(known, exchange) &&
    !(purpose.role === 'poll' && response?.status === 404)
  )
}
