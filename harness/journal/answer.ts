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
 * How often a request that should be granted is sent, if a guardrail or a model error meets it now and then: of the hundreds of a
 * run none is met each time by a server that blocks one of twelve. One that should be refused is sent more often, since nothing is
 * generated, and requests of a run that take turns may meet every block of a server that blocks one of so many.
 */
const triesOf = { granted: 5, refused: 8 }
/** Interval at which an object that was just made is asked for again, in ms. */
const settlingEveryMs = 1000

/** Tells what was answered to a request; if something else than the request may have made that wrong, asks again with that changed. */
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
  // What could not be read as HTTP was sent again; its connection is looked at nevertheless.
  const suspected = sent.unanswered?.noResponse?.cause === 'malformed' ? sent.unanswered : sent
  if (!mayBeSpoiled(suspected, known)) return { judge: sent }
  const answer = onConnections(request, suspected, entries)
  return 'judge' in answer && suspected !== sent ? { ...answer, judge: sent } : answer
}

/** Wrong, and not known to be wrong on each connection. */
const isUnknown = (exchange: Exchange, { wrongAnywhere }: Known): boolean =>
  isWrong(exchange) && !wrongAnywhere.has(kindOfFailure(exchange))

const isPlain = ({ ask: { fresh, after } }: Entry): boolean => !fresh && !after

/** A guardrail or a model error met it, which is not what it is sent for. */
export const isMet = (exchange: Exchange, expects = exchange.purpose.expects): boolean =>
  !exchange.throttled && isBlocked(exchange, expects)

const mostBlocks = ({ probe, purpose }: Exchange): number =>
  probe.effect === 'none' && purpose.expects && !purpose.isSuccess
    ? triesOf.refused
    : triesOf.granted

/** Whoever wants it to be granted waits by themselves, and a job may not be there yet: the next reading finds it. */
const isAwaited = ({ purpose, response }: Exchange): boolean =>
  purpose.expects !== undefined &&
  !purpose.isSuccess &&
  !(purpose.role === 'poll' && response?.status === 404)

/** True if the request names what the run made less than `settleMs` ago, and its answer may only mean that it is not there yet. */
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

/** Whether a control's answer counts as granted: also if it says that what was asked for is done already. */
export function countsAsGranted({ response, probe }: Exchange): boolean {
  if (!response) return false
  const [status, tpe] = (probe.operation !== null && operationOf(probe.operation).alreadyDone) || []
  return isGranted(response) || (response.status === status && tpeOf(response) === tpe)
}

/** Wrong on a connection that carried another request before, and for no other reason that is known. */
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
