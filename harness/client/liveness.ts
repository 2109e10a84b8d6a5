import { targetReason } from '../report/index.ts'
import {
  type HttpResult,
  type NoResponse,
  type NoResponseDetail,
  type Proxy,
  proxyName,
  isOfGateway,
} from '../http/index.ts'
import {
  type Exchange,
  type PreviousRequest,
  headBytes,
  type HttpResponse,
  envelopeProblem,
  describeResponse,
  isPage,
  type Credential,
  type Ask,
  type Probe,
  hasStatusOf,
  isOpen,
  type Journal,
  type Open,
} from '../journal/index.ts'
import { type Breaker, retryAfter } from './pace.ts'
import {
  doubled,
  type Given,
  isAccepting,
  type Lifetime,
  pause,
  refusing,
  wrongKeyIn,
  acceptedAt,
  wrongRow,
} from './state.ts'
import { operationName, forLiveness, livenessProbe } from './request.ts'
import type { Target } from '../target/index.ts'
import { inProcessUrl } from '../recording/recorder.ts'
import { findRequirement } from '../../catalogue/catalogue.ts'
import {
  type OperationId,
  firstOperation,
  readingOperation,
  operationOf,
} from '../../catalogue/operations.ts'

/** Interval of checks for a silent target, in ms. */
const checkEveryMs = 250
/**
 * After this many checks (10 s) with open requests but no answer, one more request tests whether the target is alive.
 * Counting checks instead of time allows for pauses of this process.
 */
const quietLooks = 40
const lastChanceMs = 5_000
/** How often to ask a target that does not answer: for about 3 s while it may be starting, 10 s while restarting. */
const startQuestions = 6
const restartQuestions = 20
const firstMs = 10_000
/** How often to repeat a question to which nothing came, in a run that has lost answers by chance. */
const questionsAgain = 2

const maxNamed = 3
/** A request lost this long (ms) before the last answer did not cause a later end. */
const recentMs = 1000

interface Sender {
  readonly journal: Journal
  readonly life: Lifetime
  readonly breaker: Pick<Breaker, 'lostByChance'>
  redact(text: string): string
  sendOnce(ask: Ask): Promise<Exchange | Open>
  askLiveness(timeoutMs: number, isElsewhere?: boolean, fresh?: boolean): Promise<Exchange>
  observe(exchange: Exchange): void
}

