import type { Answer } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { describeAnswer, isPage } from './describe.ts'
import { perRun, type Run } from './run.ts'

/** A target that gives one and the same answer at this many places is not the API. */
const fewestPlaces = 3

/** Signs that the target, or its file, is not the one that was meant. */
export interface Hints {
  observe(exchange: Exchange): void
  /** A sentence that says what to look at; one for each subject. */
  add(subject: string, sentence: string): void
  readonly sentences: readonly string[]
}

export const hintsOf = perRun(createHints)

function createHints({ target: { baseUrl } }: Run): Hints {
  const added = new Map<string, string>()
  const places = new Set<string>()
  const answers = new Set<string>()
  let first: Exchange | undefined
  const ofTarget = (): string | undefined => {
    if (!first?.answer || isOfClient(first.answer)) return undefined
    const said = `${first.recorded.request.method} ${first.recorded.request.url} was answered ${describeAnswer(first)}`
    const isGranted = first.answer.status < 300
    if (/\/v1$/.test(new URL(baseUrl).pathname) && !isGranted)
      return `the base URL ends in /v1, but the paths of the interface begin with /v1 already: leave it out (${said})`
    if (showsPage(first)) return `this is a page, not an API: check the base URL (${said})`
    if (places.size >= fewestPlaces && answers.size === 1)
      return `every path gets the same answer: check the base URL (${said})`
    return undefined
  }
  return {
    observe(exchange) {
      first ??= exchange
      // The recorded form is made when it is asked for, and most answers differ soon.
      if (answers.size > 1) return
      const { probe, answer, recorded } = exchange
      places.add(`${probe.method} ${probe.path}`)
      answers.add(`${answer?.status} ${recorded.response?.body}`)
    },
    add: (subject, sentence) => void (added.has(subject) || added.set(subject, sentence)),
    get sentences() {
      return [ofTarget() ?? [], ...added.values()].flat()
    },
  }
}

/** A key that is not accepted, and throttling, are reported otherwise. */
function isOfClient({ status }: Answer): boolean {
  return status === 401 || status === 429 || status === 503
}

export function showsPage({ answer, recorded }: Pick<Exchange, 'answer' | 'recorded'>): boolean {
  return isPage(answer?.header('content-type'), recorded.response?.body ?? '')
}
