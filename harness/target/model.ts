import type { OperationId, DeprecatedId } from '../../catalogue/operations.ts'
import type { HeaderLine } from '../http/index.ts'
import type { Absence } from '../report/index.ts'

/** Source of a key: its value, or a function that asks the command or function for it each time. */
export type KeySource = { readonly label: string } & (
  | { readonly value: string }
  | {
      ask(): Promise<string>
    }
)

export interface HookRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly HeaderLine[]
  readonly body?: unknown
  /** On the origin of the base URL and without an Authorization of its own: carries the full key. */
  readonly withKey: boolean
}

export interface SetupRequest extends HookRequest {
  readonly save: Readonly<Record<string, string>>
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

export const otherApplications = [
  'otherApplication',
  'slowApplication',
  'failingApplication',
] as const
export const applicationNames = ['application', ...otherApplications] as const
export const pdfNames = [
  'pdfFile',
  'corruptedPdfFile',
  'encryptedPdfFile',
  'oversizedPdfFile',
] as const

type ApplicationName = (typeof applicationNames)[number]

/** What a path names besides the declared object: another application, or what the run makes. */
export type OtherObject = (typeof otherApplications)[number] | 'created'
type PdfName = (typeof pdfNames)[number]

export type Resources = Omit<ResourceValues, ApplicationName | PdfName> & {
  readonly [name in ApplicationName]?: ApplicationResource
} & { readonly [name in PdfName]?: string | Upload }

export interface OperationBinding extends Pick<OperationValue, 'path' | 'body'> {
  readonly query: Readonly<Record<string, string>>
  readonly headers: readonly HeaderLine[]
  readonly content?: UploadContent
  readonly fields: Readonly<Record<string, string>>
  readonly cleanup: readonly HookRequest[]
}

export interface Scenario extends Pick<ScenarioValue, 'body' | 'merge' | 'repeat'> {
  readonly operation: OperationId
  readonly key?: KeySource
  readonly headers: readonly HeaderLine[]
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly raw?: { readonly bytes: Uint8Array; readonly contentType?: string }
  readonly before: readonly HookRequest[]
  readonly after: readonly HookRequest[]
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
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly headers: readonly HeaderLine[]
  readonly query: Readonly<Record<string, string>>
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  readonly keys: KeySources
  readonly setup: readonly SetupRequest[]
  readonly teardown: readonly HookRequest[]
  /** With `{name}` for what `setup` saves, until a run replaces it. */
  readonly resources: Resources
  readonly operations: Readonly<Partial<Record<OperationId, OperationBinding>>>
  readonly absent: Readonly<Partial<Record<OperationId | 'guardrails' | 'general', Absence>>>
  readonly scenarios: Readonly<Record<string, Scenario>>
  readonly unreachable: Readonly<Record<string, string>>
  readonly limits: Limits
  readonly timeoutDeclared: boolean
  readonly applicationIds: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
  /** The file with keys replaced by labels. */
  readonly file: TargetFile
  readonly digest: string
  readonly secrets: readonly Secret[]
  /** Text of the file that may be shown even if it is part of a key. */
  readonly kept: readonly string[]
}

export const defaultLimits: Limits = {
  concurrency: 8,
  requestsPerSecond: 0,
  timeoutMs: 60_000,
  jobTimeoutMs: 60_000,
  settleMs: 5000,
  maxAnswerBytes: 8_388_608,
  maxGenerations: 600,
  credentialProbes: 'all',
}

export type FetchHandler = (request: Request) => Response | Promise<Response>

interface FromEnv {
  readonly env: string
}
interface FromFile {
  readonly file: string
}
/** A key that a program prints; without `ttlSeconds` it runs once. */
export interface FromCommand {
  readonly command: readonly string[]
  readonly ttlSeconds?: number
}
export type KeyFunction = () => string | Promise<string>
export type KeyValue = string | FromEnv | FromFile | FromCommand | KeyFunction

export type HeaderValue = string | FromEnv
export type HeaderValues = Readonly<Record<string, HeaderValue>>
type Texts = Readonly<Record<string, string>>

export type ContentValue = { readonly base64: string } | { readonly text: string }

/** A request that the target file declares: `before` and `after` of a scenario, `cleanup`, `setup` and `teardown`. */
export interface HookRequestValue {
  readonly method: string
  /** Relative to `baseUrl`, or absolute. */
  readonly url: string
  readonly headers?: HeaderValues
  readonly body?: unknown
}
export interface SetupRequestValue extends HookRequestValue {
  /** Name to JSON Pointer into the response; later requests use it as `{name}`. */
  readonly save?: Texts
}

export interface ApplicationValue {
  readonly id: string
  readonly inputs: readonly {
    readonly id: string
    readonly value: readonly string[]
    readonly [member: string]: unknown
  }[]
  readonly requiredInputs?: readonly string[]
}
export type PdfValue = string | { readonly upload: string }

export interface ResourceValues {
  readonly application?: ApplicationValue
  readonly otherApplication?: ApplicationValue
  readonly slowApplication?: ApplicationValue
  readonly failingApplication?: ApplicationValue
  readonly job?: string
  readonly pdfFile?: PdfValue
  readonly pdfText?: string
  readonly corruptedPdfFile?: PdfValue
  readonly encryptedPdfFile?: PdfValue
  readonly oversizedPdfFile?: PdfValue
  readonly file?: string
  readonly deletedFile?: string
  readonly graph?: string
}

export interface OperationValue {
  readonly path?: string
  readonly query?: Texts
  readonly headers?: HeaderValues
  readonly body?: unknown
  readonly content?: ContentValue
  readonly contentType?: string
  readonly filename?: string
  readonly fields?: Texts
  readonly cleanup?: readonly HookRequestValue[]
}

/** A change to the operation's valid request that triggers a condition. */
export interface ScenarioValue {
  readonly operation?: OperationId
  readonly key?: KeyValue
  readonly headers?: HeaderValues
  readonly params?: Texts
  readonly query?: Texts
  readonly body?: unknown
  readonly merge?: unknown
  readonly raw?: ContentValue & { readonly contentType?: string }
  readonly repeat?: number
  readonly before?: readonly HookRequestValue[]
  readonly after?: readonly HookRequestValue[]
}

export interface Limits {
  readonly concurrency: number
  readonly requestsPerSecond: number
  readonly timeoutMs: number
  readonly jobTimeoutMs: number
  readonly settleMs: number
  readonly maxAnswerBytes: number
  readonly maxGenerations: number
  readonly credentialProbes: 'all' | 'few'
}

export interface TargetFile {
  readonly $schema?: string
  readonly name?: string
  readonly baseUrl?: string
  /** Judged in place of a base URL, in the same process; in modules only. */
  readonly fetch?: FetchHandler
  readonly headers?: HeaderValues
  readonly query?: HeaderValues
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  readonly keys?: {
    readonly full?: KeyValue
    readonly expired?: KeyValue
    readonly restricted?: KeyValue | Readonly<Partial<Record<OperationId, KeyValue>>>
  }
  readonly setup?: readonly SetupRequestValue[]
  readonly teardown?: readonly HookRequestValue[]
  readonly resources?: ResourceValues
  readonly operations?: {
    readonly [id in Exclude<OperationId, DeprecatedId>]?: OperationValue | 'not-served'
  } & { readonly [id in DeprecatedId]?: OperationValue | Absence } & {
    readonly [area in 'guardrails' | 'general' | '*']?: 'not-served'
  }
  readonly scenarios?: Readonly<Record<string, ScenarioValue>>
  readonly unreachable?: Texts
  readonly limits?: Partial<Limits>
}
