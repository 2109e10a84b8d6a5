import type { NotServed } from '../report/index.ts'
import { describeResponse, isPage } from './describe.ts'
import { type Exchange, pathOf } from './exchange.ts'
import { doubled } from './gateway.ts'
import { headBytes, isEnvelope, isThrottled, tpeOf } from './response.ts'

/** A target that gives one and the same answer at this many places is not the API. */
const fewestPlaces = 3
/** A server that has none of so many operations is not the one that was meant. */
const fewestOperations = 3

/** Statuses that say nothing of an operation: what stands before it gives them too. */
const saysNothing: readonly number[] = [401, 403, 502, 504]

/** Signs that the target, or its file, is not the one that was meant. */
export type Signs = ReturnType<typeof createSigns>

export function createSigns(baseUrl: string) {
  const subjects = new Map<string, string>()
  const places = new Set<string>()
  const responses = new Set<string>()
  let first: Exchange | undefined
  const asked = new Set<string>()
  const there = new Set<string>()
  /** By operation, how it was answered as only a server answers that lacks it. */
  const missing = new Map<string, string>()

  const notePlace = ({ probe, response }: Exchange): void => {
    // Most answers differ soon.
    if (responses.size > 1) return
    places.add(`${probe.method} ${probe.path}`)
    // The path may stand in it, and the id of a trace.
    const text = response?.text(headBytes).replaceAll(pathOf(probe, {}), '') ?? ''
    responses.add(`${response?.status} ${text.replaceAll(/[\w:.-]*\d[\w:.-]*/g, '')}`)
  }
  const noteAbsence = (exchange: Exchange): void => {
    const { probe, purpose, response } = exchange
    const { operation } = probe
    if (!response || purpose.skipPassive || purpose.skipJudging || operation === null) return
    const { status } = response
    const isMissing =
      [405, 501].includes(status) || (status === 404 && tpeOf(response) === undefined)
    asked.add(operation)
    if (saysNothing.includes(status) || isThrottled(response)) return
    if (!isMissing) there.add(operation)
    else if (!missing.has(operation)) {
      const [path] = pathOf(probe, {}).split('?')
      missing.set(operation, describeResponse(exchange).replaceAll(path!, '<path>'))
    }
  }
  const absent = (): NotServed[] =>
    [...missing].flatMap(([operation, answered]) =>
      there.has(operation) ? [] : [{ operation, answered }],
    )
  /** No operation of several is there: the base URL is a wrong one. */
  const isNowhere = (): boolean => asked.size >= fewestOperations && absent().length === asked.size
  /** What the first answer, or all of them, say of the base URL; undefined if nothing. */
  const ofTarget = (): string | undefined => {
    // A key that is not accepted, and throttling, are reported otherwise.
    if (!first?.response || [401, 429, 503].includes(first.response.status)) return undefined
    const { response } = first
    const isGranted = response.status < 300
    if (/\/v1$/.test(new URL(baseUrl).pathname) && !isGranted) return doubled
    if (isPage(response) && (isGranted || isNowhere()))
      return 'this is a page, not an API: check the base URL'
    if (places.size >= fewestPlaces && responses.size === 1) {
      if (response.status >= 300 && response.status < 400)
        return 'every path is redirected, and a redirect is not followed: serve the paths as the interface shows them'
      // What breaks down, or answers with errors of the interface, is found at its address.
      const isOfServer = response.status >= 500 || (response.status !== 404 && isEnvelope(response))
      return isOfServer && !isGranted
        ? 'every path gets the same error: check the log of the server'
        : 'every path gets the same answer: check the base URL'
    }
    return isNowhere() ? 'no operation of the interface is there: check the base URL' : undefined
  }
  return {
    observe(exchange: Exchange): void {
      first ??= exchange
      notePlace(exchange)
      noteAbsence(exchange)
    },
    /** Adds a sentence that says what to look at; one for each subject. */
    add(subject: string, sentence: string): void {
      if (!subjects.has(subject)) subjects.set(subject, sentence)
    },
    /** What they come to. @param clean takes keys out of what a target says */
    facts(clean: (text: string) => string) {
      const advice = ofTarget()
      const request = first?.recorded.request
      const seen = `${request?.method} ${request?.url} was answered ${first && describeResponse(first)}`
      const hints = advice === undefined ? [] : [`${advice} (${seen})`]
      return {
        hints: [...hints, ...subjects.values()].map(clean),
        /** The operations that are absent, in the order in which they were asked for; none if none of all is there. */
        absent: isNowhere()
          ? []
          : absent().map(({ operation, answered }) => ({ operation, answered: clean(answered) })),
      }
    },
  }
}
