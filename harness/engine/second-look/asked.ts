import type { Exchange, Probe, Purpose } from '../exchange.ts'
import type { Source } from '../request.ts'
import type { Run } from '../run.ts'
import type { SendingOptions } from '../send.ts'

/** Sends the request of an exchange a single time: on a fresh connection, or on one that has just carried another request. */
export type SendAgain = (options: Pick<SendingOptions, 'fresh' | 'after'>) => Promise<Exchange>

/** The request without its fault, for one that is throttled: the two are sent in turn. */
export interface Counterpart {
  /** `none`: it is not sent, since it would create or generate something. */
  readonly state: 'granted' | 'refused' | 'none'
  valid(): Promise<Probe>
  isGranted(exchange: Exchange): boolean
}

/** A state of the target that the probe needs and its counterpart does not: left and entered again in each turn. */
export interface PassingState {
  enter(): Promise<void>
  leave(): Promise<void>
}

/** What else is known of a request that is asked for. */
export interface AskOptions extends Pick<SendingOptions, 'fresh'> {
  /** Asked for only if the request is throttled on every try. */
  readonly counterpart?: () => Promise<Counterpart>
  readonly state?: PassingState
}

/** A request that was answered, and the ways to ask for it again. */
export interface Asked extends AskOptions {
  readonly run: Run
  readonly source: Source
  readonly purpose: Purpose
  /** Once more as it was asked for: with the same patience. */
  same(): Promise<Exchange>
  readonly again: SendAgain
  /** A request of its operation, when the object that it names allows it. */
  gated(probe: Probe, purpose: Purpose, send: () => Promise<Exchange>): Promise<Exchange>
}
