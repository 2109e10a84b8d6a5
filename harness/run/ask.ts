import { haveStatus } from '../../catalogue/answers.ts'
import { type Client, pause, RunEnded, type Turn } from '../client/index.ts'
import { type CheckContext, perRun } from './run.ts'
import {
  allOrOpen,
  type Exchange,
  isOpen,
  isRight,
  type Open,
  probeOf,
  type Purpose,
  type Source,
  type Access,
  answerTo,
  type Ask,
  type Asks,
  type AwaitFree,
  type Journal,
  lookAt,
  open,
  retryOf,
  sentFor,
} from '../journal/index.ts'

/**
 * Sends a request until its answer can be judged. Its answers are of this call alone: a set-up makes an object that no other
 * may use. What rules ask for is shared (`sendShared`).
 */
export async function send(
  client: Client,
  source: Source,
  purpose: Purpose,
  how: Parameters<CheckContext['send']>[2] = {},
): Promise<Exchange | Open> {
  const { journal, known, life } = client
  const own: Ask = { ...how, name: `call ${++journal.calls}`, source, purpose }
  const seen = await settle(client, () => lookAt(journal, own, known))
  journal.drop(own)
  if (seen.outcome === 'answered') return seen.exchange
  life.signal.throwIfAborted()
  return seen
}

/** A 409 is the answer: the object of the request may be busy. */
export const takeConflict: AwaitFree = async (refusals) => refusals.at(-1)

/**
 * Sends a request once its object is free, and again while it is throttled, lost, or its object is busy.
 * @param tries what came so far
 */
async function sendUntilAnswered(
  client: Client,
  ask: Ask,
  tries: Exchange[] = [],
): Promise<Exchange | Open> {
  const { source, purpose, pauseMs = 0 } = ask
  if (pauseMs > 0) await pause(client, pauseMs)
  const made = tries.length > 0 ? undefined : await probeOf(source)
  if (isOpen(made)) return made
  const { awaitFree } = ask
  const access: Access | undefined =
    made && (awaitFree ? { awaitFree } : client.hooks.accessFor(made, purpose))
  const leave = access?.enter && (await access.enter())
  let turn: Turn | undefined = ask.once ? undefined : {}
  const refusals: Exchange[] = []
  let probe = made
  let next: Ask = ask
  try {
    for (;;) {
      const last = tries.at(-1)
      if (!last && access) {
        const known = await access.awaitFree(refusals)
        if (known) return known
      }
      const retry = retryOf(next, tries, client.breaker)
      if (last && retry.next === 'look') {
        last.wasAway = await client.liveness.cameBack(last)
        client.life.signal.throwIfAborted()
      } else if (last && retry.next === 'over') {
        const answer = client.conclude(ask, last, retry)
        if (!access || answer.response?.status !== 409) return answer
        refusals.push(answer)
        tries = []
        turn?.leave?.()
        turn &&= {}
        probe = made
        // On a connection that has lost one, it may be lost again.
        if (answer.unanswered) next = { ...ask, fresh: true }
      } else {
        if (last) await client.backOff(last)
        const sent = await client.sendOnce(last ? { ...next, ...retry.how } : next, probe, turn)
        if (isOpen(sent)) return client.lostMeanwhile(retry) ?? sent
        if (sent.unanswered) tries.push(sent.unanswered)
        tries.push(sent)
        probe = undefined
      }
    }
  } finally {
    turn?.leave?.()
    leave?.()
  }
}

/** Sends a request several times at the same moment, but no more often than the target takes at once. */
export async function sendAtOnce(
  client: Client,
  ask: Ask,
  times: number,
): Promise<Exchange[] | Open> {
  const own: Ask = { ...ask, once: true, isPaidBack: true }
  const sent = await client.sendAtOnce(own, times)
  if (isOpen(sent)) return sent
  const works = sent.map(async (one) =>
    client.holdBack(await sendUntilAnswered(client, own, [one])),
  )
  return allOrOpen(await Promise.all(works))
}

