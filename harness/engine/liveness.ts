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

/** How often it is looked whether a target has gone quiet, in ms. */
const checkEveryMs = 250
/**
 * If requests are open and none is answered for so many looks in a row, for 10 s, one more request asks whether the target still
 * lives. Looks are counted, and not the time between them, in which this process may have stood still on a busy machine.
 */
const quietLooks = 40
const lastChanceMs = 5_000
/** A target that is away is asked again so often, while it may be starting, or starting again: for about 3 s, and 10 s. */
const startQuestions = 6
const restartQuestions = 20
/** The first request of a run is given this long if the target file says nothing else, in ms. */
const firstMs = 10_000

/** Most requests that are named as the last before the target went away. */
const maxNamed = 3
/** A request that got no answer this long before the last answer (ms) did not cause an end that comes now. */
const recentMs = 1000

interface Asked {
  readonly result: HttpResult
  readonly exchange: Exchange
}

/** The liveness of a run, which is still being made: its question is the first request, whatever is judged. */
export function createLiveness(run: () => Run): Liveness {
  const open = new Map<PreviousRequest, number>()
  /** Those that ended without an answer, and when: one of them may have brought the target down. */
  let lost: {
    readonly request: PreviousRequest
    readonly sentAt: number
    readonly endedAt: number
  }[] = []
  /** Looks since an answer came last, or the first of the open requests was sent. */
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
    // The first answer may be a gateway's: it is shown to the observers when it is accepted.
    const sent: PreviousRequest = { probe, purpose: forLiveness, request }
    // It is not to wait behind what gets no answer.
    client.pacer.owe()
    const options = { timeoutMs, signal: life.signal, fresh: true, tag: sent }
    const result = await client.transport.send(request, options)
    return { result, exchange: recordExchange(run(), sent, result) }
  }
  /** Shows the answer to what observes answers: it is the target's own. */
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
  /** `; under way when it stopped: POST … (chat.create/400-malformed-json)`, those with a body first; nothing if none was. */
  const underWay = (): string => {
    const all = [...lost, ...[...open].map(([request, sentAt]) => ({ request, sentAt }))]
    // What a server has to read is more likely to bring it down.
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
    // The run was over before the question was: that says nothing of the target.
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
        // A request on a connection that nobody took did not reach the target.
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

/** A server that starts again refuses connections, or what stands before it closes them. */
function isAway(result: HttpResult): boolean {
  return isLost(result) || (result.kind === 'no-answer' && result.detail === 'nobody-listens')
}
