import { isModelError } from '../../catalogue/answers.ts'
import {
  firstOperation,
  readingOperation,
  operation as operationOf,
} from '../../catalogue/operations.ts'
import type { HttpResult, NoResponse, Proxy, Transport } from '../http/index.ts'
import type { Recorder } from '../recording/index.ts'
import {
  type Exchange,
  isWrong,
  type PreviousRequest,
  type Probe,
  probeOf,
  type Purpose,
  type Ask,
  hasStatusOf,
  isBreakdown,
  isExpected,
  isOfFamily,
  mentionsExpected,
  isThrottled,
  HttpResponse,
  type Journal,
  type Known,
} from '../journal/index.ts'
import { KeyWatch, Liveness, type Question } from './liveness.ts'
import {
  Breaker,
  isLost,
  Losses,
  mostUnanswered,
  createPacer,
  createSemaphore,
  createThrottle,
  longestPauseMs,
  maxTries,
  type Wall,
} from './pace.ts'
import { allEnded, type Lifetime, pause, type Findings, type State } from './state.ts'
import { forLiveness, httpRequest, livenessProbe, operationName, requestOf } from './request.ts'

interface Parts {
  readonly transport: Transport
  readonly elsewhere: { to(origin: string): Pick<Transport, 'send'>; close(): Promise<unknown> }
  readonly proxy: Proxy | undefined
  readonly recorder: Recorder
  /** Sends a probe when its object allows it; undefined if the object is always free. */
  intercept(
    probe: Probe,
    purpose: Purpose,
    send: (fresh: boolean) => Promise<Exchange>,
  ): Promise<Exchange> | undefined
  readonly watchers: Client['watchers']
  readonly observers: Client['observers']
}

/** Retries of what may be the expected answer in another form: a limit of the service may hit two in a row. */
const triesIfAlike = 2

interface Tries {
  fresh: boolean
  alone: boolean
  unanswered?: Exchange
  /** Repeated without an answer as often as is conclusive. */
  resent: boolean
  lost: number
  away: number
  readonly gatewayErrors: HttpResponse[]
  throttled: number
}

/** Time limit of an answer without generation, in ms; a declared `limits.timeoutMs` overrides it. */
const promptMs = 15_000
/** A new object is used before waiting requests within this time, in ms: a server may only fail early. */
const newMs = 1000
const maxAway = 3
/** Retries after a gateway's answer, and after an outage of the service. */
const maxInARow = 2
const maxGatewayErrors = 3
/** Concurrent retries of a throttled request; then it goes alone, since the limit may be on concurrency. */
const triesBeside = 2

/** So many requests may have caused the next wrong answer: as many as are under way at once, and a few. */
const maxBefore = 12

/** Sends requests to the target: with the current key, paced, and repeated as a conforming target may need. */
export class Client {
  readonly journal: Journal
  readonly life: Lifetime
  readonly findings: Findings
  readonly known: Known
  readonly breaker = new Breaker()
  /** Answers, by status and name, that limited requests which expect none of their status. */
  readonly #ownLimits = new Set<string>()
  readonly losses = new Losses()
  readonly liveness: Liveness
  readonly transport: Transport
  readonly recorder: Recorder
  readonly proxy: Proxy | undefined
  readonly throttle: ReturnType<typeof createThrottle>
  readonly watchers: ((exchange: Exchange) => void)[]
  readonly observers: ((exchange: Exchange) => void)[]
  readonly #run: State
  readonly #parts: Parts
  readonly #pacer
  readonly #places
  readonly #keyWatch: KeyWatch
  /** The latest first. */
  readonly #lastAnswered: PreviousRequest[] = []

  constructor(run: State, parts: Parts) {
    const { limits, baseUrl, tls } = run.target
    this.#run = run
    this.#parts = parts
    this.journal = run.journal
    this.life = run.life
    this.findings = run.findings
    this.known = {
      settleMs: limits.settleMs,
      madeAt: run.objects.madeAt,
      wrongAnywhere: run.findings.wrongAnywhere,
      spoiled: run.findings.spoiled,
    }
    this.transport = parts.transport
    this.recorder = parts.recorder
    this.proxy = parts.proxy
    this.#pacer = createPacer(limits.requestsPerSecond)
    this.#places = createSemaphore(limits.concurrency)
    this.throttle = createThrottle({
      baseMs: run.options.backoffMs,
      onTimeout: (wall) => this.#endWaiting(wall),
    })
    this.watchers = [
      (exchange) => this.throttle.see(exchange, exchange.probe.credential.full),
      ...parts.watchers,
    ]
    this.observers = parts.observers
    this.liveness = new Liveness({
      run,
      way: { baseUrl, tls, proxy: parts.proxy },
      ask: (timeoutMs, isElsewhere) => this.#ask(timeoutMs, isElsewhere),
      accept: (exchange) => this.#accept(exchange),
      redact: parts.recorder.redact,
    })
    this.#keyWatch = new KeyWatch(run, (ask) => this.sendOnce(ask))
  }

