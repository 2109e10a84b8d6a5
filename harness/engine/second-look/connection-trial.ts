import { tpeOf } from '../response.ts'
import {
  type Exchange,
  isRight,
  isThrottling,
  isWrong,
  type PreviousRequest,
  type Probe,
} from '../exchange.ts'
import { perRun, type Run } from '../run.ts'
import { requestOf } from '../request.ts'
import { sendOnce } from '../send.ts'
import type { SendAgain } from './asked.ts'

/** Requests that prove that a request leaves its connection behind in a state that makes the next answer wrong. */
interface Trial {
  alone(): Promise<Exchange>
  /** Sends the request on a connection that the suspected one has just used. */
  pair(): Promise<Exchange>
  isRight(exchange: Exchange): boolean
  isWrong(exchange: Exchange): boolean
  /** The suspected request, as one that may be proven by now to leave its connections unusable. */
  readonly suspect: string
}

/** Requests that are proven to leave their connections unusable. */
const provenSuspects = perRun(() => new Set<string>())
const suspectOf = ({ probe, purpose }: PreviousRequest): string =>
  `${probe.operation} ${purpose.about ?? purpose.requirement}`

/**
 * F: alone, which has to be right; P: the pair, which has to be wrong. Neither replicas that take connections in turn nor a
 * fault in one of so many answers fit this order, and what comes at random fits it in one of 600 times at most.
 */
const order = 'FFFPPFPPF'
/** A run has hundreds of wrong answers to look at: chance has to fit twice, unless the same request was proven before. */
const orderAtFirst = order + order

/** True once an answer of the run was wrong and right in an order that no connection explains. */
export const variesOf = perRun(() => ({ seen: false }))

/** Whether the trial proves it, and what was answered to the requests sent for it. Ends with the first answer that does not fit. */
export async function proves(
  run: Run,
  trial: Trial,
  first: Exchange,
): Promise<{ proven: boolean; sent: Exchange[] }> {
  const sent = [first]
  const kinds = variesOf(run).seen || !provenSuspects(run).has(trial.suspect) ? orderAtFirst : order
  if (!trial.isRight(first)) return { proven: false, sent }
  for (const kind of kinds.slice(1)) {
    const exchange = kind === 'F' ? await trial.alone() : await trial.pair()
    sent.push(exchange)
    const fits =
      kind === 'F' ? trial.isRight(exchange) : exchange.previousRequest && trial.isWrong(exchange)
    if (!fits) return { proven: false, sent }
  }
  provenSuspects(run).add(trial.suspect)
  return { proven: true, sent }
}

/** The request itself after the suspected one; undefined if that cannot be sent again at will. */
export function trialOfRequest(
  run: Run,
  previous: PreviousRequest,
  again: SendAgain,
): Trial | undefined {
  const repeat = repeatOf(run, previous)
  if (!repeat) return undefined
  return {
    alone: () => again({ fresh: true }),
    pair: async () => again({ after: await repeat() }),
    isRight,
    isWrong,
    suspect: suspectOf(previous),
  }
}

/** The suspected request after itself, for a request that cannot be sent so often: it has to be answered as when it is alone. */
export function trialOfPrevious(run: Run, previous: PreviousRequest): Trial | undefined {
  const repeat = repeatOf(run, previous)
  if (!repeat) return undefined
  let usual: string | undefined
  const send = async (options: Parameters<SendAgain>[0]): Promise<Exchange> =>
    sendOnce(run, (await repeat()).probe, previous.purpose, options)
  return {
    alone: () => send({ fresh: true }),
    pair: async () => send({ after: await repeat() }),
    isRight(exchange) {
      const kind = kindOf(exchange)
      usual ??= kind
      return kind !== undefined && kind === usual
    },
    suspect: suspectOf(previous),
    isWrong: (exchange) =>
      exchange.noResponse?.cause === 'malformed' ||
      (!isThrottling(exchange) && kindOf(exchange) !== usual),
  }
}

/** `404 NotFound`; undefined for none, and for one that only asks for patience. */
export function kindOf(exchange: Exchange): string | undefined {
  const { response } = exchange
  return response && !isThrottling(exchange)
    ? `${response.status} ${tpeOf(response) ?? ''}`
    : undefined
}

/** True if the request starts something that goes on by itself (a job): sent again, it would start an unknown one. */
function goesOn({ api }: Run, { operation, effect }: Probe): boolean {
  return (
    effect === 'generates' && operation !== null && api.operation(operation).creates !== undefined
  )
}

/** Makes the request once more, ready to be sent first; undefined if it may not be. */
function repeatOf(
  run: Run,
  previous: PreviousRequest,
): (() => Promise<PreviousRequest>) | undefined {
  const { again, probe, purpose } = previous
  if (probe.effect !== 'none' && (!again || goesOn(run, probe))) return undefined
  return async () => requestOf(run, probe.effect === 'none' ? probe : await again!(), purpose)
}
