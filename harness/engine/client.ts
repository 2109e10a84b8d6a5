import type { Recorder } from '../recording/recorder.ts'
import type { Transport } from '../http/message.ts'
import type { Pacer } from '../http/rate.ts'
import type { Ceiling } from './ceiling.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import type { Exchange } from './exchange.ts'
import type { Liveness } from './liveness.ts'
import type { Throttle } from './throttle.ts'

/** What each request of a run passes through, on its way out and back. `sendOnce` and `sendPatiently` are the ways in. */
export interface Client {
  readonly transport: Transport
  /** The transport was handed over: the target's own requests go through it as well. */
  readonly isInjected: boolean
  readonly ceiling: Ceiling
  readonly pacer: Pacer
  readonly throttle: Throttle
  readonly breaker: CircuitBreaker
  readonly liveness: Liveness
  readonly recorder: Recorder
  /** Called with every exchange that was answered. */
  readonly observers: ((exchange: Exchange) => void)[]
}
