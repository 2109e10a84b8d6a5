import type { HttpRequest, HttpResult, NoAnswer, HttpAnswer } from '../http/message.ts'
import { createUnanswered, type Named } from './unanswered.ts'

/** If requests are open and none is answered for this long, one more request asks whether the target still lives, in ms. */
const quietMs = 10_000
/** What that question is given, in ms. */
const lastChanceMs = 5_000
/** The first request of a run is given this long, in ms. */
const firstMs = 10_000
const checkEveryMs = 250

export interface LivenessSettings {
  /** `GET /v1/files`, with the full key if there is one. */
  request(): Promise<HttpRequest>
  send(request: HttpRequest, timeoutMs: number): Promise<HttpResult>
  /** Records the question and its answer. */
  record(request: HttpRequest, result: HttpResult): void
  onDead(cause: 'unreachable' | 'redirect', reason: string): void
  /** Asked for when it is needed: the run is still being made when its liveness is. */
  target(): { readonly baseUrl: string }
}

/** Notices a target that answers nothing, at the start or half-way. */
export interface Liveness {
  /** The first request of the run. False if the run cannot go on; `onDead` has then been called with the reason. */
  first(): Promise<boolean>
  /** Counts a request as open while it is under way. If the target stops answering meanwhile, the request is named. */
  during<T extends HttpResult>(request: Named, send: () => Promise<T>): Promise<T>
  /**
   * After a request without an answer: asks whether the target still lives, unless an answer came since.
   * One that does not ends the run, so that a server which died is not failed request by request.
   */
  confirm(since: number): Promise<void>
  stop(): void
}

export function createLiveness(settings: LivenessSettings): Liveness {
  const unanswered = createUnanswered()
  /** When an answer came last, or the first of the open requests was sent. */
  let lastAnswer = performance.now()
  let answeredAt = -Infinity
  let checking: Promise<void> | undefined
  const answered = (): void => {
    answeredAt = lastAnswer = performance.now()
  }
  const question = async (timeoutMs: number): Promise<HttpResult> => {
    const request = await settings.request()
    const result = await settings.send(request, timeoutMs)
    settings.record(request, result)
    return result
  }
  const checkAlive = async (): Promise<void> => {
    let result = await question(lastChanceMs)
    if (result.kind === 'no-answer' && result.staleConnection) result = await question(lastChanceMs)
    if (result.kind === 'answer') answered()
    else settings.onDead('unreachable', `the target stopped answering: ${result.message}${unanswered.sentence()}`)
  }
  const checkAliveOnce = (): Promise<void> => (checking ??= checkAlive().finally(() => (checking = undefined)))
  const checkIfQuiet = async (): Promise<void> => {
    if (unanswered.open > 0 && performance.now() - lastAnswer >= quietMs) await checkAliveOnce()
  }
  // If a key cannot be read, the requests that need it report it.
  const timer = setInterval(() => void checkIfQuiet().catch(() => undefined), checkEveryMs)
  timer.unref()
  return {
    async first() {
      const { baseUrl } = settings.target()
      let result = await question(firstMs)
      // A connection that was closed before any answer may be a start-up's: nothing can have happened, so once more.
      if (result.kind === 'no-answer' && result.cause === 'reset') result = await question(lastChanceMs)
      if (result.kind === 'no-answer') {
        settings.onDead('unreachable', `${baseUrl} cannot be judged: ${result.message}${remedy(baseUrl, result)}`)
        return false
      }
      const secure = tlsBaseUrl(baseUrl, result)
      if (secure !== undefined) {
        settings.onDead('redirect', `${baseUrl} redirects to https: use ${secure}`)
        return false
      }
      return true
    },
    async during(request, send) {
      if (unanswered.open === 0) lastAnswer = performance.now()
      const result = await unanswered.during(request, send)
      if (result.kind === 'answer') answered()
      return result
    },
    async confirm(since) {
      if (answeredAt <= since) await checkAliveOnce()
    },
    stop: () => clearInterval(timer),
  }
}

/** What to try, if the way in which no answer came tells. */
function remedy(baseUrl: string, { cause, detail }: NoAnswer): string {
  if (cause === 'reset' && baseUrl.startsWith('http:')) return '; if that port serves https, write https://'
  if (detail === 'certificate') {
    return '; name an authority to trust in tls.ca of the target file, or accept any certificate with --insecure'
  }
  return detail === 'nobody-listens' ? '; is the server running, and on that port?' : ''
}

/** The base URL to use instead, if a first answer redirects http to https on the same host. */
function tlsBaseUrl(baseUrl: string, answer: HttpAnswer): string | undefined {
  const location = answer.headers.find(({ name }) => name.toLowerCase() === 'location')?.value
  if (answer.status < 300 || answer.status > 399 || location === undefined) return undefined
  const from = new URL(baseUrl)
  if (from.protocol !== 'http:' || !URL.canParse(location, baseUrl)) return undefined
  const to = new URL(location, baseUrl)
  if (to.protocol !== 'https:' || to.hostname !== from.hostname) return undefined
  const path = from.pathname === '/' ? '' : from.pathname
  return `https://${to.host}${path}`
}
