import type { Pairs } from '../../catalogue/pairs.ts'
import type { ExchangeRole, FailureExchange } from '../report/model.ts'
import type { Probe } from './probe.ts'
import type { NoResponse, HttpRequest } from '../http/message.ts'
import type { HttpResponse } from './response.ts'

/** Why a request is sent, and what is known of its answer beforehand. */
export interface Purpose {
  /** The requirement that it is sent for; null for a request of the suite's own. */
  readonly requirement: string | null
  /** The requirement that the request is about, if it is sent for another one: a connection that it spoils is told there. */
  readonly about?: string
  readonly role: ExchangeRole
  /** How it differs from the operation's valid request, in words that follow the request line. */
  readonly what?: string
  /** Statuses and types that the requirement expects: a 429 or 503 among them is no throttling. */
  readonly expects?: Pairs
  /**
   * Whether the answer is what the request is sent for, if that is more than `expects` says. Such a request is to be
   * granted: whatever its effect, it is sent once more if no answer came.
   */
  readonly isSuccess?: (exchange: Exchange) => boolean
  /** The suite itself made the input bad: a 5xx to it is the server's fault (§7.2). */
  readonly badInput?: boolean
  /** Sent to what is no part of the interface, to see that the target lives: no requirement of every response judges the answer. */
  readonly skipPassive?: boolean
  /**
   * Answers whose envelope and pair are not judged: unknown paths and methods. `at all`: sent after another request to see
   * what that leaves behind, so that the answer says nothing about what is asked for.
   */
  readonly skipJudging?: 'envelope' | 'at all'
}

/** A request, as the next one on its connection knows it. */
export interface PreviousRequest {
  readonly probe: Probe
  readonly purpose: Purpose
  readonly request: HttpRequest
  /** Makes it once more, with a fresh name if it creates something; absent if it cannot be sent again at will. */
  readonly again?: () => Probe | Promise<Probe>
  /** Its recorded form; set when it has ended. */
  recorded?: () => FailureExchange
}

/** Finding of asking again after a wrong answer on a connection that had been used. */
type Finding =
  | {
      /** Right on fresh connections, and wrong after a request with the full key. */
      readonly kind: 'remembers-key'
      /** How it is answered on a fresh connection, in words. */
      readonly fresh: string
    }
  | {
      readonly kind: 'answers-differ'
      /** Each answer to the request, in words, and how often it came. */
      readonly responses: readonly (readonly [answer: string, times: number])[]
    }

/** One request and what came of it. */
export interface Exchange {
  readonly probe: Probe
  readonly purpose: Purpose
  readonly response?: HttpResponse
  readonly noResponse?: NoResponse
  /** `sendWithStaleRetry` had sent it before, on a connection that the target had closed: that one may have had its effect nevertheless. */
  readonly resent?: boolean
  /** Earlier try of the request that got no answer: it may have had its effect nevertheless. */
  readonly unanswered?: Exchange
  /** No answer came on a second, fresh connection either. */
  readonly unansweredTwice?: true
  /** The request that went before on its connection; undefined on a fresh one. */
  readonly previousRequest?: PreviousRequest
  readonly finding?: Finding
  /** Still 429 or 503 after every try that patience allows. */
  readonly throttled: boolean
  /** The pause in ms that the last throttled answer asked for; undefined if too long. */
  readonly pauseMs?: number
  /** As reports show it: keys removed, bodies cut. Made when it is first asked for. */
  readonly recorded: FailureExchange
  /** `performance.now()` when the request was handed to the socket, and when its answer had been read. */
  readonly sentAt: number
  readonly endedAt: number
}
