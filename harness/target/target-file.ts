/** The target file as it is written. */
import type { OperationId } from '../../catalogue/operations.ts'

export interface FromEnv {
  readonly env: string
}

export interface FromFile {
  /** Relative to the target file. */
  readonly file: string
}

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

export type HeaderValues = Readonly<Record<string, HeaderValue>>

/** An item of `inputs` of a job (§2.5); further members are the application's own. */
export interface ApplicationInput {
  readonly id: string
  readonly value: readonly string[]
  readonly [member: string]: unknown
}

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
  readonly otherApplication?: ApplicationValue
  readonly slowApplication?: ApplicationValue
  readonly failingApplication?: ApplicationValue
  readonly job?: string
  readonly pdfFile?: PdfValue
  readonly corruptedPdfFile?: PdfValue
  readonly encryptedPdfFile?: PdfValue
  readonly oversizedPdfFile?: PdfValue
  readonly file?: string
  readonly deletedFile?: string
  readonly graph?: string
}

/** A request of the target's own: `before` and `after` of a scenario, `cleanup` of what a run created. */
export interface ErrandValue {
  readonly method: string
  /** Relative to the base URL, or whole. */
  readonly url: string
  readonly headers?: HeaderValues
  /** Sent as JSON. */
  readonly body?: unknown
}

export type ContentValue = { readonly base64: string } | { readonly text: string }

/** An operation's valid request. */
export interface OperationValue {
  /** One of the paths that the interface shows for it (§4.4). */
  readonly path?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: HeaderValues
  readonly body?: unknown
  readonly content?: ContentValue
  readonly contentType?: string
  readonly filename?: string
  /** Role to JSON Pointer into `body`; `id` into the response. */
  readonly fields?: Readonly<Record<string, string>>
  readonly cleanup?: readonly ErrandValue[]
}

export type Absence = 'not-served' | 'removed'

export type OperationValues = Readonly<Partial<Record<OperationId, OperationValue | Absence>>> & {
  readonly guardrails?: 'not-served'
  readonly general?: 'not-served'
}

export interface ScenarioValue {
  readonly operation?: OperationId
  readonly key?: KeyValue
  readonly headers?: HeaderValues
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly merge?: unknown
  readonly raw?: ContentValue & { readonly contentType?: string }
  readonly repeat?: number
  readonly before?: readonly ErrandValue[]
  readonly after?: readonly ErrandValue[]
}

export interface Limits {
  /** Most requests under way at once. */
  readonly concurrency: number
  /** 0: no limit. */
  readonly requestsPerSecond: number
  /** Of one whole exchange. */
  readonly timeoutMs: number
  /** Longest wait for a job to end. */
  readonly jobTimeoutMs: number
  /** Most requests that generate; 0: no limit. */
  readonly maxGenerations: number
}

export interface KeyValues {
  readonly full?: KeyValue
  readonly expired?: KeyValue
  readonly restricted?: KeyValue | Readonly<Partial<Record<OperationId, KeyValue>>>
}

export interface TargetFile {
  readonly $schema?: string
  readonly name?: string
  readonly baseUrl?: string
  readonly headers?: HeaderValues
  /** Paths of PEM files. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  readonly keys?: KeyValues
  readonly resources?: ResourceValues
  readonly operations?: OperationValues
  /** By requirement id. */
  readonly scenarios?: Readonly<Record<string, ScenarioValue>>
  /** Reasons, by requirement id or pattern. */
  readonly unreachable?: Readonly<Record<string, string>>
  readonly limits?: Partial<Limits>
}
