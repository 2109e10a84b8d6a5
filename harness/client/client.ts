import { haveStatus, isModelError } from '../../catalogue/answers.ts'
import { firstOperation, operationOf, readingOperation } from '../../catalogue/operations.ts'
import {
  type HttpResult,
  isOfGateway,
  type PrecedingRequest,
  type Proxy,
  type Transport,
} from '../http/index.ts'
import type { Recorder } from '../recording/recorder.ts'
import {
  type Exchange,
  isWrong,
  type PreviousRequest,
  type Probe,
  probeOf,
  type Purpose,
  type Ask,
  type Access,
  hasStatusOf,
  isRepeatable,
  type Retry,
  isExpected,
  isThrottling,
  mayConflictWithCopy,
  HttpResponse,
  type Journal,
  type Known,
  allOrOpen,
  eventOf,
  isOpen,
  open,
  type Open,
} from '../journal/index.ts'
import { KeyWatch, Liveness } from './liveness.ts'
import {
  Breaker,
  createPacer,
  createSemaphore,
  createThrottle,
  longestPauseMs,
  type Throttle,
  type Turn,
  type Wall,
} from './pace.ts'
import { allEnded, type Lifetime, pause, type Findings, type Given, refusing } from './state.ts'
import { forLiveness, livenessProbe, operationName, requestOf } from './request.ts'

interface Parts {
  readonly journal: Journal
  readonly life: Lifetime
  readonly findings: Findings
  readonly transport: Transport
  /** For requests of the target file to other origins. */
  transportTo(origin: string): Transport
  readonly recorder: Recorder
}

/** What the suites do about every request. */
export interface ClientHooks {
  /** Sees every exchange of the interface with an answer. */
  answered(exchange: Exchange): void
  /** Undefined if the request may be sent at any time. */
  accessFor(probe: Probe, purpose: Purpose): Access | undefined
}

/** Time limit of an answer without generation, in ms; a declared `limits.timeoutMs` overrides it. */
const promptMs = 15_000
/** A new object is used before waiting requests within this time, in ms: a server may only fail early. */
const newMs = 1000

/** How many earlier requests are kept that may have caused a wrong answer: those under way at once, and a few. */
const maxBefore = 12

/** Sends requests to the target: with the current key, paced, and repeated as a conforming target may need. */
export class Client {
  readonly journal: Journal
  readonly life: Lifetime
  readonly findings: Findings
  readonly known: Known
  /** The text without keys. */
  readonly redact: (text: string) => string
  readonly proxy: Proxy | undefined
  readonly recorder: Recorder
  readonly breaker = new Breaker()
  /** Once an answer was throttled. */
  throttle: Throttle | undefined
  /** Told of each pause. */
  onPause: ((operation: string, pauseMs: number) => void) | undefined
  readonly liveness: Liveness
  /** Set once the client exists. */
  hooks!: ClientHooks
  readonly #given: Given
  readonly #parts: Parts
  /** By origin; the target's without one. */
  readonly #transports = new Map<string, Transport>()
  /** Answers that limited requests which ask for no limit: by operation, status and name, by status, and pages. */
  readonly #ownLimits = new Set<string>()
  /** If there is a rate to keep to. */
  readonly #pacer: ReturnType<typeof createPacer> | undefined
  readonly #places
  /** Once a key is wrong or refused. */
  #keyWatch: KeyWatch | undefined
  /** The latest first. */
  readonly #lastAnswered: PreviousRequest[] = []

  constructor(given: Given, parts: Parts) {
    const { limits, baseUrl, tls } = given.target
    const { journal, life, findings, recorder } = parts
    const { proxy } = parts.transport
    this.journal = journal
    this.life = life
    this.findings = findings
    this.known = {
      settleMs: limits.settleMs,
      madeAt: given.objects.madeAt,
      wrongAnywhere: findings.wrongAnywhere,
      spoilers: findings.spoilers,
    }
    this.redact = recorder.redact
    this.proxy = proxy
    this.recorder = recorder
    this.#given = given
    this.#parts = parts
    this.#transports.set('', parts.transport)
    if (limits.requestsPerSecond > 0) this.#pacer = createPacer(limits.requestsPerSecond)
    this.#places = createSemaphore(limits.concurrency, life.signal)
    this.liveness = new Liveness(given, { baseUrl, tls, proxy }, this)
  }

