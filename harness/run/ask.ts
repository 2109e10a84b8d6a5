import { pause, perRun, requestOf, type Run } from '../engine/index.ts'
import {
  type Exchange,
  isRight,
  NotExercised,
  probeOf,
  type Purpose,
  type Source,
  type Conclusion,
  answerTo,
  type Ask,
  type Entry,
  Journal,
  type Known,
  sentFor,
  type Verdict,
} from '../journal/index.ts'
import { blame } from './blame.ts'

export interface AskOptions {
  readonly fresh?: boolean
  /** No need to wait for the request's object: the caller has locked it, or there is none. */
  readonly isHeld?: boolean
}

export async function ask(
  run: Run,
  source: Source,
  purpose: Purpose,
  options: AskOptions = {},
): Promise<Exchange> {
  const request = { name: '', source, purpose }
  const entries: Entry[] = []
  for (;;) {
    const answer = answerTo(request, entries, knownOf(run))
    if ('judge' in answer) {
      learn(run, answer)
      return answer.judge
    }
    const [next] = answer.asks
    entries.push({ ask: next, exchange: await send(run, next, options) })
  }
}

function learn(
  run: Run,
  { judge, blames, wrongAnywhere }: Extract<Conclusion, { readonly judge: Exchange }>,
): void {
  if (wrongAnywhere !== undefined) run.findings.wrongAnywhere.add(wrongAnywhere)
  if (blames) {
    run.findings.spoilers.add(sentFor(blames.previousRequest!))
    blame(run, blames, judge)
  }
  // The answer is kept for long, and would keep another one alive.
  if (isRight(judge)) judge.previousRequest = undefined
}

export async function sendAsked(run: Run, journal: Journal, next: Ask): Promise<void> {
  const { request } = next
  try {
    journal.append({ ask: next, exchange: await send(run, next, {}) })
  } catch (error) {
    if (!(error instanceof NotExercised)) throw error
    journal.leave(request, error.reason)
  }
  const answer = answerTo(request, journal.of(request), knownOf(run))
  if ('judge' in answer) learn(run, answer)
}

export const askHolding = (
  run: Run,
  source: Source,
  purpose: Purpose,
  options: AskOptions = {},
): Promise<Exchange> => ask(run, source, purpose, { ...options, isHeld: true })

export const knownOf = ({ target, objects, findings }: Run): Known => ({
  settleMs: target.limits.settleMs,
  madeAt: objects.madeAt,
  wrongAnywhere: findings.wrongAnywhere,
  spoilers: findings.spoilers,
})

/** Sends a request once its object allows it: with retries, or once with a changed circumstance. */
async function send(
  run: Run,
  { request: { source, purpose }, fresh, after, pauseMs = 0 }: Ask,
  options: AskOptions,
): Promise<Exchange> {
  if (pauseMs > 0) await pause(run, pauseMs)
  if (!fresh && !after) {
    const { fresh: isFresh = false, isHeld = false } = options
    return isHeld
      ? run.client.sendPatiently(source, purpose, { fresh: isFresh })
      : run.client.sendGated(source, purpose, isFresh)
  }
  const probe = await probeOf(source)
  const circumstance = after
    ? { after: await requestOf(run, await probeOf(after.source), after.purpose) }
    : { fresh: true }
  const once = () => run.client.sendOnce(probe, purpose, { source, ...circumstance })
  return options.isHeld ? once() : run.client.throughGate(probe, purpose, once)
}

/** Requests that one rule has under way at once: a long list would otherwise be the longest road of a run. */
export const maxAtOnce = 5

export const askedIn = perRun(() => ({
  journal: new Journal(),
  underWay: new Map<string, Promise<void>>(),
}))

const keyOf = ({ request, fresh, after }: Ask): string =>
  `${request.name}${fresh ? ', fresh' : ''}${after ? ', after another' : ''}`

/** Sends the asks; waits for those that are already being sent. */
export async function sendShared(run: Run, ask: Ask): Promise<void> {
  const { journal, underWay } = askedIn(run)
  const key = keyOf(ask)
  const sent = underWay.get(key) ?? sendAsked(run, journal, ask).finally(() => underWay.delete(key))
  underWay.set(key, sent)
  return sent
}

/**
 * Sends what a rule asks for, several requests at once, and applies it again as soon as one of them was answered, until it asks for
 * nothing more. @param isEnd everything else was sent
 */
export async function settle(
  run: Run,
  rule: (journal: Journal) => Verdict,
  isEnd = false,
): Promise<Verdict> {
  const own = new Map<string, Promise<void>>()
  const begin = (ask: Ask): void => {
    const key = keyOf(ask)
    if (own.size >= maxAtOnce || own.has(key)) return
    const ended = sendShared(run, ask).finally(() => own.delete(key))
    // A mistake of the suite is thrown by the first that fails.
    ended.catch(() => undefined)
    own.set(key, ended)
  }
  for (;;) {
    const verdict = rule(askedIn(run).journal)
    if (verdict.outcome === 'asks' && (isEnd || !verdict.atEnd)) verdict.asks.forEach(begin)
    if (own.size === 0) return verdict
    await Promise.race(own.values())
  }
}

/** Minimum age of what is looked at again at the end, in ms, so that delayed effects show. */
const leastAgeMs = 2000

export function awaitAge(run: Run, madeAt: readonly number[]): Promise<void> {
  const last = Math.max(0, ...madeAt)
  return pause(run, Math.max(0, last + leastAgeMs - performance.now()))
}
