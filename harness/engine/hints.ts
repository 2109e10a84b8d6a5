import type { HttpResponse } from './response.ts'
import type { Exchange } from './exchange.ts'
import { describeResponse, isPage, pageTitle } from './describe.ts'
import { perRun, type Run } from './run.ts'
import type { PageCount } from '../report/model.ts'

/** A target that gives one and the same answer at this many places is not the API. */
const fewestPlaces = 3

/** Signs that the target, or its file, is not the one that was meant. */
interface Hints {
  observe(exchange: Exchange): void
  /** A sentence that says what to look at; one for each subject. */
  add(subject: string, sentence: string): void
  readonly sentences: readonly string[]
}

export const hintsOf = perRun(createHints)

function createHints({ target: { baseUrl } }: Run): Hints {
  const added = new Map<string, string>()
  const places = new Set<string>()
  const responses = new Set<string>()
  let first: Exchange | undefined
  const ofTarget = (): string | undefined => {
    if (!first?.response || isOfClient(first.response)) return undefined
    const said = `${first.recorded.request.method} ${first.recorded.request.url} was answered ${describeResponse(first)}`
    const isGranted = first.response.status < 300
    if (/\/v1$/.test(new URL(baseUrl).pathname) && !isGranted)
      return `the base URL ends in /v1, but the paths of the interface begin with /v1 already: leave it out (${said})`
    if (showsPage(first)) return `this is a page, not an API: check the base URL (${said})`
    if (places.size >= fewestPlaces && responses.size === 1)
      return `every path gets the same answer: check the base URL (${said})`
    return undefined
  }
  return {
    observe(exchange) {
      first ??= exchange
      // The recorded form is made when it is asked for, and most answers differ soon.
      if (responses.size > 1) return
      const { probe, response, recorded } = exchange
      places.add(`${probe.method} ${probe.path}`)
      responses.add(`${response?.status} ${recorded.response?.body}`)
    },
    add: (subject, sentence) => void (added.has(subject) || added.set(subject, sentence)),
    get sentences() {
      return [ofTarget() ?? [], ...added.values()].flat()
    },
  }
}

/** A key that is not accepted, and throttling, are reported otherwise. */
function isOfClient({ status }: HttpResponse): boolean {
  return status === 401 || status === 429 || status === 503
}

function showsPage({ response, recorded }: Pick<Exchange, 'response' | 'recorded'>): boolean {
  return isPage(response?.header('content-type'), recorded.response?.body ?? '')
}

/** Most kinds of pages that a report names. */
const mostKinds = 10
/** The title of a page stands at its beginning, in bytes. */
const headBytes = 4096

/** The error responses of a run that were pages in place of envelopes, by what they were: told once, as one cause. */
export const pagesOf = perRun(() => {
  const counted = new Map<string, PageCount>()
  return {
    observe({ response }: Exchange): void {
      if (!response || response.status < 400 || response.json().ok) return
      const body = response.text(headBytes)
      if (!isPage(response.header('content-type'), body)) return
      const { status } = response
      const page = { status, title: pageTitle(body)?.slice(0, 100), server: response.header('server')?.slice(0, 60) }
      const key = JSON.stringify(page)
      const known = counted.get(key)
      if (known) known.times++
      else if (counted.size < mostKinds) counted.set(key, { ...page, times: 1 })
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
