import type { Counts, Report, TpeMode, Verdict } from '../harness/report/model.ts'

/** The media type of the DSSE payload, and the in-toto statement it holds. */
export const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'
/** What the predicate means; it names this form and no address that anybody has to fetch. */
export const PREDICATE_TYPE = 'https://github.com/ai-content-conformance/certificate/v1'

/** SHA-256 in hex, as in-toto writes digests. */
export interface Digest {
  sha256: string
}

/** A requirement that the certificate does not vouch for, and why. */
export interface Excluded {
  id: string
  reason: string
}

export interface Coverage extends Counts {
  operation: string
  /** Requests judged. */
  cases: number
}

/** What a certificate says. Times are RFC 3339 in UTC, durations ms. */
export interface Predicate {
  suite: { name: string; version: string; digest: Digest }
  spec: { version: string; digest: Digest }
  requirements: { count: number; digest: Digest }
  /** Of the target file without keys, as canonical JSON. */
  targetFile: { digest: Digest }
  run: {
    startedAt: string
    durationMs: number
    seed: number
    runs: number
    requests: number
    tpe: TpeMode
    strict: boolean
  }
  verdict: Verdict
  verdicts: Report['verdicts']
  summary: Report['summary']
  coverage: Coverage[]
  notApplicable: Excluded[]
  notExercised: Excluded[]
  failed: string[]
  /** Why it is not the certificate of a whole, conformant run; empty where it is. */
  partial: string[]
  issuedAt: string
  expiresAt: string
  /** SPKI, PEM: it is inside so that the signature covers it. */
  publicKey: string
}

/** An in-toto Statement v1: the target, and the report that the claims were taken from. */
export interface Statement {
  _type: typeof STATEMENT_TYPE
  subject: [{ name: string; uri: string; digest: Digest }, { name: 'conformance-report'; digest: Digest }]
  predicateType: typeof PREDICATE_TYPE
  predicate: Predicate
}
