import { targetReason } from '../report/index.ts'
import type { HttpResult } from '../http/index.ts'
import type { Exchange, PreviousRequest } from './exchange.ts'
import {
  type GatewayResponse,
  gatewayEveryMs,
  gatewayResponseOf,
  remedyFor,
  type Way,
} from './gateway.ts'
import { isLost } from './losses.ts'
import { pause } from './outcome.ts'
import { forLiveness, httpRequest, livenessProbe, nameOf } from './request.ts'
import { isThrottled } from './response.ts'
import type { Liveness, Run } from './run.ts'
import { recordExchange } from './send.ts'

/** Interval of checks for a silent target, in ms. */
const checkEveryMs = 250
/**
 * After this many checks (10 s) with open requests but no answer, one more request tests whether the target is alive.
 * Counting checks instead of time allows for pauses of this process.
 */
const quietLooks = 40
const lastChanceMs = 5_000
/** A target that is away is asked again so often, while it may be starting, or starting again: for about 3 s, and 10 s. */
const startQuestions = 6
const restartQuestions = 20
/** Default time limit of the first request, in ms. */
const firstMs = 10_000

/** Maximum requests named as the last before the target went away. */
const maxNamed = 3
/** A request lost this long (ms) before the last answer did not cause a later end. */
const recentMs = 1000

interface Asked {
  readonly result: HttpResult
  readonly exchange: Exchange
}

