import { randomBytes, randomInt } from 'node:crypto'
import type { RequirementId } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import {
  type BaselineEntry,
  type Created,
  type Depth,
  type FailureExchange,
  type LeftOutBy,
  plainReason,
  type Reason,
  type TpeMode,
  type NotServed,
} from '../report/index.ts'
import type { OtherObject, Target, KeySource, Secret } from '../target/index.ts'
import {
  type Evidence,
  type Exchange,
  type Journal,
  type Making,
  type Open,
  type Probe,
  type Credential,
  type Answer,
  describeResponse,
  isPage,
  pathOf,
} from '../journal/index.ts'
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redactor } from '../recording/redactor.ts'
import { UserError } from '../user-error.ts'

export interface RunOptions {
  readonly seed: number
  /** Cases per generated invalid and valid request. */
  readonly refusalRuns: number
  readonly grantedRuns: number
  /** `quick`: one named case per requirement, and few forms of a wrong key. */
  readonly depth: Depth
  /** Part of the names that this run creates: at most 8 lower-case letters and digits. */
  readonly nonce: string
  readonly tpe: TpeMode
  readonly strict: boolean
  readonly readOnly: boolean
  readonly bail: number
  readonly insecure: boolean
  readonly only: readonly string[]
  /** The option that selected `only` from a report, if any. */
  readonly chosenBy?: '--failed' | undefined
  readonly skip: readonly string[]
  /** Failures expected by a baseline, which do not count for `--bail`. */
  readonly expected: readonly BaselineEntry[]
  /** `conform <base url> --target <file>` with the options needed to reproduce a failure; no key. */
  readonly rerun: string
  /** The run started its target, which ends with it, including created objects. */
  readonly endsTarget?: boolean
  /** File that receives each exchange as a line of JSON; without it they are not kept. */
  readonly exchangeLog?: string
  /** First pause of the exponential back-off, in ms. */
  readonly backoffMs: number
}

export interface GivenOptions extends Partial<
  Omit<RunOptions, 'refusalRuns' | 'grantedRuns' | 'nonce' | 'rerun' | 'backoffMs' | 'bail'>
> {
  /** Cases per generated requirement; default: 25 for invalid and 5 for valid requests, 1 in a quick run. */
  readonly runs?: number
  readonly bail?: boolean | number
}

/** The options of a run. A missing seed is drawn, and always in the report. */
export function runOptionsOf(given: GivenOptions, rerun: string): RunOptions {
  const { runs, bail = false, depth = 'full', ...others } = given
  return {
    seed: others.seed ?? randomInt(0, 2 ** 31),
    tpe: others.tpe ?? 'exact',
    strict: others.strict ?? false,
    readOnly: others.readOnly ?? false,
    insecure: others.insecure ?? false,
    only: others.only ?? [],
    skip: others.skip ?? [],
    expected: others.expected ?? [],
    exchangeLog: others.exchangeLog,
    chosenBy: others.chosenBy,
    endsTarget: others.endsTarget ?? false,
    rerun,
    bail: bail === false ? Infinity : Number(bail),
    depth,
    refusalRuns: runs ?? (depth === 'quick' ? 1 : 25),
    grantedRuns: runs ?? (depth === 'quick' ? 1 : 5),
    backoffMs: 250,
    nonce: [...randomBytes(4)].map((byte) => (byte % 36).toString(36)).join(''),
  }
}

/** Whether each requirement will be judged, or why not; known before anything is sent. */
export type Plan = ReadonlyMap<string, PlanEntry>
export type PlanEntry =
  | {
      readonly run: true
      /** How many requests with bad input, of all such rows, may make the target generate something; no limit if it is not given. */
      readonly mayGenerate?: number
      /** Sent only for `envelope/` requirements: its own outcome is left out. */
      readonly leftOut?: LeftOutBy
    }
  | ({ readonly run: false; readonly outcome: 'not-exercised' | 'not-applicable' } & Reason)

