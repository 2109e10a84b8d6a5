import {
  type Exchange,
  isRight,
  NotExercised,
  pause,
  probeOf,
  type Purpose,
  requestOf,
  type Run,
  type Source,
} from '../engine/index.ts'
import {
  type Answer,
  answerTo,
  type Ask,
  type Entry,
  type Journal,
  type Known,
  sentFor,
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
  { judge, blames, wrongAnywhere }: Extract<Answer, { readonly judge: Exchange }>,
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
