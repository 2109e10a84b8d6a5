import type { SendOptions } from './message.ts'

/** How often the deadlines of the exchanges under way are looked at, in ms. */
const lookMs = 20
/**
 * Time between two looks that counts, in ms. This process looks at its sockets once from one to the next: of the time in which it
 * stood still, on a busy machine, nothing more is counted, since an answer may lie there.
 */
const maxCountedMs = 2 * lookMs

/** One exchange under way, and how it is ended before its answer is whole. */
export interface Ending extends Pick<SendOptions, 'timeoutMs' | 'signal'> {
  /** Why it has to end; undefined as long as it may go on. */
  cause?: 'deadline' | 'interrupt'
  /** Drops what the exchange waits for at the moment. */
  drop?: (() => void) | undefined
}

/** The exchanges under way: each ends at its deadline, when its own signal aborts, or when all are ended. */
export function createUnderWay() {
  /** Deadlines, on the clock of this process's own looks. */
  const endings = new Map<Ending, number>()
  let isOver = false
  let counted = 0
  let lookedAt = 0
  let timer: NodeJS.Timeout | undefined
  const clock = (): number => counted + Math.min(performance.now() - lookedAt, maxCountedMs)
  const end = (ending: Ending, cause: Ending['cause']): void => {
    if (ending.cause !== undefined) return
    ending.cause = cause
    ending.drop?.()
  }
  const look = (): void => {
    counted = clock()
    lookedAt = performance.now()
    for (const [ending, deadline] of endings) if (deadline <= counted) end(ending, 'deadline')
    if (endings.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  const endAllOf = (signal: AbortSignal): void => {
    for (const ending of endings.keys()) if (ending.signal === signal) end(ending, 'interrupt')
  }
  return {
    begin({ timeoutMs, signal }: SendOptions): Ending {
      const ending: Ending = { timeoutMs, signal, drop: undefined }
      if (timer === undefined) lookedAt = performance.now()
      timer ??= setInterval(look, lookMs)
      endings.set(ending, clock() + timeoutMs)
      if (signal) onAbort(signal, endAllOf)
      if (signal?.aborted || isOver) end(ending, 'interrupt')
      return ending
    },
    /** The exchange has ended by itself. */
    settle: (ending: Ending): void => void endings.delete(ending),
    /** Ends every exchange under way, and each one that begins from now on. */
    endAll(): void {
      isOver = true
      for (const ending of endings.keys()) end(ending, 'interrupt')
    },
  }
}

const callsOf = new WeakMap<AbortSignal, Set<(signal: AbortSignal) => void>>()

/**
 * Calls when the signal aborts; once, however often it was asked for. One listener of the signal serves all: a run has one
 * signal and thousands of waits on it, and a signal goes through the list of its listeners for each one that it takes.
 */
export function onAbort(signal: AbortSignal, call: (signal: AbortSignal) => void): void {
  let calls = callsOf.get(signal)
  if (calls === undefined) {
    const all = (calls = new Set())
    callsOf.set(signal, all)
    signal.addEventListener('abort', () => all.forEach((each) => each(signal)), { once: true })
  }
  calls.add(call)
}
