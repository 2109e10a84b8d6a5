/**
 * The result model: what a run learned, and the one form that every renderer reads.
 * Its JSON form is `conformance-report/1`; its schema is made of `report-schema.ts`.
 */
import type { RequirementId } from '../../catalogue/catalogue.ts'
import type { Level } from '../../catalogue/requirement.ts'
import type { FailureExchange, RecordedRequest } from '../recording/index.ts'

export type {
  ExchangeRole,
  FailureExchange,
  RecordedBody,
  RecordedExchange,
  RecordedHeaders,
  RecordedRequest,
  RecordedResponse,
} from '../recording/index.ts'

export type Outcome = 'passed' | 'failed' | 'not-exercised' | 'not-applicable'
export type Verdict = 'conformant' | 'passing' | 'non-conformant' | 'not-judged'
/** Code names of §7.2 that satisfy an expectation: those of the pairs, or any of the status's row. */
export type TpeMode = 'exact' | 'family'

/** States in which a request is wrong, and which that request does not bring about by itself. */
export const takesStates = [
  'idle-application', // with no job in progress, after those that the run made before
  'job-in-progress', // of the same application
  'job-elsewhere', // in progress on another application
  'job-before', // of the same application, and ended
  'job-of-run', // read as it was in the run, beside its other jobs
  'endless-job', // in progress for longer than it may be
  'refusal-before', // a request that was refused
  'requests-at-once', // sent at the same moment
  'more-requests', // than the target takes: it asked for patience
  'object-of-run', // made by another request of the run
  'chance', // the answers to one request differ
  'earlier-requests', // whatever was sent before: by itself it was answered otherwise when the run ended
] as const
export type TakesState = (typeof takesStates)[number]

/** Error responses of one kind that were pages in place of envelopes. */
export interface PageCount {
  status: number
  title?: string | undefined
  /** The `Server` header. */
  server?: string | undefined
  times: number
}

/** A request that was granted, and by what status. */
interface GrantedRequest {
  request: RecordedRequest
  status: number
}

export interface Failure {
  /** The three lines in one: what was sent. */
  message: string
  expected: string
  actual: string
  /** True if the answer satisfies `family` matching and only the exact name is wrong. */
  familyOnly: boolean
  seed: number
  /** fast-check's path to the counterexample; absent for enumerated cases. */
  path?: string
  /** JSON Pointer to the member of the response that is wrong or missing, if it is one. */
  at?: string
  /** The request without the fault, which was granted. */
  control?: GrantedRequest
  /** How `expected` ends: the sections that it cites. */
  cites?: string
  /** The request had to be refused. */
  toRefuse?: true
  /** The statuses and the names of errors of which `expected` speaks, in its order. */
  asked?: string[]
  /** The status is right, but the answer is no error envelope: all such failures are one cause. */
  noEnvelope?: true
  /**
   * How the target treats connections is the fault: right alone, and wrong on a reused one, or as if the key that was shown on it
   * went for all that follows.
   */
  connection?: 'reused' | 'remembers-key'
  /** The state that the request needs: its curl line alone may show something else. */
  takes?: TakesState
  /** The response to the request by itself when the run ended, in words, if that differs. */
  later?: string
  /** The requirements that `rerun` selects. */
  rerunIds?: string[]
  /** The command that shows this failure again, without a key. */
  rerun: string
  exchange?: FailureExchange
}

/** Options that leave requirements out, and the end of the run. */
export const leftOutBy = [
  '--only',
  '--skip',
  '--read-only',
  '--shard',
  '--bail',
  '--max-failures',
  'interrupted',
] as const
export type LeftOutBy = (typeof leftOutBy)[number]

/** How a target file says that there is no such operation. */
export type Absence = 'not-served' | 'removed'

