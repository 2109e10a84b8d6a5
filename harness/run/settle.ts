import { pause, perRun, type Run } from '../engine/index.ts'
import { type Ask, Journal, type Verdict } from '../journal/index.ts'
import { sendAsked } from './ask.ts'

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