export interface Objects {
  readonly created: Created[]
  /** Why clean-up did not remove an object; null if it did. */
  readonly cleanups: Map<Created, string | null>
  /** Ids in lower case that exist, or were sent as unknown: do not send them as unknown again. */
  readonly takenIds: Set<string>
  /** When the run made the objects of these ids (`performance.now()`). */
  readonly madeAt: Map<string, number>
  saved?: Map<string, string>
  suffix(): string
}

export interface Findings {
  readonly signs: Signs
  failures: number
  /** Exchanges shown in failures, before recording. */
  readonly shown: WeakMap<FailureExchange, Exchange>
  /** Requests that spoiled their connection: the next answer, and the same on a fresh one; by what they were sent for. */
  readonly spoilers: Map<string, { readonly wrong: Exchange; readonly fresh: Exchange }>
  /** What traffic of other requirements shows, by requirement. */
  readonly onTraffic: Map<RequirementId, Evidence>
  /** Answers spoiled by an earlier request on their connection: not judged. */
  readonly spoiledAnswers: WeakSet<object>
  /** Kinds of answers that were equally wrong on a fresh connection, so that repetition proves nothing. */
  readonly wrongAnywhere: Set<string>
}

/** What a run is given, and what requests are made of. */
export interface Given {
  readonly options: RunOptions
  /** Replaced once, before judging, with the values of `setup`. */
  target: Target
  readonly plan: Plan
  readonly keys: Keys
  readonly objects: Objects
  /** Valid requests that need more than the declared body. */
  requests: Readonly<Partial<Record<OperationId, () => Making>>>
  /** Changes a valid request to another object of the kind in its path, if there is one. */
  changeTo(
    other: OtherObject,
    id: OperationId,
  ): Promise<((valid: Probe) => Probe) | Open | undefined>
}

/** Why a run ended early; `lost`: foreign code ended it, or nothing could continue. */
export type EndCause =
  | 'interrupted'
  | 'bail'
  | 'unreachable'
  | 'throttled'
  | 'setup'
  | 'key'
  | 'lost'

/** Cancels all that is under way. */
export class RunEnded extends Error {
  override readonly name = 'RunEnded'
  override readonly cause: EndCause
  readonly reason: Reason
  constructor(cause: EndCause, reason: string | Reason) {
    const whole = plainReason(reason)
    super(whole.reason)
    this.cause = cause
    this.reason = whole
  }
}

export interface Lifetime {
  readonly signal: AbortSignal
  readonly ended: RunEnded | undefined
  end(cause: EndCause, reason: string | Reason): void
}

export function createLifetime(): Lifetime {
  const controller = new AbortController()
  // One signal serves all waits of the run.
  setMaxListeners(0, controller.signal)
  const life = {
    signal: controller.signal,
    ended: undefined as RunEnded | undefined,
    end(cause: EndCause, reason: string | Reason): void {
      if (life.ended) return
      life.ended = new RunEnded(cause, reason)
      controller.abort(life.ended)
    },
  }
  return life
}

/** Waits that many ms, or throws the end of the run. */
export async function pause(client: { readonly life: Lifetime }, ms: number): Promise<void> {
  const { signal } = client.life
  // A timer drops the fraction, and may fire another ms early: what must be `settleMs` old would be too young.
  await sleep(Math.ceil(ms), undefined, { signal }).catch(() => undefined)
  signal.throwIfAborted()
}

/** Waits until all have ended, even if one throws; then throws the first error. */
export async function allEnded<T>(works: readonly T[]): Promise<Awaited<T>[]> {
  await Promise.allSettled(works)
  return Promise.all(works)
}

export interface DeclaredKeys {
  readonly full?: Secret | undefined
  readonly expired?: Secret | undefined
  /** The one of the operation. */
  readonly restricted?: Secret | undefined
  /** All of them: no derived key may equal one. */
  readonly all: ReadonlySet<string>
}

