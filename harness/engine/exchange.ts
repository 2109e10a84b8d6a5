import type { ExchangeRole, FailureExchange } from '../report/model.ts'
import type { Pairs } from './pairs.ts'
import type { Probe } from './probe.ts'
import type { NoAnswer } from '../http/message.ts'
import type { Answer } from './answer.ts'

/** Why a request is sent, and what is known of its answer beforehand. */
export interface Purpose {
  /** The requirement that it is sent for; null for the suite's own errands. */
  readonly requirement: string | null
  readonly role: ExchangeRole
  /** Statuses and types that the requirement expects: a 429 or 503 among them is no throttling. */
  readonly expects?: Pairs
  /** The suite itself made the input bad: a 5xx to it is the server's fault (§7.2). */
  readonly badInput?: boolean
  /** Sent to what is no part of the target's interface, to see that it lives or that it is gone: no row of every response judges the answer. */
  readonly unseen?: boolean
  /** Answers whose envelope and pair are not judged: unknown paths and methods. */
  readonly unjudged?: boolean
}

/** One request and what came of it. */
export interface Exchange {
  readonly probe: Probe
  readonly purpose: Purpose
  readonly answer?: Answer
  readonly noAnswer?: NoAnswer
  /** `sendSurely` had sent it before, on a connection that the target had closed: that one may have had its effect all the same. */
  readonly resent?: boolean
  /** Still 429 or 503 after every try that patience allows. */
  readonly throttled: boolean
  /** The pause in ms that the last throttled answer asked for; undefined where too long. */
  readonly pauseMs?: number
  /** As it stands in reports: keys removed, bodies cut. Made when it is first asked for. */
  readonly recorded: FailureExchange
  /** `performance.now()` when the request was handed to the socket, and when its answer had been read. */
  readonly sentAt: number
  readonly endedAt: number
}
