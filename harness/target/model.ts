/** The target file as it is written, and the target that a run works with. */
import type { OperationId } from '../../spec/operations.ts'
import type { HeaderLine } from '../wire/message.ts'

// As written -----------------------------------------------------------------------------------------------------------

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

// As a run uses it: everything read, nothing but plain data, so that it can be sent to a worker -------------------------

/**
 * Where a run takes a key from. `dynamic`: a command or function, which only the thread that resolved the target can
 * ask; it is asked by that name, each time a key is needed.
 */
export type KeySource = { readonly label: string } & ({ readonly value: string } | { readonly dynamic: string })

/** A request of the target's own. */
export interface Errand {
  readonly method: string
  /** Whole; `{id}` is still to be filled in. */
  readonly url: string
  readonly headers: readonly HeaderLine[]
  readonly body?: unknown
  /** On the base URL's own origin and without an Authorization of its own: the full key goes with it. */
  readonly withKey: boolean
}

export interface Upload {
  readonly bytes: Uint8Array
  readonly filename: string
}

export interface UploadContent extends Upload {
  readonly contentType: string
}

export interface ApplicationResource extends ApplicationValue {
  readonly requiredInputs: readonly string[]
}

export interface Resources {
  readonly application?: ApplicationResource
  readonly otherApplication?: ApplicationResource
  readonly slowApplication?: ApplicationResource
  readonly failingApplication?: ApplicationResource
  readonly job?: string
  readonly pdfFile?: string | Upload
  readonly corruptedPdfFile?: string | Upload
  readonly encryptedPdfFile?: string | Upload
  readonly oversizedPdfFile?: string | Upload
  readonly file?: string
  readonly deletedFile?: string
  readonly graph?: string
}

export interface OperationBinding {
  readonly path?: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: readonly HeaderLine[]
  readonly body?: unknown
  readonly content?: UploadContent
  /** Roles that are declared or have a default. */
  readonly fields: Readonly<Record<string, string>>
  readonly cleanup: readonly Errand[]
}

export interface Scenario {
  /** Of the requirement. */
  readonly id: string
  readonly operation: OperationId
  readonly key?: KeySource
  readonly headers: readonly HeaderLine[]
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** Replaces the body. */
  readonly body?: unknown
  /** JSON Merge Patch (RFC 7396) to the body. */
  readonly merge?: unknown
  readonly raw?: { readonly bytes: Uint8Array; readonly contentType?: string }
  /** Send up to that many, concurrently. */
  readonly repeat?: number
  readonly before: readonly Errand[]
  readonly after: readonly Errand[]
}

export interface KeySources {
  readonly full?: KeySource
  readonly expired?: KeySource
  readonly restricted: Readonly<Partial<Record<OperationId, KeySource>>>
}

export interface Secret {
  readonly value: string
  readonly label: string
}

export interface Target {
  readonly name: string
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly headers: readonly HeaderLine[]
  /** Contents of the PEM files. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  readonly keys: KeySources
  readonly resources: Resources
  readonly operations: Readonly<Partial<Record<OperationId, OperationBinding>>>
  /** Operations and areas that are declared as not served or removed. */
  readonly absent: Readonly<Partial<Record<OperationId | 'guardrails' | 'general', Absence>>>
  /** By requirement id. */
  readonly scenarios: Readonly<Record<string, Scenario>>
  /** Why, by requirement id; patterns resolved. */
  readonly unreachable: Readonly<Record<string, string>>
  readonly limits: Limits
  /** Ids of the declared applications. */
  readonly applicationIds: ReadonlySet<string>
  /** Every id of an object that the file names, in lower case. */
  readonly ids: ReadonlySet<string>
  /** The file with each key written as its label: what is declared, and nothing secret. */
  readonly file: TargetFile
  /** `sha256:...` of the file without keys. */
  readonly digest: string
  /** What must never be shown, and how it is written instead. */
  readonly secrets: readonly Secret[]
  /** Text of the file that may be shown though a key has it too. */
  readonly kept: readonly string[]
}
