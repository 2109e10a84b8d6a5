import { type Answers, answersOf } from './answers.ts'
import { absentOf, withoutEchoes } from './absent.ts'
import type { Exchange } from './exchange.ts'
import { headBytes, isEnvelope } from './response.ts'
import { describeResponse, isPage, pageTitle } from './describe.ts'
import { perRun, type Run, type Plan } from './run.ts'
import type { CatalogueResult, Created, NotServed, PageCount, Reason } from '../report/index.ts'
import type { EndCause } from './outcome.ts'
import { proxyFor } from '../http/index.ts'

/** A target that gives one and the same answer at this many places is not the API. */
const fewestPlaces = 3

/** Signs that the target, or its file, is not the one that was meant. */
export const hintsOf = perRun((run: Run) => {
  const { baseUrl } = run.target
  const added = new Map<string, string>()
  const places = new Set<string>()
  const responses = new Set<string>()
  let first: Exchange | undefined
  const ofTarget = (): string | undefined => {
    // A key that is not accepted, and throttling, are reported otherwise.
    if (!first?.response || [401, 429, 503].includes(first.response.status)) return undefined
    const said = `${first.recorded.request.method} ${first.recorded.request.url} was answered ${describeResponse(first)}`
    const isGranted = first.response.status < 300
    if (/\/v1$/.test(new URL(baseUrl).pathname) && !isGranted)
      return `the base URL ends in /v1, but the paths of the interface begin with /v1 already: leave it out (${said})`
    const isNowhere = absentOf(run).isNowhere
    if (isPage(first.response) && (isGranted || isNowhere))
      return `this is a page, not an API: check the base URL (${said})`
    const isOneAnswer = places.size >= fewestPlaces && responses.size === 1
    if (isOneAnswer && first.response.status < 400)
      return `every path is redirected, and a redirect is not followed: serve the paths as the interface shows them (${said})`
    // Whoever answers with errors of the interface is found at its address.
    if (isOneAnswer && first.response.status !== 404 && isEnvelope(first.response))
      return `every path gets the same error: look at the log of the server (${said})`
    if (isOneAnswer) return `every path gets the same answer: check the base URL (${said})`
    return isNowhere
      ? `no operation of the interface is there: check the base URL (${said})`
      : undefined
  }
  return {
    observe(exchange: Exchange): void {
      first ??= exchange
      // Most answers differ soon.
      if (responses.size > 1) return
      const { probe, response } = exchange
      places.add(`${probe.method} ${probe.path}`)
      const text = response?.text(headBytes) ?? ''
      const isError = (response?.status ?? 0) >= 400
      responses.add(`${response?.status} ${isError ? withoutEchoes(text, probe) : text}`)
    },
    /** A sentence that says what to look at; one for each subject. */
    add: (subject: string, sentence: string) =>
      void (added.has(subject) || added.set(subject, sentence)),
    get sentences(): readonly string[] {
      return [ofTarget() ?? [], ...added.values()].flat()
    },
  }
})

const maxKinds = 10
/** The error responses of a run that were pages in place of envelopes, by what they were: told once, as one cause. */
export const pagesOf = perRun(() => {
  const counted = new Map<string, PageCount>()
  return {
    observe({ response }: Exchange): void {
      if (!response || response.status < 400 || response.json().ok) return
      if (!isPage(response)) return
      const { status } = response
      const page = {
        status,
        title: pageTitle(response.text(headBytes))?.slice(0, 100),
        server: response.header('server')?.slice(0, 60),
      }
      const key = JSON.stringify(page)
      const known = counted.get(key)
      if (known) known.times++
      else if (counted.size < maxKinds) counted.set(key, { ...page, times: 1 })
    },
    /** The most frequent ones first; `clean` takes keys out of what the pages say. */
    counts: (clean: (text: string) => string): PageCount[] =>
      [...counted.values()]
        .toSorted((one, other) => other.times - one.times)
        .map(({ status, title, server, times }) => ({
          status,
          ...(title === undefined ? {} : { title: clean(title) }),
          ...(server === undefined ? {} : { server: clean(server) }),
          times,
        })),
  }
})