  /**
   * Sends a request once its object allows it: with retries, or once with a changed circumstance. Throws `NotExercised`
   * if the circuit breaker is open or the run is over.
   */
  async send(ask: Ask): Promise<Exchange> {
    const { source, purpose, isHeld = false, fresh: isFresh = false, pauseMs = 0 } = ask
    if (pauseMs > 0) await pause(this.#run, pauseMs)
    const first = await probeOf(source)
    let unsent: Probe | undefined = first
    const made = (): Probe | Promise<Probe> => {
      const probe = unsent ?? probeOf(source)
      unsent = undefined
      return probe
    }
    const send = (fresh: boolean): Promise<Exchange> =>
      ask.once
        ? this.#sendOnce(ask, first)
        : this.#sendPatiently({ ...ask, fresh: isFresh || fresh, source: made })
    return (isHeld ? undefined : this.#parts.intercept(first, purpose, send)) ?? send(false)
  }

  /** Backs off after 429 and 503, and resends what was lost if it has no effect or the connection was just closed. */
  async #sendPatiently(ask: Ask): Promise<Exchange> {
    const { fresh = false } = ask
    const { signal } = this.#run.life
    const none = { alone: false, resent: false, lost: 0, away: 0, throttled: 0 }
    const tries: Tries = { ...none, fresh, gatewayErrors: [] }
    let leaveQueue: (() => void) | undefined
    try {
      for (;;) {
        const probe = await probeOf(ask.source)
        const operation = operationName(probe)
        this.breaker.check(operation)
        leaveQueue ??= await this.throttle.turn(operation, signal, probe.credential.full)
        await this.throttle.pass(operation, signal)
        await this.#keyWatch.separate(probe)
        const { fresh: isFresh, throttled } = tries
        const alone = tries.alone || throttled >= triesBeside
        const exchange = await this.#sendOnce({ ...ask, fresh: isFresh, alone }, probe)
        const last = exchange.response
          ? await this.#afterResponse(exchange, exchange.response, tries)
          : await this.#afterLoss(exchange, exchange.noResponse!, tries)
        if (last) return last
      }
    } catch (error) {
      // The circuit breaker opened meanwhile: similar requests were lost conclusively.
      const { unanswered } = tries
      if (!unanswered || this.#run.life.ended) throw error
      if (!this.breaker.isOpen(operationName(unanswered.probe))) throw error
      return unansweredFor(unanswered)
    } finally {
      leaveQueue?.()
    }
  }

  async #afterLoss(
    exchange: Exchange,
    noResponse: NoResponse,
    tries: Tries,
  ): Promise<Exchange | undefined> {
    const { probe, purpose } = exchange
    // It never reached the target, which may be starting again.
    if (noResponse.detail === 'nobody-listens' && tries.away++ < maxAway) {
      await this.#cameBack(exchange)
      return undefined
    }
    tries.lost++
    const isReset = isLost(noResponse)
    // A valid request counts as unanswered after two attempts, each with its own object.
    const isRepeatable =
      probe.effect === 'none' || purpose.isSuccess !== undefined || purpose.role === 'setup'
    const isStale = noResponse.staleConnection && !tries.fresh
    const isOpen = !tries.resent || tries.lost < this.losses.proof(tries.lost, isReset)
    if (isStale || (isRepeatable && isOpen)) {
      tries.unanswered = exchange
      this.losses.retried++
      // A target that allows few connections closes new ones: retry alone on an open connection, then on a new one.
      const onOpen = !isStale && isReset && !tries.alone && exchange.previousRequest === undefined
      tries.fresh = !onOpen
      tries.resent ||= isStale ? tries.alone : !onOpen
      tries.alone ||= isReset && !isStale
      if (isReset && !isStale) await pause(this.#run, this.#run.options.backoffMs)
      return undefined
    }
    const wasAway = await this.#cameBack(exchange)
    if (wasAway && isRepeatable && tries.away++ < maxAway) {
      // Without concurrent requests, since one of them may have crashed the target.
      tries.alone = true
      return undefined
    }
    const last = tries.resent ? unansweredFor(exchange) : exchange
    // One repeated to a conclusion has proven it by itself.
    const byChance = isReset && !isRepeatable
    // Bad input that only causes a state is judged where it is a case: that must still be sent.
    const isStateOnly = purpose.role === 'setup' && purpose.badInput === true
    if (!isStateOnly && (!wasAway || isRepeatable))
      this.breaker.count(operationName(probe), last, (row) =>
        byChance ? this.losses.proof(row, true) : mostUnanswered,
      )
    return last
  }

  async #afterResponse(
    exchange: Exchange,
    response: HttpResponse,
    tries: Tries,
  ): Promise<Exchange | undefined> {
    const { purpose, probe } = exchange
    const { expects } = purpose
    const operation = operationName(probe)
    this.breaker.reset(operation)
    await this.#keyWatch.confirm(exchange)
    if (!isGatewayError(response))
      for (const error of tries.gatewayErrors) this.#run.findings.gatewayErrors.add(error)
    else if (
      !hasStatusOf(expects, response) &&
      tries.gatewayErrors.push(response) <= maxGatewayErrors
    ) {
      // Repeated at least once: a restarting service may be back, and single requests may be lost.
      if ((await this.#cameBack(exchange)) || tries.gatewayErrors.length <= maxInARow) {
        this.losses.retried++
        return undefined
      }
    }
    const { unanswered } = tries
    if (!isThrottled(response) || isExpected(expects, response))
      return unanswered ? { ...exchange, unanswered } : exchange
    // It may be the expected answer under another name, or in a form that cannot be read.
    const isAlike = isOfFamily(expects, response) || mentionsExpected(expects, response)
    const isCounted = !hasStatusOf(expects, response)
    const kind = `${response.status} ${response.tpe}`
    if (isCounted) this.#ownLimits.add(kind)
    const isOwnLimit = this.#ownLimits.has(kind)
    const most = isAlike && !isOwnLimit ? triesIfAlike : maxTries
    const pauseMs = this.throttle.hold(operation, response, tries.throttled, {
      isCounted,
      isKeyRight: probe.credential.full,
    })
    if (pauseMs !== undefined && tries.throttled++ < most) return undefined
    return { ...exchange, throttled: true, isOwnLimit }
  }

  async #cameBack(exchange: Exchange): Promise<boolean> {
    const wasAway = await this.liveness.cameBack(exchange)
    this.#run.life.signal.throwIfAborted()
    return wasAway
  }

  async sendWithStaleRetry(ask: Ask): Promise<Exchange> {
    return this.#unlessStale(await this.sendOnce(ask), () => this.sendOnce({ ...ask, fresh: true }))
  }

  async #unlessStale(exchange: Exchange, again: () => Promise<Exchange>): Promise<Exchange> {
    if (!exchange.noResponse?.staleConnection) return exchange
    this.losses.retried++
    return { ...(await again()), unanswered: exchange }
  }

