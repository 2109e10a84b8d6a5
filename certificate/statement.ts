import type { Counts, Depth, Report, TpeMode, Verdict } from '../harness/report/model.ts'

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

/** An operation that the target file declares as not served. */
export interface NotServed {
  operation: string
  /** What one request with the full key got, a status or words; null if it was not asked. */
  answered: string | null
}

/** How each operation of the interface was judged, by name, in the order of the interface; each in one list. */
export interface Operations {
  judged: string[]
  notServed: NotServed[]
  removed: string[]
  notExercised: string[]
}

/** How the run was made: all that can make it less than a whole one. */
export interface RunFacts {
  startedAt: string
  durationMs: number
  seed: number
  runs: number
  requests: number
  tpe: TpeMode
  strict: boolean
  readOnly: boolean
  only: string[]
  skip: string[]
  shard: string | null
  /** Whether failures were expected by a baseline. */
  baseline: boolean
  insecure: boolean
  /** An authority of the target file was trusted. */
  ca: boolean
  /** Host and port of the proxy that stood between. */
  proxy: string | null
  /** Answers that were cut off or reset, and asked for again. */
  retried: number
  interrupted: boolean
  depth: Depth
  credentialProbes: 'all' | 'few'
}

/** What a certificate says. Times are RFC 3339 in UTC, durations ms. */
export interface Predicate {
  /** The version that judged; the digest is of the installation that signed. */
  suite: { name: string; version: string; digest: Digest }
  spec: { version: string; digest: Digest }
  requirements: { count: number; digest: Digest }
  /** Of the target file without keys, as canonical JSON. */
  targetFile: { digest: Digest }
  run: RunFacts
  verdict: Verdict
  verdicts: Report['verdicts']
  summary: Report['summary']
  operations: Operations
  coverage: Coverage[]
  notApplicable: Excluded[]
  notExercised: Excluded[]
  failed: string[]
  /** Why it is not the certificate of a whole, conformant run; empty if it is. */
  partial: string[]
  issuedAt: string
  expiresAt: string
  /** Of the first signature. SPKI, PEM: it is inside so that the signature covers it. */
  publicKey: string
}

export interface NamedDigest {
  name: string
  digest: Digest
}

/** An in-toto Statement v1: the target, the report that the claims were taken from, and its exchanges if they were given. */
export interface Statement {
  _type: typeof STATEMENT_TYPE
  subject: [
    { name: string; uri: string; digest: Digest },
    { name: 'conformance-report'; digest: Digest },
    ...NamedDigest[],
  ]
  predicateType: typeof PREDICATE_TYPE
  predicate: Predicate
}
