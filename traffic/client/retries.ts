import { createHash } from 'node:crypto'
import type { OperationId } from '../../catalogue/operations.ts'
import type { RecordedEntry } from '../recorded-entry.ts'
import { member } from '../../schemas/json.ts'
import type { SentRequest } from './request-faults.ts'

/** A request of a client, as far as other requests are held against it: its times in ms, on one clock. */
export interface Call {
  /** Its number among the requests of the client, from 1. */
  readonly n: number
  /** Its number at the proxy, if there is one. */
  readonly atProxy: number | undefined
  readonly operation: OperationId | null
  readonly method: string
  readonly path: string
  /** 0 if no answer came. */
  readonly status: number
  readonly sentAt: number
  /** When its client could know the answer. */
  readonly endedAt: number
  /** Somebody wanted it to be refused: by a script, a header or a key. */
  readonly isAsked: boolean
  /** When its connection was opened; undefined if nobody knows. */
  readonly connectionOpenedAt: number | undefined
}

/** A call that may come back: why, and how it did. */
export interface Awaited {
  readonly call: Call
  /**
   * `pause`: 429 or 5xx, which ask for one; `lost`: no answer came; `conflict`: a creation met a job in progress;
   * `refused`: the answer says that the request itself is wrong.
   */
  readonly kind: 'pause' | 'lost' | 'conflict' | 'refused'
  /** `Retry-After` of its answer, in ms. */
  readonly retryAfterMs: number | undefined
  /** ms until the same call came again; undefined: it did not. */
  waitedMs: number | undefined
}

interface Pending extends Awaited {
  /** It came back too soon, which may have been another call. */
  doubtful?: Call
  /** The call before, of which this one is the return, and the one after. */
  before?: Pending | undefined
  next?: Pending | undefined
}

/** Timers of a client may go off a little early, in ms. */
const slackMs = 50
/** Sooner than this nobody comes back who waits at all, in ms. */
export const atOnceMs = 10

/** Most kinds of calls whose return is waited for: a long recording holds any number. */
const mostKept = 10_000

/** The identity of a call: its method, address and body. Two that have all of that in common are one, sent again. */
export function callKey({ index, method, requestBody, url }: RecordedEntry): string {
  const { bytes, sha256, state } = requestBody
  // Of what is not known whole nobody can tell whether it is the same.
  if (state !== 'whole') return `${method} ${url} ${sha256 ?? `#${index}`}`
  const body = bytes.length === 0 ? '' : createHash('sha1').update(bytes).digest('base64')
  return `${method} ${url} ${body}`
}

/** Told when it is known how calls came back. */
export interface RetryRules {
  back(first: Awaited, second: Call): void
  /** These came back one after the other, each sooner than it may. */
  tooSoon(tries: readonly Awaited[], last: Call): void
  /** These came back one after the other, with pauses enough. */
  inTime(tries: readonly Awaited[], last: Call): void
}

/**
 * Follows calls until they come again, on whatever connection. A client that has several requests under way may send the
 * same call twice from the beginning: there a return that is too soon counts only if none in time follows.
 */
export function createRetries(rules: RetryRules) {
  const waiting = new Map<string, Pending[]>()
  const concurrency = createConcurrency()

  const remove = (key: string, one: Pending): void => {
    const left = waiting.get(key)?.filter((other) => other !== one) ?? []
    if (left.length > 0) waiting.set(key, left)
    else waiting.delete(key)
  }
  const settle = (key: string, first: Pending, second: Call): void => {
    first.waitedMs = second.sentAt - first.call.endedAt
    remove(key, first)
    rules.back(first, second)
  }
  /** Judges the returns of calls that followed each other, of which this is the last. */
  const judge = (last: Pending, second: Call): void => {
    const tries = chainTo(last)
    if (tries.length === 0) return
    const waited = tries.reduce((sum, one) => sum + countedMs(one), 0)
    const least = tries.reduce((sum, one) => sum + leastOf(one), 0)
    if (waited < least) rules.tooSoon(tries, second)
    else rules.inTime(tries, second)
  }
  const firstOf = (key: string, call: Call): Pending | undefined => {
    const before = waiting.get(key)?.filter(({ call: one }) => one.endedAt <= call.sentAt) ?? []
    const isInTime = (one: Pending): boolean => call.sentAt - one.call.endedAt >= leastOf(one)
    return before.find(isInTime) ?? before.find(({ doubtful }) => !doubtful)
  }

  return {
    /** Takes calls as they end, or in the order of time. @param failed undefined: it was granted */
    see(key: string, call: Call, failed: Omit<Awaited, 'call' | 'waitedMs'> | undefined): void {
      concurrency.see(call)
      const first = firstOf(key, call)
      const isDoubtful =
        first !== undefined &&
        concurrency.isSeen() &&
        call.sentAt - first.call.endedAt < leastOf(first)
      if (isDoubtful) first.doubtful = call
      else if (first) {
        if (first.next) first.next.before = undefined
        settle(key, first, call)
      }
      if (failed) {
        const next: Pending = { ...failed, call, waitedMs: undefined, before: first }
        if (first) first.next = next
        waiting.set(key, [...(waiting.get(key) ?? []), next])
        const [oldest] = waiting.keys()
        if (waiting.size > mostKept && oldest !== undefined) waiting.delete(oldest)
      }
      // One by Retry-After is judged at once, the others when it is known how many follow.
      const goesOn =
        failed !== undefined && isCounted(failed) && first !== undefined && isCounted(first)
      if (first?.waitedMs !== undefined && !goesOn) judge(first, call)
    },
    /** Judges what is still open, and gives the calls that did not come back. */
    end(): Awaited[] {
      for (const [key, calls] of [...waiting]) {
        for (const one of calls) if (one.doubtful) settle(key, one, one.doubtful)
        const judged = new Set<Awaited>()
        // The latest first: what came before it is judged with it.
        for (const one of calls.toReversed()) {
          const { before, call, doubtful } = one
          const last = doubtful ? one : isCounted(one) && before && isCounted(before) && before
          if (!last || last.waitedMs === undefined || judged.has(last)) continue
          for (const each of chainTo(last)) judged.add(each)
          judge(last, doubtful ?? call)
        }
      }
      return [...waiting.values()].flat()
    },
  }
}