  async sendOnce(ask: Ask): Promise<Exchange> {
    return this.#sendOnce(ask, await probeOf(ask.source))
  }

  async #sendOnce(ask: Ask, probe: Probe): Promise<Exchange> {
    const count = ask.alone ? this.#places.size : 1
    const urgent = this.#isUrgent(probe, ask.purpose)
    const release = await this.#places.acquire(this.#run.life.signal, { count, urgent })
    try {
      return await this.#send(ask, probe)
    } finally {
      release()
    }
  }

  /** @param opens opens connections first, to hit a race of a millisecond between a server's check and its set */
  async sendAtOnce(
    count: number,
    make: () => Probe | Promise<Probe>,
    purpose: Purpose,
    options: { readonly fresh: boolean; readonly opens: boolean },
  ): Promise<Exchange[]> {
    const { signal } = this.#run.life
    const probes = await Promise.all(Array.from({ length: count }, async () => make()))
    const operation = probes[0] ? operationName(probes[0]) : ''
    this.breaker.check(operation)
    await this.throttle.pass(operation, signal)
    await this.#pacer.saveUp(options.opens ? 2 * count : count, signal)
    const release = await this.#places.acquire(signal, { count, urgent: true })
    /** Only what is ready: a holder of places never waits for others, and making a request may send some. */
    const sendHeld = async (probe: Probe, of: Purpose, fresh = false): Promise<Exchange> => {
      const ask: Ask = { source: probe, purpose: of, fresh, pace: 'paid-back' }
      const sent = await this.#send(ask, probe)
      if (probe.effect !== 'none') return sent
      return this.#unlessStale(sent, () => this.#send({ ...ask, fresh: true }, probe))
    }
    const sendAll = async (): Promise<Exchange[]> => {
      const { idle } = this.transport
      if (options.opens && idle && idle() < count) {
        const read = await livenessProbe(this.#run)
        const skipPassive = this.#run.target.absent[firstOperation] !== undefined
        const opening = { requirement: null, role: 'setup', skipPassive } as const
        await Promise.allSettled(probes.map(() => sendHeld(read, opening)))
      }
      return Promise.all(probes.map((probe) => sendHeld(probe, purpose, options.fresh)))
    }
    const first = await sendAll().finally(release)
    const again = async (): Promise<Exchange> =>
      this.sendOnce({ source: await make(), purpose, fresh: true, pace: 'paid-back' })
    const sent = await Promise.all(first.map((one) => this.#unlessStale(one, again)))
    for (const exchange of sent) this.holdBack(exchange)
    return sent
  }

  holdBack(exchange: Exchange): void {
    if (exchange.response && isThrottled(exchange.response))
      this.throttle.hold(operationName(exchange.probe), exchange.response, 0)
  }

  /**
   * Readings of a job in progress are urgent: behind hundreds of requests they would be too late. So are uses of new
   * objects; and what is the critical path: creations, as objects are looked at again once they are old enough, and all
   * requests to objects with one job at a time.
   */
  #isUrgent({ operation, effect, params }: Probe, purpose: Purpose): boolean {
    const { objects } = this.#run
    const since = performance.now() - newMs
    return (
      Object.values(params).some((id) => (objects.madeAt.get(id) ?? -Infinity) > since) ||
      purpose.role === 'poll' ||
      purpose.role === 'liveness' ||
      effect === 'creates' ||
      (operation !== null && operationOf(operation).busy !== undefined)
    )
  }

  async #send(
    { source, purpose, fresh = false, after: first, pace }: Ask,
    probe: Probe,
  ): Promise<Exchange> {
    const { life, target } = this.#run
    const { signal } = life
    if (pace === 'paid-back') this.#pacer.owe()
    else if (pace === undefined) await this.#pacer.wait(signal)
    if (this.liveness.checking) await this.liveness.checking
    signal.throwIfAborted()
    this.breaker.check(operationName(probe))
    this.#requireOwn(probe)
    const after = first && (await requestOf(this.#run, await probeOf(first.source), first.purpose))
    const sentFor = after ? { ...purpose, skipJudging: 'at all' as const } : purpose
    const sent = await requestOf(this.#run, probe, sentFor, source)
    const isUsual = target.timeoutDeclared || probe.effect === 'generates'
    const timeoutMs = Math.min(target.limits.timeoutMs, isUsual ? Infinity : promptMs)
    const ended = (result: HttpResult): void => void (after && this.#record(after, result))
    this.liveness.sending(sent)
    let result: HttpResult | undefined
    try {
      result = await this.transport.send(sent.request, {
        timeoutMs,
        signal,
        fresh,
        tag: sent,
        after: after && { request: after.request, tag: after, ended },
      })
    } finally {
      this.liveness.ended(sent, result)
      if (result) this.losses.note(result)
    }
    signal.throwIfAborted()
    if (result.kind === 'answer' || result.cause !== 'timeout') return this.#record(sent, result)
    const limit = isUsual ? 'limits.timeoutMs' : 'the default limit without limits.timeoutMs'
    const remedy = result.detail === 'still-coming' ? '; increase limits.timeoutMs' : ` (${limit})`
    return this.#record(sent, { ...result, message: result.message + remedy })
  }

  /** Throws for a request that would destroy an object which the target file declares: only what the run made may go. */
  #requireOwn(probe: Probe): void {
    const { objects, target } = this.#run
    if (probe.operation === null || operationOf(probe.operation).effect !== 'destroys') return
    for (const id of Object.values(probe.params))
      if (target.ids.has(id.toLowerCase()) && !objects.madeAt.has(id))
        throw new Error(`${probe.operation} would destroy ${id}, which this run did not make`)
  }

  #record(sent: PreviousRequest, result: HttpResult): Exchange {
    const { probe, purpose, request } = sent
    const previous = result.previousTag
    // A record is kept, and would keep the chain of previous exchanges alive.
    result.previousTag = undefined
    const recorded = this.recorder.record({
      url: this.#run.target.baseUrl + request.path,
      request,
      result,
      credential: probe.credential,
      operation: probe.operation,
      requirement: purpose.requirement,
      role: purpose.role,
    })
    sent.recorded = recorded
    const isAnswer = result.kind === 'answer'
    const exchange: Exchange = {
      probe,
      purpose,
      response: isAnswer ? new HttpResponse(result) : undefined,
      noResponse: isAnswer ? undefined : result,
      previousRequest: previous && 'probe' in previous ? (previous as PreviousRequest) : undefined,
      throttled: false,
      recorded,
      sentAt: result.sentAt,
      endedAt: result.endedAt,
    }
    if (isWrong(exchange)) exchange.requestsBefore = [...this.#lastAnswered]
    if (probe.effect === 'none' && this.#lastAnswered.unshift(sent) > maxBefore)
      this.#lastAnswered.pop()
    for (const watch of this.watchers) watch(exchange)
    if (!purpose.skipPassive) this.#observe(exchange)
    return exchange
  }

  #observe(exchange: Exchange): void {
    if (exchange.response) for (const observe of this.observers) observe(exchange)
  }

  async #ask(timeoutMs: number, isElsewhere: boolean): Promise<Question> {
    const { life } = this.#run
    const probe = await livenessProbe(this.#run, isElsewhere ? readingOperation : firstOperation)
    const sent = { probe, purpose: forLiveness, request: httpRequest(this.#run, probe) }
    this.#pacer.owe()
    const options = { timeoutMs, signal: life.signal, fresh: true, tag: sent }
    const result = await this.transport.send(sent.request, options)
    return { result, exchange: this.#record(sent, result) }
  }

  /** The first answer may be a gateway's: observers see it once accepted. */
  #accept(exchange: Exchange): void {
    if (this.#run.target.absent[firstOperation] === undefined) this.#observe(exchange)
  }

  /** Sends a request of the target file itself, which is not judged, and may come after the end of the run. */
  async sendElsewhere(
    url: string,
    request: Parameters<Transport['send']>[0],
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
    about: Pick<Parameters<Recorder['record']>[0], 'credential' | 'requirement' | 'role'>,
  ): Promise<HttpResult> {
    const { life } = this.#run
    if (life.ended?.cause === 'interrupted') this.#pacer.owe()
    else await this.#pacer.wait(life.ended ? undefined : life.signal)
    const transport = this.#parts.elsewhere.to(new URL(url).origin)
    const send = async (fresh: boolean): Promise<HttpResult> => {
      const result = await transport.send(request, {
        timeoutMs: options.timeoutMs,
        fresh,
        signal: options.signal,
      })
      this.recorder.record({ ...about, url, request, result, operation: null })
      return result
    }
    const first = await send(false)
    return first.kind === 'no-answer' && first.staleConnection ? send(true) : first
  }

  /** Stops waiting after nothing but throttled answers: the whole run, or these operations if others are answered. */
  async #endWaiting(wall: Wall): Promise<void> {
    const isAll = await this.liveness.isThrottling().catch(() => true)
    if (isAll) this.#run.life.end('throttled', wallSentence(wall))
    else for (const operation of wall.operations) this.breaker.stop(operation)
  }

  stop(): void {
    this.liveness.stop()
    this.throttle.release()
  }

  close(): Promise<void> {
    return allEnded([this.transport.close(), this.#parts.elsewhere.close()]).finally(
      this.recorder.close,
    )
  }
}

/** Only over a slow network: the service did answer. */
const unansweredFor = (exchange: Exchange): Exchange =>
  exchange.noResponse?.detail === 'still-coming' ? exchange : { ...exchange, unansweredTwice: true }

function isGatewayError(response: HttpResponse): boolean {
  return (response.status === 502 || response.status === 504) && !isModelError(response.tpe)
}

/** A crash of the service itself: a gateway may forward one of several requests at a time. */
export function isOwnBreakdown(exchange: Exchange): boolean {
  return (
    exchange.response !== undefined &&
    isBreakdown(exchange.response) &&
    !isGatewayError(exchange.response)
  )
}

function wallSentence({ ms, askedMs, statuses }: Wall): string {
  const given = [...statuses].toSorted().join(' or ')
  const sentence = `for ${Math.round(ms / 1000)} s the target answered only ${given}`
  if (!statuses.has(429)) return `${sentence}: it is out of service, or accepts no more requests`
  return askedMs > longestPauseMs
    ? `${sentence}, and asks to wait ${Math.round(askedMs / 1000)} s: a quota of hours or days`
    : sentence
}
