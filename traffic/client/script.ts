import { codeNames, listedTypes } from '../../catalogue/errors.ts'
import { isOperationId, type OperationId, operations } from '../../catalogue/operations.ts'
import type {
  ForwardedRequest,
  Forwarder,
  Forwarding,
  HeaderLine,
} from '../../harness/http/index.ts'
import { didYouMean } from '../../harness/target-file/index.ts'
import { ensure } from '../../harness/user-error.ts'
import { isObject, preview } from '../../schemas/json.ts'
import { operationAt } from '../base-url.ts'

interface ScriptedError {
  readonly status: number
  readonly tpe: string
  /** Seconds, as the header `Retry-After` has them. */
  readonly retryAfter?: number
}

/** `pass`: the request goes on to the server. */
type Step = ScriptedError | 'pass'

/** The answers to the requests of an operation, in their order; `*`: of all that have no list of their own. */
export type Script = ReadonlyMap<OperationId | '*', readonly Step[]>

const ids: readonly string[] = operations.map(({ id }) => id)

/** Reads a script, `{"jobs.create": [{"status": 429, "retryAfter": 1}, 503, "pass"]}`. Throws UserError that names place and remedy. */
export function scriptOf(value: unknown, file: string): Script {
  ensure(
    isObject(value),
    `${file}: must be an object of operations, {"jobs.create": [429, "pass"]}`,
  )
  const lists = Object.entries(value).map(([name, steps]) => {
    const meant = didYouMean(name, ids)
    ensure(
      name === '*' || isOperationId(name),
      `${file}: ${name}: is not an operation${meant}; "*" is any`,
    )
    ensure(Array.isArray(steps) && steps.length > 0, `${file}: ${name}: give a list of answers`)
    return [name, steps.map((step, at) => stepOf(step, name, `${file}: ${name}[${at}]`))] as const
  })
  return new Map(lists)
}

const members = ['status', 'tpe', 'retryAfter']

function stepOf(value: unknown, operation: OperationId | '*', place: string): Step {
  if (value === 'pass') return value
  const step = typeof value === 'number' ? { status: value } : value
  const form = 'give "pass", a status, or {"status", "tpe", "retryAfter"}'
  ensure(isObject(step), `${place}: ${preview(value)}: ${form}`)
  const unknown = Object.keys(step).find((name) => !members.includes(name))
  ensure(
    unknown === undefined,
    `${place}.${unknown}: is not a member${didYouMean(unknown ?? '', members)}`,
  )
  const { retryAfter, status } = step
  ensure(isWhole(status, 400, 599), `${place}.status: give the status of an error, 400 to 599`)
  ensure(
    retryAfter === undefined || isWhole(retryAfter, 0),
    `${place}.retryAfter: give whole seconds`,
  )
  const tpe = step.tpe ?? usualType(operation, status)
  ensure(typeof tpe === 'string' && tpe !== '', `${place}.tpe: give the name of an error`)
  return { status, tpe, ...(retryAfter !== undefined && { retryAfter }) }
}

function isWhole(value: unknown, least: number, most = Infinity): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}

/** The type that §7.3 gives the operation with that status, else the first code name of §7.2. */
function usualType(operation: OperationId | '*', status: number): string | undefined {
  return listedTypes(operation === '*' ? null : operation, status)[0] ?? codeNames(status)?.[0]
}

/** How a client took an error of the script. */
export interface Played {
  readonly operation: OperationId
  readonly error: ScriptedError
  /** ms until it asked that operation again; undefined: it did not. */
  waitedMs: number | undefined
  /** It came back before `Retry-After` was over, or twice in a row at once if there was none. */
  isTooEarly: boolean
}

/** Timers of a client may go off a little early, in ms. */
const slackMs = 20
/** Sooner than this nobody comes back who waits at all, in ms; a drawn pause may be as short now and then, but not twice. */
const atOnceMs = 10

