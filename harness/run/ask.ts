import { pause } from '../client/index.ts'
import { perRun, type Run } from './run.ts'
import {
  type Exchange,
  isRight,
  NotExercised,
  type Purpose,
  type Source,
  type Conclusion,
  answerTo,
  type Ask,
  type Entry,
  type Journal,
  sentFor,
  type Verdict,
} from '../journal/index.ts'

/** Sends a request until its answer can be judged. */
export async function ask(
  run: Run,
  source: Source,
  purpose: Purpose,
  how: Pick<Ask, 'fresh' | 'isHeld'> = {},
): Promise<Exchange> {
  const own: Ask = { ...how, source, purpose }
  const entries: Entry[] = []
  for (;;) {
    const conclusion = answerTo(own, entries, run.client.known)
    if ('judge' in conclusion) {
      learn(run, conclusion)
      return conclusion.judge
    }
    const [next] = conclusion.asks
    entries.push({ ask: next, exchange: await run.client.send(next) })
  }
}

function learn(
  run: Pick<Run, 'findings'>,
  { judge, blames, wrongAnywhere }: Extract<Conclusion, { readonly judge: Exchange }>,
): void {
  if (wrongAnywhere !== undefined) run.findings.wrongAnywhere.add(wrongAnywhere)
  if (blames) {
    const { poisonedResponses, spoiled } = run.findings
    const kind = sentFor(blames.previousRequest!)
    poisonedResponses.add(blames.response ?? blames)
    if (!spoiled.has(kind)) spoiled.set(kind, { wrong: blames, fresh: judge })
  }
  // The answer is kept for long, and would keep another one alive.
  if (isRight(judge)) judge.previousRequest = undefined
}

async function append(run: Run, next: Ask): Promise<void> {
  const { journal } = run
  try {
    journal.appendEntry({ ask: next, exchange: await run.client.send(next) })
  } catch (error) {
    if (!(error instanceof NotExercised)) throw error
    journal.leave(next, error.reason)
  }
  const conclusion = answerTo(next, journal.entriesOf(next), run.client.known)
  if ('judge' in conclusion) learn(run, conclusion)
}

export const askHolding = (
  run: Run,
  source: Source,
  purpose: Purpose,
  fresh = false,
): Promise<Exchange> => ask(run, source, purpose, { fresh, isHeld: true })

/** Requests that one rule has under way at once: a long list would otherwise be the longest road of a run. */
export const maxAtOnce = 5

const underWayIn = perRun(() => new Map<string, Promise<void>>())

const keyOf = ({ name, once, after }: Ask): string =>
  `${name}${once ? ', fresh' : ''}${after ? ', after another' : ''}`

/** Sends the asks; waits for those that are already being sent. */
export async function sendShared(run: Run, ask: Ask): Promise<void> {
  const underWay = underWayIn(run)
  const key = keyOf(ask)
  const sent = underWay.get(key) ?? append(run, ask).finally(() => underWay.delete(key))
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
    const verdict = rule(run.journal)
    if (verdict.outcome === 'asks' && (isEnd || !verdict.atEnd)) verdict.asks.forEach(begin)
    if (own.size === 0) return verdict
    await Promise.race(own.values())
  }
}

/** Minimum age of what is looked at again at the end, in ms, so that delayed effects show. */
const leastAgeMs = 2000

export function awaitAge(run: Pick<Run, 'life'>, madeAt: readonly number[]): Promise<void> {
  const last = Math.max(0, ...madeAt)
  return pause(run, Math.max(0, last + leastAgeMs - performance.now()))
}
