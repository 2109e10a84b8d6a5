import type { HttpResponse } from './response.ts'
import type { Exchange } from './exchange.ts'
import { describeResponse, isPage } from './describe.ts'
import { perRun, type Run } from './run.ts'

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