/** Sends, appends what came, and notes what it says of other answers. */
async function sendAndAppend(client: Client, next: Ask): Promise<void> {
  const { findings, journal } = client
  try {
    const exchange = await sendUntilAnswered(client, next)
    if (isOpen(exchange)) journal.unsent.set(next.name, exchange.why)
    else journal.appendEntry({ ask: next, exchange })
  } catch (error) {
    if (!(error instanceof RunEnded)) throw error
    journal.unsent.set(next.name, error.reason)
  } finally {
    underWayIn(client).delete(keyOf(next))
  }
  const conclusion = answerTo(next, journal.entriesOf(next), client.known)
  if (!('answer' in conclusion)) return
  const { answer, blames, wrongAnywhere } = conclusion
  if (wrongAnywhere !== undefined) findings.wrongAnywhere.add(wrongAnywhere)
  if (blames) {
    const kind = sentFor(blames.previousRequest!)
    findings.spoiledAnswers.add(blames.response ?? blames)
    if (!findings.spoilers.has(kind)) findings.spoilers.set(kind, { wrong: blames, fresh: answer })
  }
  // The answer is kept for long, and would keep another one alive. To another requirement it may be wrong.
  const { previousRequest, purpose } = answer
  if (previousRequest && !haveStatus(purpose.expects, 'no-5xx') && isRight(answer))
    answer.previousRequest = undefined
}

/** Requests that one rule has under way at once: a long list would otherwise be the longest road of a run. */
export const maxAtOnce = 5

const underWayIn = perRun(() => new Map<string, Promise<void>>())

const keyOf = (ask: Ask): string =>
  `${ask.name}${ask.once ? ', fresh' : ''}${ask.after ? ', after another' : ''}`

/** Sends what is asked for, or waits for it if another rule has it under way. */
export function sendShared(client: Client, ask: Ask): Promise<void> {
  const underWay = underWayIn(client)
  const key = keyOf(ask)
  const sent = underWay.get(key) ?? sendAndAppend(client, ask)
  underWay.set(key, sent)
  return sent
}

/**
 * Sends what a rule asks for, several requests at once, and applies it again after each answer, until it asks for nothing
 * more.
 * @param isEnd everything else was sent
 */
export async function settle<T extends object>(
  client: Client,
  rule: (journal: Journal) => T,
  isEnd = false,
): Promise<Exclude<T, Asks>> {
  const own = new Set<string>()
  const bugs: unknown[] = []
  // Told by each answer; a race of all that are under way would watch each of them anew every time.
  let came: () => void
  for (;;) {
    const verdict = rule(client.journal)
    const { asks = [], atEnd } = verdict as {
      readonly asks?: readonly Ask[]
      readonly atEnd?: true
    }
    for (const ask of isEnd || !atEnd ? asks : []) {
      const key = keyOf(ask)
      if (own.size >= maxAtOnce || own.has(key)) continue
      own.add(key)
      const sent = sendShared(client, ask).catch((bug: unknown) => void bugs.push(bug))
      void sent.then(() => {
        own.delete(key)
        came()
      })
    }
    if (own.size === 0) return verdict as Exclude<T, Asks>
    await new Promise<void>((resolve) => (came = resolve))
    if (bugs.length > 0) throw bugs[0]
  }
}

/**
 * Sends requests, each once, and `more` of them at once after each answer, until that is 0. Returns what came; open if one
 * cannot be sent.
 */
export async function sendWhile(
  client: Client,
  askOf: (at: number) => Ask,
  more: (came: readonly Exchange[]) => number,
): Promise<readonly Exchange[] | Open> {
  const { journal } = client
  const call = ++journal.calls
  const asks: Ask[] = []
  const found = await settle(client, (): readonly Exchange[] | Open | Asks => {
    const came = asks.flatMap((one) => journal.entriesOf(one)).map((entry) => entry.exchange)
    const wanted = came.length + more(came)
    for (let at = asks.length; at < wanted; at++)
      asks.push({ ...askOf(at), once: true, name: `call ${call}, ${at}` })
    const [left] = asks.flatMap((one) => journal.unsent.get(one.name) ?? [])
    if (left) return open(left)
    if (wanted === came.length) return came
    return { outcome: 'asks', asks: asks.filter((one) => journal.entriesOf(one).length === 0) }
  })
  for (const one of asks) journal.drop(one)
  return found
}

/** Minimum age of what is looked at again at the end, in ms, so that delayed effects show. */
const leastAgeMs = 2000

export function awaitAge(
  client: Client,
  made: readonly { readonly endedAt: number }[],
): Promise<void> {
  const last = Math.max(0, ...made.map((one) => one.endedAt))
  return pause(client, Math.max(0, last + leastAgeMs - performance.now()))
}
