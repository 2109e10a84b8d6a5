import type { NotServed, PageCount } from '../report/index.ts'
import { describeResponse, isPage, pageTitle } from './describe.ts'
import { type Exchange, pathOf, type Probe } from './exchange.ts'
import { headBytes, isEnvelope, isThrottled, tpeOf } from './response.ts'

/** A target that gives one and the same answer at this many places is not the API. */
const fewestPlaces = 3
/** A server that has none of so many operations is not the one that was meant. */
const fewestOperations = 3
const maxKinds = 10

/** An operation that was asked for, and whether it seems to be there. */
interface Asked {
  /** A response that only a server which has the operation gives. */
  isThere: boolean
  /** A response that only a server which lacks it gives. */
  isMissing: boolean
  /** How that response was put; else the first 404 that may be of either kind. */
  said?: string
  /** The 404s that may be of either kind, as they compare. */
  readonly perhaps: Set<string>
  readonly hasParams: boolean
  hasEnvelope: boolean
}

/** Statuses that say nothing of an operation: what stands before it gives them too. */
const saysNothing: readonly number[] = [401, 403, 502, 504]

/** Signs that the target, or its file, is not the one that was meant. */
export type Signs = ReturnType<typeof createSigns>

export function createSigns(baseUrl: string) {
  const subjects = new Map<string, string>()
  const pages = new Map<string, PageCount>()
  const places = new Set<string>()
  const responses = new Set<string>()
  let first: Exchange | undefined
  const operations = new Map<string, Asked>()
  /** 404s of paths that the interface does not have. */
  const nowhere = new Set<string>()

  const notePlace = ({ probe, response }: Exchange): void => {
    // Most answers differ soon.
    if (responses.size > 1) return
    places.add(`${probe.method} ${probe.path}`)
    const text = response?.text(headBytes) ?? ''
    const isError = (response?.status ?? 0) >= 400
    responses.add(`${response?.status} ${isError ? withoutEchoes(text, probe) : text}`)
  }
  const notePage = ({ response }: Exchange): void => {
    if (!response || response.status < 400 || response.json().ok || !isPage(response)) return
    const title = pageTitle(response.text(headBytes))?.slice(0, 100)
    const page = { status: response.status, title, server: response.header('server')?.slice(0, 60) }
    const key = JSON.stringify(page)
    const known = pages.get(key)
    if (known) known.times++
    else if (pages.size < maxKinds) pages.set(key, { ...page, times: 1 })
  }
  const askedOf = ({ operation, params }: Probe): Asked => {
    const hasParams = Object.keys(params).length > 0
    const unknown = { isThere: false, isMissing: false, perhaps: new Set<string>() }
    const asked = operations.get(operation!) ?? { ...unknown, hasParams, hasEnvelope: false }
    operations.set(operation!, asked)
    return asked
  }
  const noteAbsence = (exchange: Exchange): void => {
    const { probe, purpose, response } = exchange
    if (!response || purpose.skipPassive) return
    const { status } = response
    const alike = (): string => withoutEchoes(response.text(headBytes), probe)
    if (probe.operation === null) {
      if (status === 404) nowhere.add(alike())
      return
    }
    if (purpose.skipJudging) return
    const asked = askedOf(probe)
    if (asked.isThere || saysNothing.includes(status) || isThrottled(response)) return
    if (![404, 405, 501].includes(status)) asked.isThere = true
    else if (status !== 404 || isRouters(exchange)) {
      if (!asked.isMissing) asked.said = withoutPath(exchange)
      asked.isMissing = true
    } else {
      asked.said ??= withoutPath(exchange)
      asked.perhaps.add(alike())
      asked.hasEnvelope ||= tpeOf(response) !== undefined
    }
  }

  /**
   * Operations that the server does not have, by all that it answered: a 405, a 501, or a 404 that is no envelope, or the very one
   * of a path that nobody has. If a 404 may be that of an object that is not there, it counts if it is known from another place.
   */
  const absent = (): (readonly [string, Asked])[] => {
    const missing = [...operations].filter(
      ([, { isThere, said }]) => !isThere && said !== undefined,
    )
    const sure = missing.flatMap(([, one]) => (isSure(one) ? [...one.perhaps] : []))
    const known = new Set([...nowhere, ...sure])
    const isAsElsewhere = ({ hasEnvelope, hasParams, perhaps }: Asked): boolean =>
      hasEnvelope
        ? !hasParams && [...perhaps].every((one) => nowhere.has(one))
        : [...perhaps].every((one) => known.has(one))
    return missing.filter(([, one]) => isSure(one) || isAsElsewhere(one))
  }
  /** No operation of several is there: the base URL is a wrong one. */
  const isNowhere = (): boolean =>
    operations.size >= fewestOperations && absent().length === operations.size
  const saidFirst = (): string => {
    const { method, url } = first!.recorded.request
    return `${method} ${url} was answered ${describeResponse(first!)}`
  }
  /** What the first answer, or all of them, say of the base URL; undefined if nothing. */
  const ofTarget = (): string | undefined => {
    // A key that is not accepted, and throttling, are reported otherwise.
    if (!first?.response || [401, 429, 503].includes(first.response.status)) return undefined
    const { response } = first
    const isGranted = response.status < 300
    if (/\/v1$/.test(new URL(baseUrl).pathname) && !isGranted)
      return `the base URL ends in /v1, but the paths of the interface begin with /v1 already: leave it out`
    if (isPage(response) && (isGranted || isNowhere()))
      return `this is a page, not an API: check the base URL`
    if (places.size >= fewestPlaces && responses.size === 1) {
      if (response.status < 400)
        return `every path is redirected, and a redirect is not followed: serve the paths as the interface shows them`
      // Whoever answers with errors of the interface is found at its address.
      return response.status !== 404 && isEnvelope(response)
        ? `every path gets the same error: look at the log of the server`
        : `every path gets the same answer: check the base URL`
    }
    return isNowhere() ? `no operation of the interface is there: check the base URL` : undefined
  }
  return {
    observe(exchange: Exchange): void {
      first ??= exchange
      notePlace(exchange)
      notePage(exchange)
      noteAbsence(exchange)
    },
    /** Adds a sentence that says what to look at; one for each subject. */
    add(subject: string, sentence: string): void {
      if (!subjects.has(subject)) subjects.set(subject, sentence)
    },
    /** What they come to. @param clean takes keys out of what a target says */
    facts(clean: (text: string) => string) {
      const advice = ofTarget()
      const hints = advice === undefined ? [] : [`${advice} (${saidFirst()})`]
      return {
        hints: [...hints, ...subjects.values()].map(clean),
        /** The error responses that were pages in place of envelopes, the most frequent ones first. */
        pages: [...pages.values()]
          .toSorted((one, other) => other.times - one.times)
          .map(({ status, title, server, times }): PageCount => ({
            status,
            ...(title === undefined ? {} : { title: clean(title) }),
            ...(server === undefined ? {} : { server: clean(server) }),
            times,
          })),
        /** The operations that are absent, in the order in which they were asked for; none if none of all is there. */
        absent: isNowhere()
          ? []
          : absent().map(([operation, { said }]): NotServed => ({
              operation,
              answered: clean(said!),
            })),
      }
    },
  }
}

