import { targetReason } from '../report/index.ts'
import type { HttpResult } from '../http/index.ts'
import { type Exchange, type PreviousRequest, isThrottled } from '../journal/index.ts'
import {
  type GatewayResponse,
  gatewayEveryMs,
  gatewayResponseOf,
  remedyFor,
  type Way,
} from './gateway.ts'
import { isLost } from './losses.ts'
import { pause } from './outcome.ts'
import { operationName } from './request.ts'
import type { State } from './state.ts'

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

const maxNamed = 3
/** A request lost this long (ms) before the last answer did not cause a later end. */
const recentMs = 1000

export interface Question {
  readonly result: HttpResult
  readonly exchange: Exchange
}

interface Settings {
  readonly run: Pick<State, 'target' | 'life' | 'options'>
  readonly way: Way
  ask(timeoutMs: number, isElsewhere: boolean): Promise<Question>
  accept(exchange: Exchange): void
  redact(text: string): string
}

export class Liveness {
  readonly #settings: Settings
  readonly #open = new Map<PreviousRequest, number>()
  /** Unanswered requests with times: one may have brought the target down. */
  #lost: {
    readonly request: PreviousRequest
    readonly sentAt: number
    readonly endedAt: number
  }[] = []
  #looks = 0
  #answeredAt = -Infinity
  #backAt = -Infinity
  #timer: NodeJS.Timeout | undefined
  /** Pending while liveness is being checked: nothing else is sent meanwhile. */
  checking: Promise<void> | undefined

  constructor(settings: Settings) {
    this.#settings = settings
  }

  async first(): Promise<boolean> {
    // If a key cannot be read, the requests that need it report it.
    const look = (): void => void this.#checkIfQuiet().catch(() => undefined)
    this.#timer = setInterval(look, checkEveryMs).unref()
    const { run, way, accept, ask } = this.#settings
    const { baseUrl, limits, timeoutDeclared } = run.target
    const asked = await ask(timeoutDeclared ? limits.timeoutMs : firstMs, false)
    const { last, gateway } = await this.#askPatiently(asked, startQuestions)
    const { result, exchange } = last
    const why =
      result.kind === 'no-answer' ? `${result.message}${remedyFor(result, way)}` : gateway?.sentence
    if (why === undefined) accept(exchange)
    else run.life.end('unreachable', targetReason(baseUrl, why))
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
    if (result?.kind === 'answer') {
      this.#noteAnswer()
      this.#lost = this.#lost.filter((other) => endedAt - other.endedAt < recentMs)
    } else if (result && result.cause !== 'refused') this.#lost.push({ request, sentAt, endedAt })
  }

  /**
   * After an unanswered exchange or a gateway's answer, checks whether the target is there, unless an answer came
   * since. True if it was away and came back, so that the request may be repeated; a target that stays away ends the
   * run instead of failing each request.
   */
  async cameBack(exchange: Exchange): Promise<boolean> {
    if (
      this.#backAt < exchange.endedAt &&
      (exchange.response || this.#answeredAt <= exchange.endedAt)
    )
      await this.#check()
    return this.#backAt >= exchange.endedAt
  }

  async isThrottling(): Promise<boolean> {
    for (const isElsewhere of [false, true]) {
      const { response } = (await this.#settings.ask(lastChanceMs, isElsewhere)).exchange
      if (response && !isThrottled(response)) return false
    }
    return true
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #noteAnswer(): void {
    this.#answeredAt = performance.now()
    this.#looks = 0
  }

  async #checkIfQuiet(): Promise<void> {
    if (this.#open.size > 0 && ++this.#looks > quietLooks) await this.#check()
  }

  #check(): Promise<void> {
    return (this.checking ??= this.#lookAgain().finally(() => (this.checking = undefined)))
  }

  async #lookAgain(): Promise<void> {
    const { run, ask, accept } = this.#settings
    const stopped = (why: string): void =>
      run.life.end('unreachable', `the target stopped answering: ${why}`)
    const first = await ask(lastChanceMs, false)
    const isGateway = (this.#gatewayOf(first)?.patienceMs ?? 0) > 0
    const { last, gateway } = await this.#askPatiently(first, restartQuestions)
    const { result, exchange } = last
    if (isGateway || isAway(first.result)) this.#backAt = performance.now()
    accept(exchange)
    if (gateway && gateway.patienceMs > 0) stopped(gateway.sentence)
    else if (result.kind === 'answer') this.#noteAnswer()
    // The run ended first, which says nothing about the target.
    else if (result.cause !== 'aborted') stopped(`${result.message}${this.#underWay()}`)
  }

  /** Asks until the target answers: `most` times while it accepts no connection, or as long as a gateway waits for its service. */
  async #askPatiently(
    first: Question,
    most: number,
  ): Promise<{ readonly last: Question; readonly gateway?: GatewayResponse }> {
    const { run, ask } = this.#settings
    const wait = (ms: number): Promise<void> => pause(run, ms).catch(() => undefined)
    for (let [last, times] = [first, 0]; ; times++) {
      const gateway = this.#gatewayOf(last)
      if (isAway(last.result) && times < most) await wait(2 * run.options.backoffMs)
      else if (gateway && times * gatewayEveryMs < gateway.patienceMs) await wait(gatewayEveryMs)
      else if (!gateway) return { last }
      else if (gateway.perhapsHereOnly && !this.#gatewayOf(await ask(lastChanceMs, true)))
        return { last }
      else return { last, gateway }
      last = await ask(lastChanceMs, false)
    }
  }

  #gatewayOf(question: Question): GatewayResponse | undefined {
    return gatewayResponseOf(question.exchange, this.#settings.way)
  }

  /** `; under way when it stopped: POST … (chat.create/400-malformed-json)`; empty if none. */
  #underWay(): string {
    const { run, redact } = this.#settings
    const open = [...this.#open].map(([request, sentAt]) => ({ request, sentAt }))
    // A server is more likely to crash on a body.
    const hasNone = (one: PreviousRequest): number => (one.request.body === undefined ? 1 : 0)
    const inOrder = [...this.#lost, ...open].sort(
      (a, b) => hasNone(a.request) - hasNone(b.request) || a.sentAt - b.sentAt,
    )
    const all = inOrder.map(({ request: { probe, purpose, request } }) => {
      const sentFor = purpose.requirement ?? operationName(probe)
      return redact(`${request.method} ${run.target.baseUrl}${request.path} (${sentFor})`)
    })
    const names = [...new Set(all)]
    if (names.length === 0) return ''
    const more = names.length > maxNamed ? `, and ${names.length - maxNamed} more` : ''
    return `; under way when it stopped: ${names.slice(0, maxNamed).join(', ')}${more}`
  }
}

function isAway(result: HttpResult): boolean {
  return isLost(result) || (result.kind === 'no-answer' && result.detail === 'nobody-listens')
}
