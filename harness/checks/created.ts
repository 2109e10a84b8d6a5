import { operation as operationOf } from '../../catalogue/operations.ts'
import {
  describeResponse,
  type Exchange,
  NotExercised,
  pause,
  perRun,
  type Probe,
  type Run,
  type RunHook,
} from '../engine/index.ts'
import { createdId, isSettling, type Request } from '../journal/index.ts'
import type { NotServed } from '../report/index.ts'

/** What the checks of a run make once and share, and what they note for each other. */
export const sharedBy = perRun(() => ({
  made: new Map<string, Promise<unknown>>(),
  /** Valid requests that broke the server, were granted with an envelope, or were refused with a fresh name each time. */
  wronglyRefused: [] as Exchange[],
  /** Faults of members that broke the server, whichever requirement sent them: they are bad input, too. */
  crashes: [] as { readonly exchange: Exchange; readonly what: string }[],
  uploads: {
    /** When each file was uploaded that requests of the run name, by id (`performance.now()`). */
    at: new Map<string, number>(),
    /** How long an upload took until it could be used, in ms. */
    lagMs: 0,
  },
  /** How much the bad input of the run may still make the target generate, and how many cases that does not reach. */
  generated: { allowance: undefined as { left: number } | undefined, waiting: 0 },
  /** What was asked without a valid key, by the place that it went to. */
  askedAt: new Map<string, readonly Request[]>(),
  /** Answers of operations that are declared not served. */
  notServed: [] as NotServed[],
  /** Why scenarios that need the target to themselves cannot go on. */
  notGrantedAgain: undefined as string | undefined,
}))

/** Makes a thing once a run, whoever asks first. */
export function once<T>(run: Run, name: string, make: () => Promise<T>): Promise<T> {
  const { made } = sharedBy(run)
  const known = made.get(name)
  if (known) return known as Promise<T>
  const promise = make()
  promise.catch(() => undefined)
  made.set(name, promise)
  return promise
}

/**
 * Sends a request again while its answer asks for that.
 * @param first the answer that came already
 * @param most how often it is sent at most, the first time included
 */
export async function resendWhile(
  first: Exchange,
  send: () => Promise<Exchange>,
  asksAgain: (exchange: Exchange) => boolean,
  most: number,
): Promise<Exchange> {
  let exchange = first
  for (let tries = most; tries > 1 && asksAgain(exchange); tries--) exchange = await send()
  return exchange
}

function namedUploads(run: Run, { params, body }: Probe): [id: string, at: number][] {
  const text = typeof body === 'string' ? body : ''
  const named = Object.values(params)
  return [...sharedBy(run).uploads.at].filter(([id]) => named.includes(id) || text.includes(id))
}

/** The ids of the files that this run uploaded for the probe, as one text; empty if it names none. */
export const uploadsIn = (run: Run, probe: Probe): string =>
  namedUploads(run, probe)
    .map(([id]) => id)
    .join(' ')

/** Tells what to raise if a refusal may only mean that a file of this run takes longer until it can be used. */
export function settlingRemark(run: Run, { probe, response }: Exchange): string {
  const { alreadyDone } = probe.operation === null ? {} : operationOf(probe.operation)
  // Such an answer says that the file is there.
  const isThere = alreadyDone?.[0] === response?.status
  const isNotThere = !isThere && [404, 409, 425].includes(response?.status ?? 0)
  if (!isNotThere || uploadsIn(run, probe) === '') return ''
  return `; if an upload takes longer than ${run.target.limits.settleMs} ms until it can be used, raise limits.settleMs`
}

const settlingEveryMs = 1000

/**
 * Sends a request again, each second, while it is refused and what it names may still be processed. How long a file took is
 * given to later ones before they are used.
 * @param settled whether an answer is what the request is sent for
 */
export async function sendUntilSettled(
  run: Run,
  first: Exchange,
  again: (probe: Probe) => Promise<Exchange>,
  settled: (exchange: Exchange) => boolean,
): Promise<Exchange> {
  let exchange = first
  const { settleMs } = run.target.limits
  while (!settled(exchange) && isSettling({ settleMs, madeAt: run.objects.madeAt }, exchange)) {
    await pause(run, settlingEveryMs)
    exchange = await again(exchange.probe)
  }
  const { uploads } = sharedBy(run)
  if (exchange !== first && settled(exchange))
    for (const [, at] of namedUploads(run, exchange.probe))
      uploads.lagMs = Math.max(uploads.lagMs, exchange.sentAt - at)
  return exchange
}

/** When an attempt on what was just made is repeated, in ms after it was made: 1 s later, and when `settleMs` have passed. */
export function laterAttempts({ target }: Run): readonly number[] {
  const { settleMs } = target.limits
  return [...new Set([Math.min(1000, settleMs), settleMs])].filter((ms) => ms > 0)
}

/**
 * Uses what was made, and again while the target may still process it: gives the first answer that will do, else the last.
 * @param madeAtMs when it was made (`performance.now()`), if not just now
 */
export async function retryWhileSettling(
  run: Run,
  attempt: () => Promise<Exchange>,
  willDo: (exchange: Exchange) => boolean,
  madeAtMs = performance.now(),
): Promise<Exchange> {
  let exchange = await attempt()
  for (const ms of laterAttempts(run)) {
    const isSettled = exchange.sentAt > madeAtMs + run.target.limits.settleMs
    if (isSettled || exchange.throttled || exchange.unansweredTwice || willDo(exchange)) break
    await pause(run, Math.max(0, madeAtMs + ms - performance.now()))
    exchange = await attempt()
  }
  return exchange
}

/** The id of what was created; throws `NotExercised` if the answer names none. */
export function namedId(run: Run, creation: Exchange): string {
  const id = createdId(run, creation)
  if (id !== undefined) return id
  const place = `operations.${creation.probe.operation}.fields.id`
  throw new NotExercised(`the answer has no usable id at ${place}: ${describeResponse(creation)}`)
}

export const createdHook: RunHook = {
  // In each failure of a request that names a fresh upload: it may only be late.
  remarkOn: settlingRemark,
  observe(run, exchange) {
    const { operation, creates } = exchange.probe
    if (operation === null || !operationOf(operation).creates) return
    const id = createdId(run, exchange)
    if (id === undefined) return
    run.objects.takenIds.add(id.toLowerCase())
    run.objects.madeAt.set(id, exchange.endedAt)
    run.objects.created.push({ operation, id, ...(creates === undefined ? {} : { name: creates }) })
  },
}