/** The least pause after an answer, in ms. */
function leastOf({ kind, retryAfterMs }: Awaited): number {
  if (kind === 'lost' || kind === 'refused') return 0
  return retryAfterMs === undefined ? atOnceMs : Math.max(0, retryAfterMs - slackMs)
}

/** A pause that nobody made may be long once, when a client or its machine is busy: it counts for two at most. */
function countedMs({ retryAfterMs, waitedMs = 0 }: Awaited): number {
  return retryAfterMs === undefined ? Math.min(waitedMs, 2 * atOnceMs) : waitedMs
}

/** Whether it asked for a pause of no length: several of them are judged together. */
const isCounted = ({ kind, retryAfterMs }: Omit<Awaited, 'call' | 'waitedMs'>): boolean =>
  kind === 'pause' && retryAfterMs === undefined

/** The calls to that one which asked for a pause and came back; one by `Retry-After` is judged by itself. */
function chainTo(last: Pending): Awaited[] {
  const tries: Awaited[] = []
  if (last.kind === 'pause' && last.retryAfterMs !== undefined) return [last]
  let one: Pending | undefined = last
  for (; one?.waitedMs !== undefined && isCounted(one); one = one.before) tries.unshift(one)
  return tries
}

/** Whether a client has had several requests under way at once: its calls overlapped, or it opened a connection beside its first. */
function createConcurrency() {
  let isSeen = false
  let lastEnd = -Infinity
  let connection = { openedAt: -Infinity, firstEnd: -Infinity }
  return {
    see({ connectionOpenedAt: openedAt, endedAt, sentAt }: Call): void {
      if (sentAt < lastEnd) isSeen = true
      lastEnd = Math.max(lastEnd, endedAt)
      if (openedAt === undefined || openedAt <= connection.openedAt) return
      if (openedAt < connection.firstEnd) isSeen = true
      connection = { openedAt, firstEnd: endedAt }
    },
    isSeen: (): boolean => isSeen,
  }
}

/**
 * The times of a call, by a proxy's clock if there is one; NaN, which is neither sooner nor later, if nobody noted them. A recorder
 * rounds to ms: what seems to begin before the end may be after it.
 */
export function timesOf({ durationMs, startedAt = NaN, witnessed }: RecordedEntry) {
  if (!witnessed) {
    const endedAt = startedAt + Math.max(0, durationMs - 1)
    return { sentAt: startedAt, endedAt, atProxy: undefined, connectionOpenedAt: undefined }
  }
  const { answeredAt: endedAt, connectionOpenedAt, n: atProxy, sentAt } = witnessed
  return { sentAt, endedAt, atProxy, connectionOpenedAt }
}

/** Refusals that the same request meets again. */
const ofRequest = [400, 413, 422]

/** Why that call may come again; undefined if there is nothing to see in it. */
export function awaitedAs(
  { operation, status }: Call,
  isAborted: boolean,
): Awaited['kind'] | undefined {
  if (operation === null) return undefined
  if (status === 0) return isAborted ? undefined : 'lost'
  if (status === 429 || status >= 500) return 'pause'
  if (status === 409 && operation === 'jobs.create') return 'conflict'
  return ofRequest.includes(status) ? 'refused' : undefined
}

export function textOf(value: unknown, name: string): string | undefined {
  const text = member(value, name)
  return typeof text === 'string' ? text : undefined
}

export function requestOf(entry: RecordedEntry, path: string): SentRequest {
  const { method, requestBody, requestHeaders, status, url } = entry
  const query = new URL(url).searchParams
  return {
    method,
    path,
    query,
    requestHeaders,
    requestBody,
    isGranted: status >= 200 && status < 300,
  }
}
