import type { Send } from '../../harness/engine/run.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'

/** One reading of a job: `status` is undefined if the answer was no job. */
export interface Reading {
  readonly exchange: Exchange
  readonly status: string | undefined
  /** The job object; undefined if the answer was not 200 with a JSON body. */
  readonly job: unknown
}

/** A job of this run, from its creation on. */
export interface Job {
  readonly id: string
  readonly application: string
  /** The exchange that created it. */
  readonly creation: Exchange
  readonly createdAtMs: number
  /** Every reading of it, in order. */
  readonly readings: Reading[]
}

/** All jobs of a run, what was read of them, and the waiting for their end. */
export interface JobTracker {
  readonly all: readonly Job[]
  /** Every granted creation, those that named no usable id among them. */
  readonly creations: readonly Exchange[]
  /** Creations that broke the server. */
  readonly broken: Exchange[]
  /** Notes the job that a granted creation made; undefined if the answer names no id. */
  track(creation: Exchange, application: string): Job | undefined
  /** Reads a job. */
  read(job: Job, requirement: string | null): Promise<Reading>
  /** Waits until a reading shows that the job has ended, at most until `deadline` (`performance.now()`). False if none shows it. */
  awaitEnd(job: Job, deadline: number): Promise<boolean>
}

/** What a request at a gate is. */
interface GateTurn {
  /** It may start a job: nothing else goes to the application meanwhile. */
  readonly exclusive: boolean
  /** It is sent to get a 409: a 409 is no reason to wait. */
  readonly expects409: boolean
}

/**
 * The gate of one application: while it has a job in progress, only what a 409 row sends itself goes through.
 * Refusals go through together, creations alone.
 */
export interface Gate {
  readonly application: string
  /** Some request to the application was answered 409 in this run. */
  conflictSeen: boolean
  /** One wait for it outlasted `jobTimeoutMs`: it is not waited for again. */
  timedOut: boolean
  /** A request was given up, as the application answered 409 again and again with no job of this run in progress. */
  gaveUp: boolean
  /**
   * When the last creation got no answer (`performance.now()`), until a later one is granted: it may have made a job that nobody
   * knows of.
   */
  lostAt: number | undefined
  /** Sends through the gate once the application is idle; if it is answered 409 unexpectedly, the gate waits and sends again. */
  sendWhenIdle(turn: GateTurn, send: Send): Promise<Exchange>
  /** Has the idle application to itself while `action` lasts; what it sends goes past the gate. */
  withExclusive<T>(action: () => Promise<T>): Promise<T>
  /** Records what a creation did: its job, if it made one. */
  record(exchange: Exchange): Job | undefined
}

export interface Gates {
  of(application: string): Gate
}