/** Creates the liveness check of a run, which need not be complete yet; its first request starts the run. */
export function createLiveness(run: () => Run): Liveness {
  const open = new Map<PreviousRequest, number>()
  /** Unanswered requests with times: one may have brought the target down. */
  let lost: {
    readonly request: PreviousRequest
    readonly sentAt: number
    readonly endedAt: number
  }[] = []
  /** Checks since the last answer, or since the first open request. */
  let looks = 0
  let answeredAt = -Infinity
  /** When a target that had been away answered again. */
  let backAt = -Infinity
  let checking: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  const once = (check: () => Promise<void>): Promise<void> =>
    (checking ??= check().finally(() => (checking = undefined)))
  const answered = (): void => {
    answeredAt = performance.now()
    looks = 0
  }
  const ask = async (timeoutMs: number, elsewhere = false): Promise<Asked> => {
    const { api, client, life } = run()
    const probe = await livenessProbe(run(), elsewhere ? api.reading : api.first)
    const request = httpRequest(run(), probe)
    // The first answer may be a gateway's: observers see it once accepted.
    const sent: PreviousRequest = { probe, purpose: forLiveness, request }
    // Must not queue behind unanswered requests.
    client.pacer.owe()
    const options = { timeoutMs, signal: life.signal, fresh: true, tag: sent }
    const result = await client.transport.send(request, options)
    return { result, exchange: recordExchange(run(), sent, result) }
  }
  const accept = (exchange: Exchange): void => {
    const { api, client, target } = run()
    if (!exchange.response || target.absent[api.first] !== undefined) return
    for (const observe of client.observers) observe(exchange)
  }
  const wait = (ms: number): Promise<void> => pause(run(), ms).catch(() => undefined)
  const way = (): Way => {
    const { client, target } = run()
    return { baseUrl: target.baseUrl, tls: target.tls, proxy: client.proxy }
  }
  const gatewayOf = ({ exchange }: Asked): GatewayResponse | undefined =>
    gatewayResponseOf(exchange, way())
  /** Asks again while the target is away, so often if it takes no connections, and as long as a gateway may wait for its service. */
  const askPatiently = async (
    first: Asked,
    most: number,
  ): Promise<{ readonly last: Asked; readonly gateway?: GatewayResponse }> => {
    for (let [last, times] = [first, 0]; ; times++) {
      const gateway = gatewayOf(last)
      if (isAway(last.result) && times < most) await wait(2 * run().options.backoffMs)
      else if (gateway && times * gatewayEveryMs < gateway.patienceMs) await wait(gatewayEveryMs)
      else if (!gateway) return { last }
      else if (gateway.perhapsHereOnly && !gatewayOf(await ask(lastChanceMs, true))) return { last }
      else return { last, gateway }
      last = await ask(lastChanceMs)
    }
  }
  const stopped = (why: string): void =>
    run().life.end('unreachable', `the target stopped answering: ${why}`)
  /** `; under way when it stopped: POST … (chat.create/400-malformed-json)`, bodies first; empty if none. */
  const underWay = (): string => {
    const all = [...lost, ...[...open].map(([request, sentAt]) => ({ request, sentAt }))]
    // A server is more likely to crash on a body.
    const hasNone = ({ request }: PreviousRequest): number => (request.body === undefined ? 1 : 0)
    const inOrder = all.sort(
      (a, b) => hasNone(a.request) - hasNone(b.request) || a.sentAt - b.sentAt,
    )
    const names = [...new Set(inOrder.map(({ request }) => nameOf(run(), request)))]
    if (names.length === 0) return ''
    const more = names.length > maxNamed ? `, and ${names.length - maxNamed} more` : ''
    return `; under way when it stopped: ${names.slice(0, maxNamed).join(', ')}${more}`
  }
  const check = async (): Promise<void> => {
    const first = await ask(lastChanceMs)
    const isGateway = (gatewayOf(first)?.patienceMs ?? 0) > 0
    const { last, gateway } = await askPatiently(first, restartQuestions)
    const { result, exchange } = last
    if (isGateway || isAway(first.result)) backAt = performance.now()
    accept(exchange)
    if (gateway && gateway.patienceMs > 0) stopped(gateway.sentence)
    else if (result.kind === 'answer') answered()
    // The run ended first, which says nothing about the target.
    else if (result.cause !== 'aborted') stopped(`${result.message}${underWay()}`)
  }
  const checkIfQuiet = async (): Promise<void> => {
    if (open.size > 0 && ++looks > quietLooks) await once(check)
  }
  return {
    async first() {
      // If a key cannot be read, the requests that need it report it.
      timer = setInterval(() => void checkIfQuiet().catch(() => undefined), checkEveryMs).unref()
      const { life, target } = run()
      const { baseUrl, limits, timeoutDeclared } = target
      const asked = await ask(timeoutDeclared ? limits.timeoutMs : firstMs)
      const { last, gateway } = await askPatiently(asked, startQuestions)
      const { result, exchange } = last
      const why =
        result.kind === 'no-answer'
          ? `${result.message}${remedyFor(result, way())}`
          : gateway?.sentence
      if (why === undefined) accept(exchange)
      else life.end('unreachable', targetReason(baseUrl, why))
      return why === undefined
    },
    sending(request) {
      if (open.size === 0) looks = 0
      open.set(request, performance.now())
    },
    ended(request, result) {
      const sentAt = open.get(request) ?? 0
      const endedAt = performance.now()
      open.delete(request)
      if (result?.kind === 'answer') {
        answered()
        lost = lost.filter((other) => endedAt - other.endedAt < recentMs)
        // A refused connection did not reach the target.
      } else if (result && result.cause !== 'refused') lost.push({ request, sentAt, endedAt })
    },
    async cameBack({ endedAt, response }) {
      // Any other answer since then shows that it is there.
      if (backAt < endedAt && (response || answeredAt <= endedAt)) await once(check)
      return backAt >= endedAt
    },
    async isThrottling() {
      const isLimit = async (elsewhere: boolean): Promise<boolean> => {
        const { response } = (await ask(lastChanceMs, elsewhere)).exchange
        return !response || isThrottled(response)
      }
      return (await isLimit(false)) && (await isLimit(true))
    },
    get checking() {
      return checking
    },
    stop: () => clearInterval(timer),
  }
}

function isAway(result: HttpResult): boolean {
  return isLost(result) || (result.kind === 'no-answer' && result.detail === 'nobody-listens')
}
