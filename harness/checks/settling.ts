import { triesOfGenerations } from '../../catalogue/operations.ts'
import type { Exchange } from '../engine/exchange.ts'
import { pause } from '../engine/outcome.ts'
import { isBlock } from '../engine/response.ts'
import { perRun, type Run, type RunHook } from '../engine/run.ts'
import type { Probe } from '../engine/probe.ts'

const retryEveryMs = 1000

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

/** Sends a request that should be granted, again if a guardrail or a model error meets it. */
export async function sendPastBlocks(send: () => Promise<Exchange>): Promise<Exchange> {
  const isBlocking = ({ response }: Exchange): boolean => response !== undefined && isBlock(response)
  return resendWhile(await send(), send, isBlocking, triesOfGenerations)
}

/** The files that a run uploads for its own requests. */
export const uploadsOf = perRun(() => ({
  /** When each was uploaded, by id (`performance.now()`). */
  at: new Map<string, number>(),
  /** How long an upload took until it could be used, in ms. */
  lagMs: 0,
}))

/** Files of this run that the probe names, and when they had been uploaded. */
function namedUploads(run: Run, { params, body }: Probe): [id: string, at: number][] {
  const text = typeof body === 'string' ? body : ''
  const named = Object.values(params)
  return [...uploadsOf(run).at].filter(([id]) => named.includes(id) || text.includes(id))
}

/** The ids of the files that this run uploaded for the probe, as one text; empty if it names none. */
export function uploadsIn(run: Run, probe: Probe): string {
  return namedUploads(run, probe)
    .map(([id]) => id)
    .join(' ')
}

/** True if the probe names a file that this run uploaded less than `settleMs` ago. */
function isSettling(run: Run, probe: Probe): boolean {
  const since = performance.now() - run.target.limits.settleMs
  return namedUploads(run, probe).some(([, at]) => at > since)
}

/** How long the files that an exchange names had been there: later uploads are given as much before they are used. */
function rememberLag(run: Run, { probe, sentAt }: Exchange): void {
  for (const [, at] of namedUploads(run, probe)) uploadsOf(run).lagMs = Math.max(uploadsOf(run).lagMs, sentAt - at)
}

/** A refusal that may only mean that a file is not processed yet: not one of credentials, and no throttling. */
function mayPass({ response }: Exchange): boolean {
  const status = response?.status ?? 0
  return status >= 400 && status < 500 && ![401, 403, 429].includes(status)
}

/** Tells what to raise if a refusal may only mean that a file of this run takes longer until it can be used. */
export function settlingRemark(run: Run, exchange: Exchange): string {
  const isNotThere = [404, 409, 425].includes(exchange.response?.status ?? 0)
  if (!isNotThere || namedUploads(run, exchange.probe).length === 0) return ''
  return `; if an upload takes longer than ${run.target.limits.settleMs} ms until it can be used, raise limits.settleMs`
}

/**
 * Sends a request that names fresh uploads again, each second, while it is refused and they may still be processed.
 * @param settled whether an answer is what the request is sent for
 */
export async function sendUntilSettled(
  run: Run,
  first: Exchange,
  again: (probe: Probe) => Promise<Exchange>,
  settled: (exchange: Exchange) => boolean,
): Promise<Exchange> {
  let exchange = first
  while (!settled(exchange) && mayPass(exchange) && isSettling(run, exchange.probe)) {
    await pause(run, retryEveryMs)
    exchange = await again(exchange.probe)
  }
  if (exchange !== first && settled(exchange)) rememberLag(run, exchange)
  return exchange
}

/** When an attempt on what was just made is repeated, in ms after it was made: 1 s later, and when `settleMs` have passed. */
export function laterAttempts({ target }: Run): readonly number[] {
  const { settleMs } = target.limits
  return [...new Set([Math.min(1000, settleMs), settleMs])].filter((ms) => ms > 0)
}

/** Uses what was just made, and again while the target may still process it: gives the first answer that will do, else the last. */
export async function retryWhileSettling(
  run: Run,
  attempt: () => Promise<Exchange>,
  willDo: (exchange: Exchange) => boolean,
): Promise<Exchange> {
  const began = performance.now()
  let exchange = await attempt()
  for (const ms of laterAttempts(run)) {
    if (exchange.throttled || exchange.unansweredTwice || willDo(exchange)) break
    await pause(run, Math.max(0, began + ms - performance.now()))
    exchange = await attempt()
  }
  return exchange
}

/** Tells in each failure of a request that names a fresh upload what to raise if it is only late. */
export const settlingHook: RunHook = { remarkOn: settlingRemark }