/** The kind of reason for which a requirement was not judged, and its facts. */
export type Why =
  | { kind: 'left-out'; by: LeftOutBy }
  /** The names of which one will do, for each need (`resources.pdfFile`, `scenarios.general/410-gone`), and part of a target file that declares the first ones. */
  | { kind: 'undeclared'; needs: string[][]; example: string }
  /** The target file declares the operation so, or all those by which alone the requirement is seen. */
  | { kind: 'absent'; absence: Absence; seenBy?: string[] }
  /** Declared out of reach, with the note of the target file. */
  | { kind: 'unreachable'; note: string }
  /** The suite itself failed. */
  | { kind: 'mistake' }
  /** The target cannot be judged at all: the reason says so by itself. */
  | { kind: 'target' }

export interface RequirementResult<Id extends string = string> {
  id: Id
  operation: string
  level: Level
  section: string
  statement: string
  outcome: Outcome
  /** Given for not-exercised and not-applicable. */
  reason?: string
  /** The kind of reason, if it is one that something depends on. */
  why?: Why
  control: 'granted' | 'refused' | 'none'
  /** Requests judged. */
  cases: number
  /** The time of its own exchanges, one after the other: no waiting for its turn, and none for what it shares with others. */
  durationMs: number
  failures: Failure[]
}

/** A result of a run of this version: its id is one of the catalogue's. */
export type CatalogueResult = RequirementResult<RequirementId>

export interface Created {
  operation: string
  id: string
  name?: string
}

/** An operation that the target file declares as not served, and what one request with the full key was answered. */
export interface NotServed {
  operation: string
  /** A status, or in words why there was none. */
  answered: string
}

export interface Counts {
  passed: number
  failed: number
  notExercised: number
  notApplicable: number
}

/** How much is sent for a requirement: every case, or one of each kind. */
export type Depth = 'full' | 'quick'

/** How the command ended, and why. */
export interface Exit {
  code: 0 | 1 | 2 | 3
  /** One clause for a reader: `2 musts failed that the baseline does not expect`. */
  because: string
}

export interface BaselineSummary {
  file: string
  /** Failed as expected. */
  expected: string[]
  /** Entries that decide the exit code: it passed, is unknown, is past `until`, or fails otherwise than recorded. */
  stale: { id: string; why: string }[]
  /** Expected, but not exercised in this run: named only. */
  notExercised: string[]
}

/** @typeParam Id the ids that it may have: those of a run are the catalogue's, those of a file may be of another version */
export interface Report<Id extends string = string> {
  format: 'conformance-report/1'
  suite: {
    name: string
    version: string
    specVersion: string
    specDigest: string
    requirementsDigest: string
    /** Address of the site that has a page for each requirement; absent if the package names none. */
    site?: string
  }
  target: { name: string; baseUrl: string; digest: string }
  run: {
    startedAt: string
    durationMs: number
    seed: number
    runs: number
    nonce: string
    requests: number
    throttled: number
    /** Answers that were cut off or reset, and asked for again; absent in reports of older versions. */
    retried?: number
    /** Requests a second that the target takes, by what was seen; absent if it never throttled. */
    suggestedRate?: number
    concurrency: number
    strict: boolean
    readOnly: boolean
    tpe: TpeMode
    only: string[]
    skip: string[]
    shard: string | null
    baseline: BaselineSummary | null
    insecure: boolean
    /** An authority of the target file (`tls.ca`) was trusted besides those of the system. */
    ca: boolean
    /** Host and port of the proxy through which the target was asked; null if there was none. */
    proxy: string | null
    interrupted: boolean
    /** `quick`: one case of each kind a requirement. */
    depth: Depth
    /** `few`: for a target that locks accounts out, not every form of a wrong key was sent to every operation. */
    credentialProbes: 'all' | 'few'
    /** Absent if no error response was a page. */
    pages?: PageCount[]
    notServed: NotServed[]
    created: Created[]
  }
  exit: Exit
  verdict: Verdict
  verdicts: { exact: Verdict; family: Verdict }
  summary: { must: Counts; should: Counts }
  requirements: RequirementResult<Id>[]
}

/** A report before it is decided how the command ends. */
export type Undecided = Omit<Report, 'exit'>
