import { codeNames, listedTypes } from '../../catalogue/errors.ts'
import { isOperationId, type OperationId, operations } from '../../catalogue/operations.ts'
import { didYouMean } from '../../harness/target/index.ts'
import { ensure } from '../../harness/user-error.ts'
import { isObject, preview } from '../../schemas/json.ts'
import type {
  ForwardedRequest,
  Forwarder,
  Forwarding,
  HeaderLine,
  ResponseSink,
} from '../../harness/http/index.ts'
import { operationAt } from '../base-url.ts'

/** An answer of a script to one request. */
export type Step = WrittenStep | BareStep

interface Timed {
  /** ms until it is given. */
  readonly delay?: number
}

/** `error`: an envelope; `page`: a gateway's page in place of one. */
export interface WrittenStep extends Timed {
  readonly answer: 'error' | 'page'
  readonly status: number
  /** Of an error. */
  readonly tpe?: string
  /** Seconds, as the header `Retry-After` has them. */
  readonly retryAfter?: number
}

/** `pass`: the server answers; `cut`: it does, and the answer breaks off; `reset`: the connection is closed without one. */
interface BareStep extends Timed {
  readonly answer: 'pass' | 'cut' | 'reset'
}

/** The answers to the requests of an operation, in their order; `*`: those of each that has no list of its own. */
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

const members = ['answer', 'status', 'tpe', 'retryAfter', 'delay']
const answers = ['error', 'page', 'pass', 'cut', 'reset'] as const
/** Longest delay, in ms. */
const longestDelayMs = 3_600_000

function stepOf(value: unknown, operation: OperationId | '*', place: string): Step {
  const words = answers.filter((word) => word !== 'error').map((word) => `"${word}"`)
  const form = `give ${words.join(', ')}, a status, or {"answer", "status", "tpe", "retryAfter", "delay"}`
  const isWord = typeof value === 'string' && value !== 'error'
  const step = isWord ? { answer: value } : typeof value === 'number' ? { status: value } : value
  ensure(isObject(step), `${place}: ${preview(value)}: ${form}`)
  const unknown = Object.keys(step).find((name) => !members.includes(name))
  ensure(
    unknown === undefined,
    `${place}.${unknown}: is not a member${didYouMean(unknown ?? '', members)}`,
  )
  const { delay, retryAfter } = step
  // What says nothing but when is the server's own answer.
  const usual = step.status === undefined && step.tpe === undefined ? 'pass' : 'error'
  const answer = answers.find((word) => word === (step.answer ?? usual))
  ensure(answer !== undefined, `${place}: ${preview(step.answer)}: ${form}`)
  ensure(
    delay === undefined || isWhole(delay, 0, longestDelayMs),
    `${place}.delay: give whole milliseconds, at most ${longestDelayMs}`,
  )
  const late = delay !== undefined && { delay }
  if (answer !== 'error' && answer !== 'page') {
    const idle = ['status', 'tpe', 'retryAfter'].find((name) => step[name] !== undefined)
    ensure(idle === undefined, `${place}.${idle}: goes with an error or a page alone`)
    return { answer, ...late }
  }
  ensure(
    retryAfter === undefined || isWhole(retryAfter, 0),
    `${place}.retryAfter: give whole seconds`,
  )
  const after = retryAfter !== undefined && { retryAfter }
  const { status = answer === 'page' ? 502 : undefined } = step
  ensure(isWhole(status, 400, 599), `${place}.status: give the status of an error, 400 to 599`)
  if (answer === 'page') return { answer, status, ...after, ...late }
  const tpe = step.tpe ?? usualType(operation, status)
  ensure(typeof tpe === 'string' && tpe !== '', `${place}.tpe: give the name of an error`)
  return { answer, status, tpe, ...after, ...late }
}

function isWhole(value: unknown, least: number, most = Infinity): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}

/** The type of a 503 by §7.2, of another status that which §7.3 gives the operation with it, else the first code name of §7.2. */
function usualType(operation: OperationId | '*', status: number): string | undefined {
  const listed = status === 503 ? [] : listedTypes(operation === '*' ? null : operation, status)
  return listed[0] ?? codeNames(status)?.[0]
}

const bareTexts: Readonly<Record<BareStep['answer'], string>> = {
  pass: 'by the server',
  cut: 'with a part of a response',
  reset: 'with a closed connection',
}

