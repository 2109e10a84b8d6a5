/** The target file as it is written. */
import type { DeprecatedId, OperationId } from '../../catalogue/operations.ts'
import type { Absence } from '../report/index.ts'

/** The value of an environment variable; one that is not set is an error that names it. */
interface FromEnv {
  readonly env: string
}

/** A key in a file of its own. */
interface FromFile {
  /** Relative to the target file. */
  readonly file: string
}

/** A key that a program prints. */
export interface FromCommand {
  /** A program and its arguments; no shell. */
  readonly command: readonly string[]
  /** Asked again when its answer is older than this, in seconds; without it, once. */
  readonly ttlSeconds?: number
}

export type KeyFunction = () => string | Promise<string>

/** A key, or where it comes from; functions in modules only. */
export type KeyValue = string | FromEnv | FromFile | FromCommand | KeyFunction

export type HeaderValue = string | FromEnv

/** Header names and values. */
export type HeaderValues = Readonly<Record<string, HeaderValue>>

/** An item of `inputs` of a job (§2.5); further members are the application's own. */
export interface ApplicationInput {
  readonly id: string
  readonly value: readonly string[]
  readonly [member: string]: unknown
}

/** An application on which jobs may be created, and inputs that it accepts. */
export interface ApplicationValue {
  readonly id: string
  readonly inputs: readonly ApplicationInput[]
  /** Ids of those inputs without which a job is refused. */
  readonly requiredInputs?: readonly string[]
}

/** The id of a file, or the path of one to upload. */
export type PdfValue = string | { readonly upload: string }

export interface ResourceValues {
  readonly application?: ApplicationValue
  /** A second one. */
  readonly otherApplication?: ApplicationValue
  /** Its job stays in progress long enough for two more requests. */
  readonly slowApplication?: ApplicationValue
  /** Its job ends as failed. */
  readonly failingApplication?: ApplicationValue
  /** Id of an existing job: lets `--read-only` judge its retrieval. */
  readonly job?: string
  readonly pdfFile?: PdfValue
  /** Words that the PDF is known to hold, in their order. */
  readonly pdfText?: string
  readonly corruptedPdfFile?: PdfValue
  readonly encryptedPdfFile?: PdfValue
  readonly oversizedPdfFile?: PdfValue
  readonly file?: string
  readonly deletedFile?: string
  readonly graph?: string
}

/** A request of the target's own: `before` and `after` of a scenario, `cleanup` of what a run created, `setup` and `teardown`. */
export interface HookRequestValue {
  readonly method: string
  /** Relative to the base URL, or whole. */
  readonly url: string
  readonly headers?: HeaderValues
  /** Sent as JSON. */
  readonly body?: unknown
}

/** A request that prepares the target for a run, and what its response is kept for. */
export interface SetupRequestValue extends HookRequestValue {
  /** Name to JSON Pointer into the response: its value stands for `{name}` in `resources`, and in later requests. */
  readonly save?: Readonly<Record<string, string>>
}

/** Answers requests in the same process: for example the `fetch` of an application. */
export type FetchHandler = (request: Request) => Response | Promise<Response>

export type ContentValue = { readonly base64: string } | { readonly text: string }

/** An operation's valid request. */
export interface OperationValue {
  /** One of the paths that the interface shows for it (§4.4). */
  readonly path?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: HeaderValues
  readonly body?: unknown
  /** The file that an upload sends. */
  readonly content?: ContentValue
  readonly contentType?: string
  /** Extension included. */
  readonly filename?: string
  /** Role to JSON Pointer into `body`; `id` into the response. */
  readonly fields?: Readonly<Record<string, string>>
  /** Sent at the end of the run, once for each object that it created. */
  readonly cleanup?: readonly HookRequestValue[]
}

type OperationValues = Readonly<Partial<Record<Exclude<OperationId, DeprecatedId>, OperationValue | 'not-served'>>> & {
  readonly [id in DeprecatedId]?: OperationValue | Absence
} & {
  readonly guardrails?: 'not-served'
  readonly general?: 'not-served'
}

/** A change to the operation's valid request that brings a condition about. */
export interface ScenarioValue {
  /** Operation whose valid request is changed: for `guardrails/*` and `general/*`, and only there. */
  readonly operation?: OperationId
  readonly key?: KeyValue
  readonly headers?: HeaderValues
  /** Path parameters. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** Value that takes the place of the body. */
  readonly body?: unknown
  /** JSON Merge Patch (RFC 7396) to the body. */
  readonly merge?: unknown
  /** Bytes in place of the body. */
  readonly raw?: ContentValue & { readonly contentType?: string }
  /** Send up to that many at once, until the condition shows. */
  readonly repeat?: number
  readonly before?: readonly HookRequestValue[]
  /** Always sent. */
  readonly after?: readonly HookRequestValue[]
}

export interface Limits {
  /** Most requests under way at once. */
  readonly concurrency: number
  /** 0: no limit. */
  readonly requestsPerSecond: number
  /** Deadline of one whole exchange. */
  readonly timeoutMs: number
  /** Longest wait for a job to end. */
  readonly jobTimeoutMs: number
  /** How long what was just created may take until it can be used, in ms. */
  readonly settleMs: number
  /** Longest answer that is read, in bytes, decoded. */
  readonly maxAnswerBytes: number
  /** Most requests that generate; 0: no limit. */
  readonly maxGenerations: number
  /** `few`: on most operations one wrong key of each kind, for targets that lock accounts out. */
  readonly credentialProbes: 'all' | 'few'
}

interface KeyValues {
  /** Has every right. */
  readonly full?: KeyValue
  /** Was valid, has expired. */
  readonly expired?: KeyValue
  /** Valid, without permission: one for all operations, or one for each. */
  readonly restricted?: KeyValue | Readonly<Partial<Record<OperationId, KeyValue>>>
}

/** The server that is judged, and what the suite may use there. */
export interface TargetFile {
  readonly $schema?: string
  /** The name of the target in reports. */
  readonly name?: string
  /** http or https; may have a path; no credentials. */
  readonly baseUrl?: string
  /** Is judged in place of a base URL, in the same process; in modules only. */
  readonly fetch?: FetchHandler
  /** Sent with every request. */
  readonly headers?: HeaderValues
  /** Query members sent with every request. */
  readonly query?: HeaderValues
  /** Paths of PEM files. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  readonly keys?: KeyValues
  /** Sent once a run, before anything is judged. */
  readonly setup?: readonly SetupRequestValue[]
  /** Sent once a run, at its end, whatever happened. */
  readonly teardown?: readonly HookRequestValue[]
  readonly resources?: ResourceValues
  readonly operations?: OperationValues
  /** By requirement id. */
  readonly scenarios?: Readonly<Record<string, ScenarioValue>>
  /** Reasons, by requirement id or pattern. */
  readonly unreachable?: Readonly<Record<string, string>>
  readonly limits?: Partial<Limits>
}