/** Facts that a run learned besides the results. */
export interface RunFacts {
  readonly requests: number
  readonly throttled: number
  readonly retried: number
  /** Requests a minute that the target granted between throttled answers; undefined if it shows none, or as many as were asked for. */
  readonly grantsPerMinute: number | undefined
  /** Host and port of the proxy that was asked, without its credentials. */
  readonly proxy: string | null
  readonly created: readonly Created[]
  readonly pages: readonly PageCount[]
  readonly answers: Answers
  readonly notServed: readonly NotServed[]
  /** Operations that the target does not seem to have, and how it answered. */
  readonly absent: readonly NotServed[]
  /** Every request with the full key that was answered was answered 401. */
  readonly keyRefused: boolean
  /** What is to be said then. */
  readonly keyRefusal: string
  readonly ended: ({ readonly cause: EndCause } & Reason) | null
  /** Ids of jobs that no reading showed ended. */
  readonly jobsInProgress: readonly string[]
  readonly recordingProblem: string | undefined
  /** Sentences that say what of the target or its file to look at, if they do not seem to be what was meant. */
  readonly hints: readonly string[]
}

export function factsOf(run: Run): RunFacts {
  const { recorder, throttle } = run.client
  const { ended } = run.life
  return {
    requests: recorder.count,
    throttled: throttle.count,
    retried: run.client.losses.retried,
    grantsPerMinute: slowerThan(run.target.limits.requestsPerSecond, throttle.grantsPerMinute()),
    proxy: run.client.isInjected ? null : (proxyFor(run.target.baseUrl)?.host ?? null),
    created: createdBy(run),
    pages: pagesOf(run).counts((text) => recorder.redact(text)),
    answers: answersOf(run),
    notServed: run.hooks.flatMap((hook) => hook.notServed?.(run) ?? []),
    absent: absentOf(run).list((text) => recorder.redact(text)),
    keyRefused: run.keys.isRefused,
    keyRefusal: run.keys.refusal,
    ended: ended
      ? { cause: ended.cause, ...ended.reason, reason: recorder.redact(ended.message) }
      : null,
    jobsInProgress: run.hooks
      .flatMap((hook) => hook.unfinished?.(run) ?? [])
      .map((id) => recorder.redact(id)),
    recordingProblem: recorder.problem,
    hints: hintsOf(run).sentences.map((sentence) => recorder.redact(sentence)),
  }
}

/** The objects that the run created, with what became of those that it had to remove. */
function createdBy({ objects: { created, cleanups }, client: { recorder } }: Run): Created[] {
  return created.map((object) => {
    const known = { ...object, id: recorder.redact(object.id) }
    const kept = cleanups.get(object)
    if (kept === undefined) return known
    return kept === null
      ? { ...known, removed: true }
      : { ...known, removed: false, kept: recorder.redact(kept) }
  })
}

/** What a target granted, unless as much was asked for: a lower rate is no remedy then. */
function slowerThan(requestsPerSecond: number, perMinute: number | undefined): number | undefined {
  const asked = requestsPerSecond > 0 ? requestsPerSecond * 60 : Infinity
  return perMinute !== undefined && perMinute < 0.9 * asked ? perMinute : undefined
}

/** Nothing has been sent yet. */
export interface PlannedEvent {
  readonly kind: 'planned'
  readonly plan: Plan
}

/**
 * One requirement. Each requirement of the catalogue has one such event, unless the run ends early. It has a second one at the
 * end if it turns out that its requests left their connections unusable, as failed, or that its failure does not show by then.
 */
export interface JudgedEvent {
  readonly kind: 'judged'
  readonly result: CatalogueResult
}

/** The target answered 429 or 503, and the operation is held back for that many ms. */
export interface ThrottledEvent {
  readonly kind: 'throttled'
  readonly operation: string
  readonly pauseMs: number
}

export interface EndedEvent {
  readonly kind: 'ended'
  readonly facts: RunFacts
}

/** Events of a run, in order: `planned` first, `ended` last. */
export type RunEvent = PlannedEvent | JudgedEvent | ThrottledEvent | EndedEvent

/** A queue: events wait in it until its reader iterates over them. */
export function createEventQueue<T>() {
  const waiting: T[] = []
  let end: { readonly error: Error | undefined } | undefined
  let wake: () => void = () => undefined
  return {
    push(event: T): void {
      waiting.push(event)
      wake()
    },
    /** No more events will come; with an error, the reader gets it after the last one. */
    close(error?: Error): void {
      end ??= { error }
      wake()
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<T> {
      for (;;) {
        for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) yield event
        if (end) {
          if (end.error) throw end.error
          return
        }
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}