function isSure({ hasEnvelope, hasParams, isMissing }: Asked): boolean {
  return isMissing || (!hasParams && !hasEnvelope)
}

function withoutPath(exchange: Exchange): string {
  const path = pathOf(exchange.probe, {})
  return describeResponse(exchange)
    .replaceAll(path, '<path>')
    .replaceAll(path.split('?')[0]!, '<path>')
}

/** The 404 of what looks for an operation by its path, not that of an operation which looks for an object. */
function isRouters({ probe, response }: Exchange): boolean {
  return tpeOf(response!) === undefined && namesPath(response!.text(headBytes), probe)
}

/** Words with digits that are shorter are statuses, versions and the like. */
const shortestId = 8

/** The ways in which a response may write the path of the request, without its query. */
function writtenPaths(probe: Probe): string[] {
  const [path = ''] = pathOf(probe, {}).split('?')
  try {
    return [path, decodeURIComponent(path)]
  } catch {
    return [path]
  }
}

const unescaped = (text: string): string => text.replaceAll(String.raw`\/`, '/')

/**
 * The text of a response without what differs from one to the next though it is the same response: the path and the method of
 * the request, times, ids of traces. For comparing only.
 */
function withoutEchoes(text: string, probe: Probe): string {
  return [pathOf(probe, {}), ...writtenPaths(probe)]
    .reduce((rest, echo) => rest.replaceAll(echo, '…'), unescaped(text))
    .replaceAll(new RegExp(String.raw`\b${probe.method}\b`, 'g'), '…')
    .replaceAll(/[\w:.-]*\d[\w:.-]*/g, (word) => (word.length < shortestId ? word : '…'))
}

/** Whether a sentence of the response names the path of the request; a member that is the path, as some frameworks always add, is none. */
function namesPath(text: string, probe: Probe): boolean {
  return writtenPaths(probe).some((echo) => {
    const escaped = echo.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    const asMember = new RegExp(`"${escaped}(?:\\?[^"]*)?"`, 'g')
    return unescaped(text).replaceAll(asMember, '').includes(echo)
  })
}