export function createKeys(target: Target, redactor: Redactor, life: Pick<Lifetime, 'end'>) {
  const sources = target.keys
  let failed: RunEnded | undefined
  const read = async (source: KeySource): Promise<string> => {
    if ('value' in source) return source.value
    if (failed) throw failed
    try {
      const value = await source.ask()
      redactor.add(value, source.label)
      return value
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      // Each request would ask for it again.
      life.end('key', error.message)
      throw (failed = new RunEnded('key', error.message))
    }
  }
  const written = (value: string, keySource: KeySource, full: boolean): Credential => ({
    value: `Bearer ${value}`,
    shown: `Bearer ${keySource.label}`,
    full,
  })
  const bearer = async (source: KeySource, full: boolean): Promise<Credential> =>
    written(await read(source), source, full)
  const secret = async (source: KeySource | undefined): Promise<Secret | undefined> =>
    source && { value: await read(source), label: source.label }
  const { full } = sources
  const fixed = full && 'value' in full ? written(full.value, full, true) : undefined
  return {
    hasFull: full !== undefined,
    full: (): Credential | Promise<Credential> =>
      fixed ?? (full ? bearer(full, true) : { shown: '', full: false }),
    /** The current credential: a short-lived key may have been replaced. */
    current: (credential: Credential): Credential | Promise<Credential> =>
      credential.full ? (fixed ?? bearer(full!, true)) : credential,
    of: (source: KeySource): Promise<Credential> => bearer(source, false),
    /** The keys that wrong ones are made from. */
    async declared(operation: OperationId): Promise<DeclaredKeys> {
      const { expired, restricted } = sources
      const ofScenarios = Object.values(target.scenarios).map((one) => one.key)
      // Many operations have the same.
      const all = new Set([full, expired, ...Object.values(restricted), ...ofScenarios])
      all.delete(undefined)
      return {
        full: await secret(full),
        expired: await secret(expired),
        restricted: await secret(restricted[operation]),
        all: new Set(await Promise.all([...all].map((source) => read(source!)))),
      }
    },
    learn(credential: Credential): void {
      const withoutScheme = (text: string): string => text.replace(/^(Bearer|Basic) /, '')
      if (credential.value !== undefined && credential.value !== credential.shown)
        redactor.add(withoutScheme(credential.value), withoutScheme(credential.shown))
    },
  }
}

export type Keys = ReturnType<typeof createKeys>

/** Answers of gateways or overload, before any key is checked. */
const saysNothing: readonly number[] = [413, 429, 502, 503, 504]

const keyRefused =
  'the key is not accepted: every request with it returned 401; if the key is right, a proxy may be removing the Authorization header'
const keyRead =
  'the key is not accepted: every request with it returned 401 BadToken, so the service itself refused it; the key may have expired'

/**
 * Why every answer to the full key was 401; undefined if one was not. A distinct error (§5) shows that the service has
 * read it.
 */
export function keyRefusal(journal: Pick<Journal, 'answers'>): string | undefined {
  let refusal: string | undefined
  for (const { isOwn, shown, operation, status, tpe } of journal.answers) {
    // A server may answer unknown paths before checking keys.
    if (!isOwn || shown !== 'full' || operation === null || saysNothing.includes(status)) continue
    if (status !== 401) return undefined
    refusal = tpe === 'BadToken' && refusal !== keyRefused ? keyRead : keyRefused
  }
  return refusal
}

/** What a refused key gets: 402 from a gateway whose quota is used up. */
export const refusing: readonly number[] = [401, 402, 403, 429]

export const isAccepting = ({ shown, operation, status }: Answer): boolean =>
  shown === 'full' && operation !== null && !refusing.includes(status) && status !== 503

/** When the last request with the full key that the target accepted was sent. */
export const acceptedAt = (journal: Pick<Journal, 'answers'>): number =>
  journal.answers.reduce((at, one) => (isAccepting(one) ? Math.max(at, one.sentAt) : at), -Infinity)

/**
 * Since when the target may have refused the full key, as every answer to it since then has (`performance.now()`); undefined
 * if it accepts the key. Other keys may have met the refusal before the full one did.
 */