/** `429 QuotaExceeded, Retry-After 1`: a step in words. */
export function stepText(step: Step): string {
  const late = step.delay === undefined ? '' : ` after ${step.delay} ms`
  if (!('status' in step)) return bareTexts[step.answer] + late
  const after = step.retryAfter === undefined ? '' : `, Retry-After ${step.retryAfter}`
  const name = step.tpe ?? "a gateway's page"
  return `${step.status} ${name}${after}${late}`
}

/** A step of a script that was played. */
export interface Played {
  /** Number of the request at the proxy, from 1. */
  readonly n: number
  readonly operation: OperationId
  readonly step: Step
}

/** Plays a script to a client: answers what is scripted, and hands everything else on. */
export interface ScriptPlayer extends Forwarder {
  /** What was played, without the server's own answers. */
  readonly played: readonly Played[]
  left(): number
}

export function playScript(script: Script, forwarder: Forwarder): ScriptPlayer {
  const lists = new Map<OperationId, Step[]>()
  for (const [operation, steps] of script) if (operation !== '*') lists.set(operation, [...steps])
  const played: Played[] = []
  const listOf = (operation: OperationId): Step[] => {
    const list = lists.get(operation) ?? [...(script.get('*') ?? [])]
    lists.set(operation, list)
    return list
  }
  return {
    played,
    left: () => [...lists.values()].flat().filter(({ answer }) => answer !== 'pass').length,
    close: () => forwarder.close(),
    forward(request, sink) {
      const operation = operationAt(request.method, request.path.split('?')[0]!)?.operation
      const step = operation === undefined ? undefined : listOf(operation).shift()
      if (operation === undefined || step === undefined) return forwarder.forward(request, sink)
      if (step.answer !== 'pass') played.push({ n: request.n ?? 0, operation, step })
      const play = (): Forwarding => playStep(step, request, sink, forwarder)
      return step.delay === undefined ? play() : later(step.delay, play)
    },
  }
}

function later(delay: number, play: () => Forwarding): Forwarding {
  let forwarding: Forwarding | undefined
  const timer = setTimeout(() => (forwarding = play()), delay)
  return {
    resume: () => forwarding?.resume(),
    abort() {
      clearTimeout(timer)
      forwarding?.abort()
    },
  }
}

function playStep(
  step: Step,
  request: ForwardedRequest,
  sink: ResponseSink,
  forwarder: Forwarder,
): Forwarding {
  if (step.answer === 'pass') return forwarder.forward(request, sink)
  if (step.answer === 'cut') return cutShort(request, sink, forwarder)
  if (!('status' in step))
    return whenRead(request, () => sink.cut('the script closed the connection'))
  return whenRead(request, () => {
    const body = bodyOf(step)
    sink.head(step.status, headersOf(step, body), '')
    sink.data(body)
    sink.end()
  })
}

/** Hands on the head of the server's answer and the first half of the first piece of its body, and closes the connection. */
function cutShort(request: ForwardedRequest, sink: ResponseSink, forwarder: Forwarder): Forwarding {
  let isCut = false
  const forwarding = forwarder.forward(request, {
    ...sink,
    data(piece) {
      if (isCut) return false
      isCut = true
      sink.data(piece.subarray(0, piece.length >> 1))
      // It is written by then.
      setImmediate(() => {
        forwarding.abort()
        sink.cut('the script cut the response')
      })
      return false
    },
    end: () => (isCut ? undefined : sink.end()),
  })
  return forwarding
}

function bodyOf(step: WrittenStep): Buffer {
  const { status } = step
  if (step.answer === 'page')
    return Buffer.from(`<html><head><title>${status}</title></head><body>${status}</body></html>\n`)
  const description = `The script answers with ${status}.`
  return Buffer.from(JSON.stringify({ tpe: step.tpe, errors: [{ description }], extras: {} }))
}

function headersOf({ answer, retryAfter }: WrittenStep, body: Buffer): HeaderLine[] {
  return [
    { name: 'content-type', value: answer === 'page' ? 'text/html' : 'application/json' },
    { name: 'content-length', value: String(body.length) },
    // A web page may read it, as it may the answers of the server.
    { name: 'access-control-allow-origin', value: '*' },
    { name: 'access-control-expose-headers', value: '*' },
    ...(retryAfter === undefined ? [] : [{ name: 'retry-after', value: String(retryAfter) }]),
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