  /**
   * Sends a request once; open if there is none, its operation gets no more, or it would do harm.
   * @param turn given if it is sent until it is answered: it waits while its operation is throttled, one after the other,
   * and what comes is counted
   */
  async sendOnce(ask: Ask, made?: Probe, turn?: Turn): Promise<Exchange | Open> {
    const probe = made ?? (await probeOf(ask.source))
    if (isOpen(probe)) return probe
    // Made before a place is taken: making it may send requests.
    const before = ask.after && (await probeOf(ask.after.source))
    if (isOpen(before)) return before
    if (turn) {
      const isKeyRight = probe.credential.full
      const name = operationName(probe)
      const left = this.breaker.check(name, ask.purpose.role)
      if (left) return left
      const queued = this.throttle?.wait(name, this.life.signal, isKeyRight, turn)
      if (queued) await queued
      const held = this.throttle?.pass(name, this.life.signal)
      if (held) await held
      if (!isKeyRight) await this.#watchKeys().separate(probe)
    }
    const { alone = false } = ask
    // Readings of a job in progress are urgent: behind hundreds of requests they would be too late. So are uses of new
    // objects; and what is the critical path: creations, as objects are looked at again once they are old enough, and
    // all requests to objects with one job at a time.
    const { operation, effect, params } = probe
    const { role } = ask.purpose
    let isUrgent =
      ask.isUrgent === true || role === 'poll' || role === 'liveness' || effect === 'creates'
    if (operation !== null && operationOf(operation).busy !== undefined) isUrgent = true
    for (const name in params) {
      const madeAt = this.known.madeAt.get(params[name]!)
      if (madeAt !== undefined && madeAt > performance.now() - newMs) isUrgent = true
    }
    const places = alone ? this.#places.size : 1
    const taken = this.#places.acquire(places, isUrgent)
    const release = typeof taken === 'function' ? taken : await taken
    let sent: Exchange | Open
    try {
      // Of several that were lost together, only the one that brings the target down is lost again.
      if (alone) await this.liveness.awaitBack()
      sent = await this.#sendNow(ask, probe, before)
      if (!isOpen(sent) && sent.isOfGateway) sent = await this.#sendPast(sent, ask, before)
    } finally {
      release()
    }
    if (!turn || isOpen(sent) || !sent.response) return sent
    this.breaker.reset(operationName(sent.probe))
    const confirming = refusing.includes(sent.response.status)
      ? this.#watchKeys().confirm(sent, sent.response)
      : this.liveness.confirm(sent)
    if (confirming) await confirming
    if (isThrottling(sent)) this.#count(sent, sent.response, ask.attempt)
    return sent
  }

