/** What is kept of an exchange: keys removed, bodies cut. */

/** Headers by name; several values of one name are joined with `, `. */
export type RecordedHeaders = Record<string, string>

/** A body, keys removed. `body` is text; bytes that are not UTF-8 are base64, with `bodyEncoding`. */
export interface RecordedBody {
  body: string
  bodyEncoding?: 'base64'
  /** Bytes of the whole body, and its SHA-256 in hex, if `body` was cut. */
  bodyLength?: number
  bodySha256?: string
}

/** What was sent, keys removed. */
export interface RecordedRequest extends RecordedBody {
  method: string
  url: string
  headers: RecordedHeaders
}

/** What came back, keys removed, decoded. */
export interface RecordedResponse extends RecordedBody {
  status: number
  headers: RecordedHeaders
}

export interface FailureExchange {
  request: RecordedRequest
  /** Absent if no answer came. */
  response?: RecordedResponse
  curl: string
}

/** Why an exchange was sent. */
export type ExchangeRole = 'probe' | 'control' | 'poll' | 'setup' | 'cleanup' | 'liveness'

/** One line of the run's exchange log (NDJSON), from which HAR and HTML are made. */
export interface RecordedExchange extends FailureExchange {
  /** Order in which the exchanges ended, from 0. */
  n: number
  /** The requirement that sent it; null for a request of the suite's own (liveness, awaiting jobs, clean-up). */
  requirement: string | null
  operation: string | null
  role: ExchangeRole
  startedAt: string
  durationMs: number
  /** In words, if no answer came. */
  error?: string
  /** `1.1` */
  httpVersion?: string
}