export class Liveness {
  readonly #given: Pick<Given, 'target' | 'options'>
  readonly #way: Way
  readonly #client: Sender
  readonly #open = new Map<PreviousRequest, number>()
  /** Requests that the target did not answer, with times: one may have brought it down. */
  #lost: {
    readonly request: PreviousRequest
    readonly sentAt: number
    readonly endedAt: number
  }[] = []
  #looks = 0
  /** When the latest request that was answered was sent. */
  #answeredAt = -Infinity
  #backAt = -Infinity
  #timer: NodeJS.Timeout | undefined
  /** Looks for the service after its pages and redirects, by kind. */
  readonly #confirmed = new Map<string, Promise<void>>()
  /** Pending while liveness is being checked: nothing else is sent meanwhile. */
  checking: Promise<void> | undefined

  constructor(given: Pick<Given, 'target' | 'options'>, way: Way, client: Sender) {
    this.#given = given
    this.#way = way
    this.#client = client
  }

  /** Whether the target is there: asked before anything else. */
  async first(): Promise<boolean> {
    this.#timer = setInterval(() => {
      // If a key cannot be read, the requests that need it report it.
      if (this.#open.size > 0 && ++this.#looks > quietLooks) this.#check().catch(() => undefined)
    }, checkEveryMs).unref()
    const { baseUrl, limits, timeoutDeclared } = this.#given.target
    const timeoutMs = timeoutDeclared ? limits.timeoutMs : firstMs
    const { last, gateway } = await this.#askPatiently(timeoutMs, startQuestions)
    const { noResponse } = last
    const why = noResponse
      ? `${noResponse.message}${remedyFor(noResponse, this.#way)}`
      : gateway?.sentence
    if (why === undefined) this.#client.observe(last)
    else {
      const ended = targetReason(baseUrl, why)
      // Where a handshake, a proxy or a handler fails, neither the server nor its address is at fault.
      const isElsewhere =
        noResponse && (noResponse.cause === 'tls' || this.#way.proxy || baseUrl === inProcessUrl)
      this.#client.life.end('unreachable', isElsewhere ? ended.reason : ended)
    }
    return why === undefined
  }

  /** Counts a request as open until it has ended, and names it if the target stops answering meanwhile. */
  sending(request: PreviousRequest): void {
    if (this.#open.size === 0) this.#looks = 0
    this.#open.set(request, performance.now())
  }

  ended(request: PreviousRequest, result: HttpResult | undefined): void {
    const sentAt = this.#open.get(request) ?? 0
    const endedAt = performance.now()
    this.#open.delete(request)
    if (!result || (result.kind === 'no-answer' && result.cause === 'refused')) return
    if (result.kind === 'no-answer' || isOfGateway(result))
      return void this.#lost.push({ request, sentAt, endedAt })
    this.#answeredAt = Math.max(this.#answeredAt, sentAt)
    this.#looks = 0
    if (this.#lost.length > 0)
      this.#lost = this.#lost.filter((other) => endedAt - other.endedAt < recentMs)
  }

  /** Waits for a target that did not answer the latest request that was lost. */
  async awaitBack(): Promise<void> {
    const lost = this.#lost.at(-1)
    if (lost) await this.cameBack(lost)
  }

  /**
   * After an unanswered exchange or a gateway's answer, checks whether the target is there, unless a request that was
   * sent since was answered. True if it was away and came back, so that the request may be repeated; a target that stays
   * away ends the run instead of failing each request.
   */
  async cameBack(lost: { readonly endedAt: number }): Promise<boolean> {
    if (Math.max(this.#backAt, this.#answeredAt) <= lost.endedAt) await this.#check(true)
    return this.#backAt >= lost.endedAt
  }

  /**
   * After a redirect or a page in place of a success, once per operation and status: if everything gets one by now, a gateway
   * answers for the service, for example since a session has expired, and the run ends.
   */
  confirm(exchange: Exchange): Promise<void> | undefined {
    const { status = 400 } = exchange.response ?? {}
    if (status >= 400 || !gatewayResponseOf(exchange, this.#way)) return undefined
    const kind = `${operationName(exchange.probe)} ${status}`
    const look = this.#confirmed.get(kind) ?? this.#check(true)
    this.#confirmed.set(kind, look)
    return look.then(() => this.#client.life.signal.throwIfAborted())
  }

  async isThrottling(): Promise<boolean> {
    for (const isElsewhere of [false, true]) {
      const { response } = await this.#client.askLiveness(lastChanceMs, isElsewhere)
      if (response && !response.isThrottled) return false
    }
    return true
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** @param mayBeOpen an open connection shows it, too: a target may allow few of them */
  #check(mayBeOpen = false): Promise<void> {
    const look = (): Promise<void> => this.#lookAgain(mayBeOpen)
    return (this.checking ??= look().finally(() => (this.checking = undefined)))
  }

  async #lookAgain(mayBeOpen: boolean): Promise<void> {
    const stopped = (why: string): void =>
      this.#client.life.end('unreachable', `the target stopped answering: ${why}`)
    const open = mayBeOpen && (await this.#client.askLiveness(lastChanceMs, false, false))
    if (open && open.response && !gatewayResponseOf(open, this.#way))
      return void (this.#answeredAt = performance.now())
    const { last, gateway, wasAway } = await this.#askPatiently(lastChanceMs, restartQuestions)
    const { noResponse } = last
    if (wasAway) this.#backAt = performance.now()
    this.#client.observe(last)
    if (gateway) stopped(gateway.sentence)
    else if (!noResponse) {
      this.#answeredAt = performance.now()
      this.#looks = 0
    }
    // The run ended first, which says nothing about the target.
    else if (noResponse.cause !== 'aborted')
      stopped(`${noResponse.message}${this.#hint(noResponse)}${this.#underWay()}`)
  }

  /** A server that is written for one connection at a time lets all others wait. */
  #hint(lost: NoResponse): string {
    const isSilent = lost.cause === 'timeout' && lost.detail !== 'cut-off'
    return isSilent && this.#given.target.limits.concurrency > 1
      ? '; if it serves one connection at a time, use --concurrency 1'
      : ''
  }

  /** If the answer does not end, or does not come for long, the operation may be at fault: another one tells. */
  async #ask(timeoutMs: number, isForLong = false): Promise<Exchange> {
    let asked = await this.#client.askLiveness(timeoutMs)
    // Where others are lost by chance, a question may be lost, too.
    const isLossy = this.#client.breaker.lostByChance > 0
    for (let more = isLossy ? questionsAgain : 0; more > 0 && isSilent(asked); more--)
      asked = await this.#client.askLiveness(timeoutMs)
    const { cause, detail } = asked.noResponse ?? {}
    const isCutShort = detail === 'cut-off' || detail === 'still-coming'
    if (!isCutShort && !(isForLong && cause === 'reset')) return asked
    const other = await this.#client.askLiveness(timeoutMs, true)
    return other.response ? other : asked
  }

  /** Asks until the target answers: `most` times while it accepts no connection, or as long as a gateway waits for its service. */
  async #askPatiently(timeoutMs: number, most: number) {
    const client = this.#client
    const wait = (ms: number): Promise<void> => pause(client, ms).catch(() => undefined)
    for (let [last, times] = [await this.#ask(timeoutMs), 0]; ; times++) {
      const gateway = gatewayResponseOf(last, this.#way)
      const wasAway = times > 0
      const { cause, detail } = last.noResponse ?? {}
      const isAway = cause === 'reset' || detail === 'nobody-listens'
      if (isAway && times < most) await wait(2 * this.#given.options.backoffMs)
      else if (gateway && times * gatewayEveryMs < gateway.patienceMs) await wait(gatewayEveryMs)
      else if (!gateway) return { last, wasAway }
      else {
        const isHereOnly = !gatewayResponseOf(
          await client.askLiveness(lastChanceMs, true),
          this.#way,
        )
        return { last, gateway: isHereOnly ? undefined : gateway, wasAway }
      }
      last = await this.#ask(lastChanceMs, times > 1)
    }
  }

  /** `; under way when it stopped: POST … (chat.create/400-malformed-json)`; empty if none. */
  #underWay(): string {
    const open = [...this.#open].map(([request, sentAt]) => ({ request, sentAt }))
    // A server is more likely to crash on a body.
    const hasNone = (one: PreviousRequest): number => (one.request.body === undefined ? 1 : 0)
    const inOrder = [...this.#lost, ...open].sort(
      (a, b) => hasNone(a.request) - hasNone(b.request) || a.sentAt - b.sentAt,
    )
    const all = inOrder.map(({ request: { probe, purpose, request } }) => {
      const sentFor = purpose.requirement ?? operationName(probe)
      const { baseUrl } = this.#given.target
      return this.#client.redact(`${request.method} ${baseUrl}${request.path} (${sentFor})`)
    })
    const names = [...new Set(all)]
    if (names.length === 0) return ''
    const more = names.length > maxNamed ? `, and ${names.length - maxNamed} more` : ''
    return `; under way when it stopped: ${names.slice(0, maxNamed).join(', ')}${more}`
  }
}

const isSilent = (exchange: Exchange): boolean => exchange.noResponse?.detail === 'nothing-came'

/** Answer of a gateway in place of the service, which proves nothing about the target. */
export interface GatewayResponse {
  readonly sentence: string
  /** How long to keep asking a service that may be starting, in ms. */
  readonly patienceMs: number
}

const gatewayEveryMs = 2000
const startMs = 10_000

export interface Way {
  readonly baseUrl: string
  readonly tls: Target['tls']
  readonly proxy?: Proxy | undefined
}

/** The gateway that gave the first answer, if any. Envelopes come from the service, except with 502 to 504. */
export function gatewayResponseOf(exchange: Exchange, way: Way): GatewayResponse | undefined {
  const { response } = exchange
  if (!response) return undefined
  const { status } = response
  const { baseUrl, proxy } = way
  const past = pastProxy(way, 'it came')
  if ((status === 404 || status === 405) && /\/v1$/.test(new URL(baseUrl).pathname))
    return {
      sentence: `${doubled} (${describeGateway(exchange)})`,
      patienceMs: 0,
    }
  if (status >= 502 && status <= 504)
    return {
      sentence: `the service is down or still starting: ${describeGateway(exchange)}; check the base URL, or wait for it with --wait <ms>${past}`,
      patienceMs: startMs,
    }
  if (status >= 400 ? envelopeProblem(response) === undefined : status < 300 && !isPage(response))
    return undefined
  const sentence = redirected(response, way) ?? credentialWanted(response)
  if (sentence !== undefined)
    return { sentence: `${sentence} (${describeGateway(exchange)})`, patienceMs: 0 }
  // A tunnel's answers are the target's.
  if (status === 403 && proxy && baseUrl.startsWith('http:') && !isPage(response))
    return { sentence: `nothing gets through: ${describeGateway(exchange)}${past}`, patienceMs: 0 }
  if (!isPage(response)) return undefined
  const isBuilt = status < 400 || status === 403 || signatures.test(response.text(headBytes))
  if (!isBuilt) return undefined
  return {
    sentence: `this looks like a website, not the API: ${describeGateway(exchange)}; check the base URL, or declare what the page asks for in headers of the target file (--header)${past}`,
    patienceMs: 0,
  }
}

function pastProxy({ baseUrl, proxy }: Way, what: string): string {
  return proxy
    ? `; ${what} through ${proxyName(proxy)}; NO_PROXY=${new URL(baseUrl).hostname} bypasses it`
    : ''
}

function describeGateway(exchange: Exchange): string {
  const said = describeResponse(exchange)
  const server =
    exchange.recorded().response?.headers['server'] ?? exchange.response?.header('server')
  return server === undefined || said.includes(server) ? said : `${said}, Server: ${server}`
}

function redirected(response: HttpResponse, way: Way): string | undefined {
  const location = response.header('location')
  if (
    response.status >= 400 ||
    location === undefined ||
    !URL.canParse(location, `${way.baseUrl}/`)
  )
    return undefined
  const from = new URL(`${way.baseUrl}/v1/files`)
  const to = new URL(location, from)
  // Adding a trailing slash is the server's own redirect.
  if (to.origin === from.origin && to.pathname.startsWith(from.pathname.replace(/files$/, '')))
    return undefined
  if (from.protocol === 'http:' && to.protocol === 'https:' && to.hostname === from.hostname)
    return `it redirects to https: use https://${to.host}${new URL(way.baseUrl).pathname.replace(/\/$/, '')}`
  return `it redirects to ${to.origin}${to.pathname}: use that address in the base URL, or, if it is a login page, declare a session, for example a cookie, in headers of the target file (--header)`
}

/** A credential other than the key of §5: WWW-Authenticate names another scheme. */
function credentialWanted(response: HttpResponse): string | undefined {
  const challenge = response.header('www-authenticate') ?? ''
  const [scheme] = /^[\w-]+/.exec(challenge) ?? []
  if (
    ![401, 403].includes(response.status) ||
    scheme === undefined ||
    /\bbearer\b/i.test(challenge)
  )
    return undefined
  return `a gateway asks for a credential of its own (WWW-Authenticate: ${scheme}): declare it in headers of the target file (--header), or exempt the suite`
}

const signatures =
  /<center>[\w-]+(?:\/[\d.]+)?(?: \([^)]*\))?<\/center>|<address>|Generated by|No server is available/i

const remedies: Readonly<Partial<Record<NoResponseDetail, (way: Way) => string>>> = {
  'nothing-came': () =>
    'if the first answer takes longer, increase limits.timeoutMs (or --timeout)',
  'nobody-listens': () => 'is the server running, and on that port?',
  untrusted: (one) =>
    one.tls.ca === undefined
      ? 'add the authority that signed it to tls.ca in the target file (or NODE_EXTRA_CA_CERTS), or accept any certificate with --insecure'
      : 'no authority in tls.ca signed it: add the one that did, and any intermediate certificates',
  'not-valid': () => 'correct it, or accept any certificate with --insecure',
  'client-certificate': (one) =>
    one.tls.cert === undefined
      ? 'the server asks for a client certificate: declare tls.cert and tls.key in the target file'
      : 'the server does not accept the client certificate in tls.cert: see which authority it trusts',
}

/** A proxy that opens no way says so itself; whatever else fails may be its fault, too. */
export function remedyFor(noResponse: NoResponse, way: Way): string {
  return (
    ownRemedy(noResponse, way) +
    (noResponse.cause === 'refused' ? '' : pastProxy(way, 'requests go'))
  )
}

function ownRemedy(noResponse: NoResponse, way: Way): string {
  const known = noResponse.detail && remedies[noResponse.detail]
  if (known) return `; ${known(way)}`
  if (noResponse.cause === 'malformed') return '; is that the port of an HTTP server?'
  if (
    way.baseUrl === inProcessUrl ||
    noResponse.detail === 'plain-http' ||
    (noResponse.cause !== 'reset' && noResponse.cause !== 'tls')
  )
    return ''
  if (!way.baseUrl.startsWith('https:'))
    return `; if that port serves https, write ${way.baseUrl.replace(/^http:/, 'https:')}; if it only supports HTTP/2, enable HTTP/1.1`
  return way.tls.cert === undefined
    ? '; if the server asks for a client certificate, declare tls.cert and tls.key in the target file'
    : '; if the server does not accept the client certificate in tls.cert, see which authority it trusts'
}

/** Consecutive refusals that prove a refused key; after a 429 that names no time, half a minute: a quota may be of one. */
const questions = 3
const questionsOfNoTime = 6
/** The first pause before asking again after a 429, in ms; without a time, each further one is twice as long. */
const questionMs = 1000
/** Consecutive wrong keys, among the last answers, that may cause a lock-out. */
const lockingRow = 8
/** A target with lock-outs gets a valid key before each group of this many wrong ones. */
const wrongInARow = 3

export class KeyWatch {
  readonly #given: Pick<Given, 'keys' | 'target'>
  readonly #client: Sender
  readonly #isFew: boolean
  #wrongKeys = 0
  /** Checks after a refusal of the full key, one per kind. */
  readonly #looks = new Map<string, Promise<void>>()

  constructor(given: Pick<Given, 'keys' | 'options' | 'target'>, client: Sender) {
    this.#given = given
    this.#client = client
    this.#isFew = given.options.depth === 'quick' || given.target.limits.credentialProbes === 'few'
  }

  /** Before a request with another key than the full one. */
  separate(probe: Probe): Promise<unknown> | undefined {
    const isWrong = probe.credential.value !== undefined
    if (!this.#isFew || !isWrong || !this.#given.keys.hasFull) return undefined
    if (++this.#wrongKeys % wrongInARow !== 0) return undefined
    // Not urgent, unlike a liveness question: it queues behind waiting wrong keys.
    const purpose = { ...forLiveness, role: 'setup' } as const
    return this.#client.sendOnce({ source: () => livenessProbe(this.#given), purpose, fresh: true })
  }

  /**
   * After one of the statuses `refusing`: if another operation that accepted the full key refuses it now, the run ends,
   * since nothing more can be learned and no requirement is to blame. A 429 is an ordinary limit, unless it follows a
   * series of wrong keys.
   */
  confirm(exchange: Exchange, response: HttpResponse): Promise<void> | undefined {
    const { operation, credential } = exchange.probe
    const { status } = response
    if (operation === null) return undefined
    // A wrong key must get a 401.
    if (credential.value === undefined || (status === 401 && !credential.full)) return undefined
    const about = findRequirement(exchange.purpose.about ?? '')?.expects
    const asked = [exchange.purpose.expects, Array.isArray(about) ? about : undefined]
    if (asked.some((pairs) => hasStatusOf(pairs, response))) return undefined
    if (status === 429 && !this.#isAfterWrong()) return undefined
    const other = operation === firstOperation ? readingOperation : firstOperation
    const { journal, life } = this.#client
    if (!journal.answers.some((one) => one.operation === other && isAccepting(one)))
      return undefined
    const kind = `${operation} ${status}`
    const look = this.#looks.get(kind) ?? this.#askAgain(other, status)
    this.#looks.set(kind, look)
    return look.then(() => life.signal.throwIfAborted())
  }

  /** Ends the run if the operation also refuses the full key each time. */
  async #askAgain(id: OperationId, status: number): Promise<void> {
    const { life } = this.#client
    const since = performance.now()
    let exchange = await this.#ask(id)
    const { response } = isOpen(exchange) ? {} : exchange
    const isTimeless = response?.status === 429 && !saysWhen(response)
    const most = isTimeless ? questionsOfNoTime : questions
    for (let question = 1; question < most && isRefused(exchange); question++) {
      const pauseMs = isTimeless ? questionMs * 2 ** (question - 1) : questionMs
      if (exchange.response?.status === 429) await pause(this.#client, pauseMs)
      exchange = await this.#ask(id)
    }
    if (!isRefused(exchange) || (await this.#isQuota(id, exchange, since))) return
    const { method, path } = operationOf(id)
    const then = `${method} ${path} got ${describeResponse(exchange)}`
    const remedy = this.#isFew
      ? 'only a few were sent, so allow more for the key of the run'
      : 'declare credentialProbes: "few" in limits of the target file'
    const orQuota =
      status === 401 ? '' : '; if its quota is used up, raise it, or send less with --depth quick'
    life.end(
      'key',
      // An expired key gets a 401. By now the wrong keys that were under way have been answered as well.
      status !== 401 && status !== 402 && this.#isAfterWrong()
        ? `the target locks keys out after wrong ones: ${remedy} (the full key was accepted at first, and then ${then})`
        : `the full key was accepted at first, and is now refused (${then}): if it has expired, make keys.full a command that prints a fresh one${orQuota}`,
    )
  }

  #isAfterWrong(): boolean {
    return wrongRow(this.#client.journal) >= lockingRow
  }

  async #ask(id: OperationId, credential?: Credential): Promise<Exchange | Open> {
    const probe = await livenessProbe(this.#given, id, credential)
    // Alone: a limit on requests at once is not one of the key.
    return this.#client.sendOnce({ source: probe, purpose: forLiveness, fresh: true, alone: true })
  }

  /** Whether all requests are limited, or this key with a Retry-After: a lock-out affects keys, also wrong ones. */
  async #isQuota(id: OperationId, exchange: Exchange, since: number): Promise<boolean> {
    if (exchange.response?.status !== 429) return false
    // Other requests get through in the next window of a quota, and use it up.
    if (acceptedAt(this.#client.journal) > since) return true
    const isLimited = async (credential: Credential): Promise<boolean> => {
      const other = await this.#ask(id, credential)
      return isOpen(other) || other.response === undefined || other.response.isThrottled
    }
    if (await isLimited({ shown: '', full: false })) return true
    const wrong = wrongKeyIn(this.#client.journal)
    return saysWhen(exchange.response) && (wrong === undefined || !(await isLimited(wrong)))
  }
}

const saysWhen = (response: HttpResponse): boolean => retryAfter(response, Date.now()) !== undefined

const isRefused = (sent: Exchange | Open): sent is Exchange =>
  !isOpen(sent) && sent.response !== undefined && refusing.includes(sent.response.status)