/** Plays a script to a client: answers what is scripted, and hands everything else on. */
export interface ScriptPlayer extends Forwarder {
  readonly played: readonly Played[]
  /** How many errors no request came for. */
  left(): number
  /** Whether the head of an answer, the very object, is one of the script's. */
  wrote(headers: readonly HeaderLine[]): boolean
}

interface Answered extends Played {
  readonly connectionOpenedAt: number
  endedAt: number
}

/**
 * @param onTooEarly told at once
 * @param now ms, on the clock of `connectionOpenedAt`
 */
export function playScript(
  script: Script,
  forwarder: Forwarder,
  onTooEarly: (played: Played, request: ForwardedRequest) => void,
  now: () => number = () => performance.now(),
): ScriptPlayer {
  const next = new Map([...script].map(([operation, steps]) => [operation, [...steps]]))
  const lasts = new Map<OperationId, Answered>()
  const played: Answered[] = []
  const written = new WeakSet<readonly HeaderLine[]>()

  /** Two requests that were under way at the same time are no retry of one another. */
  const look = (operation: OperationId, request: ForwardedRequest): void => {
    const last = lasts.get(operation)
    const { connectionOpenedAt = 0 } = request
    if (!last || last.endedAt === Infinity || last.waitedMs !== undefined) return
    const isLater =
      connectionOpenedAt === last.connectionOpenedAt || connectionOpenedAt >= last.endedAt
    const waitedMs = now() - last.endedAt
    if (!isLater && waitedMs < slackMs) return
    last.waitedMs = waitedMs
    const before = played.filter((one) => one.operation === operation).at(-2)
    const { retryAfter } = last.error
    last.isTooEarly =
      retryAfter === undefined
        ? waitedMs < atOnceMs && before?.waitedMs !== undefined && before.waitedMs < atOnceMs
        : waitedMs < retryAfter * 1000 - slackMs
    if (last.isTooEarly) onTooEarly(last, request)
  }

  return {
    played,
    left: () => [...next.values()].flat().filter((step) => step !== 'pass').length,
    wrote: (headers) => written.has(headers),
    close: () => forwarder.close(),
    forward(request, sink) {
      const operation = operationAt(request.method, request.path.split('?')[0]!)?.operation
      if (operation === undefined) return forwarder.forward(request, sink)
      look(operation, request)
      const step = (next.get(operation) ?? next.get('*'))?.shift()
      if (step === undefined || step === 'pass') {
        lasts.delete(operation)
        return forwarder.forward(request, sink)
      }
      const { connectionOpenedAt = 0 } = request
      const answered: Answered = {
        ...{ operation, error: step, waitedMs: undefined, isTooEarly: false },
        ...{ connectionOpenedAt, endedAt: Infinity },
      }
      played.push(answered)
      lasts.set(operation, answered)
      const headers = headersOf(step)
      written.add(headers)
      return whenRead(request, () => {
        answered.endedAt = now()
        sink.head(step.status, headers, '')
        sink.data(bodyOf(step))
        sink.end()
      })
    },
  }
}

const bodyOf = ({ status, tpe }: ScriptedError): Buffer =>
  Buffer.from(
    JSON.stringify({
      tpe,
      errors: [{ description: `The script answers with ${status}.` }],
      extras: {},
    }),
  )

function headersOf(step: ScriptedError): HeaderLine[] {
  return [
    { name: 'content-type', value: 'application/json' },
    { name: 'content-length', value: String(bodyOf(step).length) },
    ...(step.retryAfter === undefined
      ? []
      : [{ name: 'retry-after', value: String(step.retryAfter) }]),
  ]
}

/** Answers when the request was read to its end, as any server does. */
function whenRead({ body }: ForwardedRequest, answer: () => void): Forwarding {
  let isOver = false
  const read = async (): Promise<void> => {
    for await (const _piece of body ?? []) if (isOver) return
    if (!isOver) answer()
  }
  // A client that breaks off is told of by the proxy.
  void read().catch(() => undefined)
  return { resume: () => undefined, abort: () => void (isOver = true) }
}
