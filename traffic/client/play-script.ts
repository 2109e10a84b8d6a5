import type { OperationId } from '../../catalogue/operations.ts'
import type {
  ForwardedRequest,
  Forwarder,
  Forwarding,
  HeaderLine,
  ResponseSink,
} from '../../harness/http/index.ts'
import { operationAt } from '../base-url.ts'
import type { Script, Step, WrittenStep } from './script.ts'

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
  /** How many of those steps no request came for. */
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