export function refusedSince(journal: Pick<Journal, 'answers'>): number | undefined {
  const accepted = acceptedAt(journal)
  // Where any 4xx or any answer is allowed, it proves nothing: the next right answer shows that the key is accepted.
  const isRefused = journal.answers.some(
    (one) =>
      one.shown === 'full' &&
      one.operation !== null &&
      refusing.includes(one.status) &&
      !one.isAsked &&
      one.endedAt >= accepted,
  )
  return isRefused ? accepted : undefined
}

const isOfWrongKey = (answer: Answer): boolean =>
  answer.shown === 'other' && answer.operation !== null

export const wrongKeyIn = (journal: Pick<Journal, 'answers'>): Credential | undefined =>
  journal.answers.findLast((one) => isOfWrongKey(one) && one.status === 401)?.credential

const lastAnswers = 24

/** The longest series of wrong keys among the last answers, between accepted ones, as the target met them. */
export function wrongRow(journal: Pick<Journal, 'answers'>): number {
  const last = journal.answers
    .filter((one) => isOfWrongKey(one) || isAccepting(one))
    .toSorted((one, other) => one.sentAt - other.sentAt)
    .slice(-lastAnswers)
  let longest = 0
  let row = 0
  for (const one of last) longest = Math.max(longest, (row = isOfWrongKey(one) ? row + 1 : 0))
  return longest
}

/** A server without any of this many operations is not the intended one. */
const fewestOperations = 3

/** Statuses that gateways return too, and so prove nothing about an operation. */
const noSign: readonly number[] = [401, 403, 502, 504]

export const doubled =
  'the base URL ends in /v1, but the paths of the interface already begin with /v1: remove it'

export type Signs = ReturnType<typeof createSigns>

export function createSigns(baseUrl: string) {
  const subjects = new Map<string, string>()
  let first: Exchange | undefined
  const asked = new Set<string>()
  const there = new Set<string>()
  let isFound = false
  const unknown = new Set<string>()
  const missing = new Map<string, string>()
  return {
    observe(exchange: Exchange): void {
      first ??= exchange
      const { probe, purpose, response } = exchange
      const { operation } = probe
      if (!response || purpose.skipPassive || purpose.skipJudging || operation === null) return
      const { status, tpe } = response
      const isMissing = [405, 501].includes(status) || (status === 404 && tpe === undefined)
      asked.add(operation)
      isFound ||= status < 300
      if (status === 404 && probe.credential.full) unknown.add(operation)
      if (noSign.includes(status) || response.isThrottled) return
      if (!isMissing) there.add(operation)
      else if (!missing.has(operation)) {
        const [path] = pathOf(probe, {}).split('?')
        missing.set(operation, describeResponse(exchange).replaceAll(path!, '<path>'))
      }
    },
    add(subject: string, sentence: string): void {
      if (!subjects.has(subject)) subjects.set(subject, sentence)
    },
    /**
     * The conclusions.
     * @param clean removes keys from the target's text
     */
    facts(clean: (text: string) => string) {
      const absent: NotServed[] = []
      for (const [operation, answered] of missing)
        if (!there.has(operation)) absent.push({ operation, answered: clean(answered) })
      const isNowhere = asked.size >= fewestOperations && absent.length === asked.size
      // No id of the target file can be the reason: the first request has none.
      const isUnknown =
        first?.response?.status === 404 && !isFound && unknown.size >= fewestOperations
      const hints = isUnknown ? [] : [...subjects.values()]
      if (first?.response && ![401, 429, 503].includes(first.response.status)) {
        const isGranted = first.response.status < 300
        let advice: string | undefined
        if (/\/v1$/.test(new URL(baseUrl).pathname) && !isGranted) advice = doubled
        else if ((isGranted || isNowhere) && isPage(first.response))
          advice = 'this looks like a website, not the API: check the base URL'
        else if (isNowhere || isUnknown)
          advice = 'no operation of the interface was found: check the base URL'
        if (advice !== undefined) {
          const { method, url } = first.recorded().request
          hints.unshift(`${advice} (${method} ${url} got ${describeResponse(first)})`)
        }
      }
      return { hints: hints.map(clean), absent: isNowhere ? [] : absent }
    },
  }
}