  /**
   * Sends at once again what a gateway answered: one of several replicas may be down, and with no request between, another is
   * reached. A creation that is refused now may have been carried out before: that says nothing.
   */
  async #sendPast(lost: Exchange, ask: Ask, before?: Probe): Promise<Exchange | Open> {
    const { probe, purpose } = lost
    this.breaker.retried++
    const sent = await this.#sendNow(ask, probe, before)
    if (isOpen(sent) || !sent.response) return sent
    if (probe.effect === 'creates' && purpose.isSuccess?.(sent) === false) return lost
    sent.unanswered = lost
    return sent
  }

  /** Holds an operation back that is throttled. */
  #count(exchange: Exchange, response: HttpResponse, attempt = 0): void {
    const { expects } = exchange.purpose
    const operation = operationName(exchange.probe)
    const isCounted = !haveStatus(expects, 429, 503)
    const status = String(response.status)
    // A page is a gateway's, which limits all operations.
    const kind =
      response.tpe === undefined ? `page ${status}` : `${operation} ${status} ${response.tpe}`
    if (isCounted) this.#ownLimits.add(kind).add(status)
    // Of the status that is not asked for, any limit of the service.
    exchange.isOwnLimit = this.#ownLimits.has(hasStatusOf(expects, response) ? kind : status)
    const isKeyRight = exchange.probe.credential.full
    const pauseMs = this.#hold(operation, response, attempt, { isCounted, isKeyRight })
    exchange.isTooLong = pauseMs === undefined
  }

  #watchKeys(): KeyWatch {
    return (this.#keyWatch ??= new KeyWatch(this.#given, this))
  }

  #hold(...of: Parameters<Throttle['hold']>): number | undefined {
    this.throttle ??= createThrottle({
      baseMs: this.#given.options.backoffMs,
      onPause: this.onPause,
      onTimeout: (wall) => this.#endWaiting(wall),
    })
    return this.throttle.hold(...of)
  }

  /** Before what was lost is sent again. */
  async backOff({ isOfGateway, noResponse }: Exchange): Promise<void> {
    if (isOfGateway || (noResponse && noResponse.detail !== 'nobody-listens'))
      this.breaker.retried++
    if (noResponse?.cause === 'reset' && !noResponse.staleConnection)
      await pause(this, this.#given.options.backoffMs)
  }

  /** Counts the last try, and returns the answer to judge. */
  conclude(ask: Ask, last: Exchange, retry: Retry): Exchange {
    const { probe, purpose, noResponse, wasAway } = last
    const { lost, ofGateway, unanswered } = retry
    if (!noResponse && unanswered) last.unanswered = unanswered
    if (ask.once) return last
    if (noResponse) {
      // Bad input that only causes a state is judged where it is a case: that must still be sent.
      const isStateOnly = purpose.role === 'setup' && purpose.badInput === true
      // One repeated to a conclusion has proven it by itself.
      const byChance = !isRepeatable(last)
      if (!isStateOnly && (!wasAway || !byChance))
        this.breaker.count(operationName(probe), byChance)
      return retry.isResent ? unansweredFor(last, lost + 1) : last
    }
    if (!last.isOfGateway) {
      if (!mayConflictWithCopy(last)) this.breaker.lostByChance += lost + ofGateway
    } else {
      // Each repetition got it: now it counts.
      last.isOfGateway = false
      if (!purpose.skipPassive) this.journal.append(eventOf(this.#given.target, last))
    }
    return isThrottling(last) ? { ...last, throttled: true } : last
  }

  /** If the circuit breaker opened meanwhile, similar requests were lost conclusively. */
  lostMeanwhile({ lost, unanswered }: Retry): Exchange | undefined {
    const isLost = unanswered && lost >= this.breaker.proof()
    return isLost && this.breaker.isOpen(operationName(unanswered.probe))
      ? unansweredFor(unanswered, lost)
      : undefined
  }

  /** A full run opens connections first, to hit a race of a millisecond between a server's check and its set. */
  async sendAtOnce(ask: Ask, times: number): Promise<Exchange[] | Open> {
    const { options, target } = this.#given
    const { signal } = this.life
    const opens = !ask.fresh && options.depth === 'full'
    const count = Math.min(times, target.limits.concurrency)
    const making = Array.from({ length: count }, async () => probeOf(ask.source))
    const probes = allOrOpen(await Promise.all(making))
    if (isOpen(probes)) return probes
    const operation = probes[0] ? operationName(probes[0]) : ''
    const left = this.breaker.check(operation)
    if (left) return left
    await this.throttle?.pass(operation, signal)
    await this.#pacer?.saveUp(opens ? 2 * count : count, signal)
    const release = await this.#places.acquire(count, true)
    /** Only what is ready: a holder of places never waits for others, and making a request may send some. */
    const sendAll = async (): Promise<Exchange[] | Open> => {
      const { idle } = this.#parts.transport
      if (opens && idle && idle() < count)
        await Promise.allSettled(probes.map(() => this.askLiveness(promptMs, false, false)))
      return allOrOpen(await Promise.all(probes.map((probe) => this.#sendNow(ask, probe))))
    }
    return sendAll().finally(release)
  }

  /** Pauses its operation, if that was throttled. */
  holdBack(sent: Exchange | Open): Exchange | Open {
    if (!isOpen(sent) && sent.response?.isThrottled)
      this.#hold(operationName(sent.probe), sent.response, 0)
    return sent
  }

  async #sendNow(ask: Ask, probe: Probe, before?: Probe): Promise<Exchange | Open> {
    const { purpose, isPaidBack, fresh = false, alone = false } = ask
    const { keys, target } = this.#given
    const { signal } = this.life
    if (isPaidBack) this.#pacer?.owe()
    const paced = isPaidBack ? undefined : this.#pacer?.wait(signal)
    if (paced) await paced
    if (this.liveness.checking) await this.liveness.checking
    signal.throwIfAborted()
    const left = this.breaker.check(operationName(probe), purpose.role)
    if (left) return left
    // Of what the target file declares, nothing may go.
    if (probe.operation !== null && operationOf(probe.operation).effect === 'destroys')
      for (const id of Object.values(probe.params))
        if (target.ids.has(id.toLowerCase()))
          return open(`it would destroy ${id}, which the target file declares`)
    const after =
      ask.after && before ? await this.#requestBefore(before, ask.after.purpose) : undefined
    const ownPurpose = after ? { ...purpose, skipJudging: 'at all' as const } : purpose
    // A short-lived key may have expired in the queue.
    const current = keys.current(probe.credential)
    const credential = current instanceof Promise ? await current : current
    if (!credential.full) keys.learn(credential)
    const sent = requestOf(target, probe, credential, ownPurpose, ask.source)
    const isUsual = target.timeoutDeclared || probe.effect === 'generates'
    const timeoutMs = isUsual
      ? target.limits.timeoutMs
      : Math.min(target.limits.timeoutMs, promptMs)
    this.liveness.sending(sent)
    let result: HttpResult | undefined
    try {
      if (fresh && (alone || this.#places.size === 1)) this.#closeUnused()
      const options = { timeoutMs, signal, fresh, tag: sent, after }
      result = await this.#parts.transport.send(sent.request, options)
    } finally {
      this.liveness.ended(sent, result)
      if (result) this.breaker.sent++
    }
    signal.throwIfAborted()
    if (result.kind === 'answer' || result.cause !== 'timeout') return this.#record(sent, result)
    const limit = isUsual ? 'limits.timeoutMs' : 'the default limit without limits.timeoutMs'
    const remedy = result.detail === 'still-coming' ? '; increase limits.timeoutMs' : ` (${limit})`
    return this.#record(sent, { ...result, message: result.message + remedy })
  }

  async #requestBefore(probe: Probe, purpose: Purpose): Promise<PrecedingRequest> {
    const { keys, target } = this.#given
    // Two at once: a place before them, and one after.
    await this.#pacer?.wait(this.life.signal)
    this.#pacer?.owe()
    const credential = await keys.current(probe.credential)
    const sent = requestOf(target, probe, credential, purpose)
    const ended = (result: HttpResult): void => void this.#record(sent, result)
    return { request: sent.request, tag: sent, ended }
  }

  #record(sent: PreviousRequest, result: HttpResult): Exchange {
    const { probe, purpose, request } = sent
    const previous = result.previousTag
    // A record is kept, and would keep the chain of previous exchanges alive.
    result.previousTag = undefined
    const recorded = this.recorder.record({
      url: this.#given.target.baseUrl + request.path,
      request,
      result,
      credential: probe.credential,
      operation: probe.operation,
      requirement: purpose.requirement,
      role: purpose.role,
    })
    sent.recorded = recorded
    const response = result.kind === 'answer' ? new HttpResponse(result) : undefined
    const exchange: Exchange = {
      probe,
      purpose,
      response,
      noResponse: result.kind === 'answer' ? undefined : result,
      previousRequest: previous && 'probe' in previous ? (previous as PreviousRequest) : undefined,
      throttled: false,
      isOfGateway:
        response !== undefined &&
        isOfGateway(response) &&
        !isModelError(response.tpe) &&
        !isExpected(purpose.expects, response),
      recorded,
      sentAt: result.sentAt,
      endedAt: result.endedAt,
    }
    if (isWrong(exchange)) exchange.requestsBefore = [...this.#lastAnswered]
    if (probe.effect === 'none' && this.#lastAnswered.unshift(sent) > maxBefore)
      this.#lastAnswered.pop()
    this.throttle?.see(exchange, probe.credential.full)
    this.journal.appendAnswer(exchange)
    if (!response) this.journal.append(eventOf(this.#given.target, exchange))
    if (!purpose.skipPassive) this.observe(exchange)
    return exchange
  }

  /** Judges an answer by what holds for all. That to a liveness question may be a gateway's, and comes here once accepted. */
  observe(exchange: Exchange): void {
    const { target } = this.#given
    const isOfAbsent =
      exchange.purpose === forLiveness && target.absent[firstOperation] !== undefined
    if (!exchange.response || isOfAbsent) return
    this.journal.append(eventOf(target, exchange))
    this.hooks.answered(exchange)
    this.findings.signs.observe(exchange)
    const answer = this.journal.answers.findLast((one) => one.sentAt === exchange.sentAt)
    if (answer) answer.isOwn = true
  }

  async askLiveness(timeoutMs: number, isElsewhere = false, fresh = true): Promise<Exchange> {
    const { signal } = this.life
    const probe = await livenessProbe(this.#given, isElsewhere ? readingOperation : firstOperation)
    const sent = requestOf(this.#given.target, probe, probe.credential, forLiveness)
    this.#pacer?.owe()
    const options = { timeoutMs, signal, fresh, tag: sent }
    if (fresh) this.#closeUnused()
    return this.#record(sent, await this.#parts.transport.send(sent.request, options))
  }

  /** Sends a request of the target file itself, which is not judged, and may come after the end of the run. */
  async sendElsewhere(
    url: string,
    request: Parameters<Transport['send']>[0],
    options: Parameters<Transport['send']>[1],
    about: Pick<Parameters<Recorder['record']>[0], 'credential' | 'requirement' | 'role'>,
  ): Promise<HttpResult> {
    const { life } = this
    if (life.ended?.cause === 'interrupted') this.#pacer?.owe()
    else await this.#pacer?.wait(life.ended ? undefined : life.signal)
    const { origin } = new URL(url)
    const transport = this.#transports.get(origin) ?? this.#parts.transportTo(origin)
    this.#transports.set(origin, transport)
    // Its own stay open: a clean-up sends many.
    this.#parts.transport.closeUnused?.()
    const result = await transport.send(request, options)
    this.recorder.record({ ...about, url, request, result, operation: null })
    return result
  }

  /** Stops waiting after nothing but throttled answers: the whole run, or these operations if others are answered. */
  async #endWaiting(wall: Wall): Promise<void> {
    const isAll = await this.liveness.isThrottling().catch(() => true)
    if (isAll) this.life.end('throttled', wallSentence(wall))
    else for (const operation of wall.operations) this.breaker.stop(operation)
  }

  /** A target may serve few connections: unused ones must not keep a new one out. */
  #closeUnused(): void {
    for (const transport of this.#transports.values()) transport.closeUnused?.()
  }

  async close(): Promise<void> {
    const closing = [...this.#transports.values()].map((one) => one.close())
    await allEnded(closing).finally(this.recorder.close)
  }
}

/** Notes it in the exchange itself, which the journal has. Only over a slow network, the service did answer. */
function unansweredFor(exchange: Exchange, times: number): Exchange {
  if (exchange.noResponse?.detail !== 'still-coming') exchange.unansweredTimes = times
  return exchange
}

/** A crash of the service itself: a gateway may forward one of several requests at a time. */
export function isOwnBreakdown(exchange: Exchange): boolean {
  return exchange.response?.isBreakdown === true && !isOfGateway(exchange.response)
}

function wallSentence({ ms, askedMs, statuses }: Wall): string {
  const given = [...statuses].toSorted().join(' or ')
  const sentence = `for ${Math.round(ms / 1000)} s the target answered only ${given}`
  if (!statuses.has(429)) return `${sentence}: it is out of service, or accepts no more requests`
  return askedMs > longestPauseMs
    ? `${sentence}, and asks to wait ${Math.round(askedMs / 1000)} s: a quota of hours or days`
    : sentence
}
