import type { OperationId, DeprecatedId } from '../../catalogue/operations.ts'
import type { HeaderLine } from '../http/index.ts'
import type { Absence } from '../report/index.ts'

type Texts = Readonly<Record<string, string>>

// The target file; `schemas/target.schema.json` describes the same for JSON.

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
type PdfValue = string | { readonly upload: string }

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
type PdfName = (typeof pdfNames)[number]
type TextName = 'job' | 'pdfText' | 'file' | 'deletedFile' | 'graph'
type ResourcesOf<Application, Pdf> = Readonly<
  Partial<Record<ApplicationName, Application> & Record<PdfName, Pdf> & Record<TextName, string>>
>

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

export const defaultLimits = {
  concurrency: 8,
  requestsPerSecond: 0,
  timeoutMs: 60_000,
  jobTimeoutMs: 60_000,
  settleMs: 5000,
  maxAnswerBytes: 8_388_608,
  maxGenerations: 600,
  credentialProbes: 'all' as 'all' | 'few',
}
export type Limits = Readonly<typeof defaultLimits>

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
  readonly resources?: ResourcesOf<ApplicationValue, PdfValue>
  readonly operations?: {
    readonly [id in Exclude<OperationId, DeprecatedId>]?: OperationValue | 'not-served'
  } & { readonly [id in DeprecatedId]?: OperationValue | Absence } & {
    readonly [area in 'guardrails' | 'general' | '*']?: 'not-served'
  }
  readonly scenarios?: Readonly<Record<string, ScenarioValue>>
  readonly unreachable?: Texts
  readonly limits?: Partial<Limits>
}

// The target as a run uses it: files read, patterns and defaults resolved.

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
  /** Of `setup`. */
  readonly save?: Texts
}

export interface Upload {
  readonly bytes: Uint8Array
  readonly filename: string
}

export interface UploadContent extends Upload {
  readonly contentType: string
}

/** What a path names besides the declared object: another application, or what the run makes. */
export type OtherObject = (typeof otherApplications)[number] | 'created'
export type Resources = ResourcesOf<ApplicationValue, string | Upload>

export interface OperationBinding extends Pick<OperationValue, 'path' | 'body'> {
  readonly query: Texts
  readonly headers: readonly HeaderLine[]
  readonly content?: UploadContent
  readonly fields: Readonly<Record<string, string | undefined>>
  readonly cleanup: readonly HookRequest[]
}

export interface Scenario extends Pick<ScenarioValue, 'body' | 'merge' | 'repeat'> {
  readonly operation: OperationId
  readonly key?: KeySource
  readonly headers: readonly HeaderLine[]
  readonly params: Texts
  readonly query: Texts
  readonly raw?: { readonly bytes: Uint8Array; readonly contentType?: string }
  readonly before: readonly HookRequest[]
  readonly after: readonly HookRequest[]
  /** It changes more than its own request: it is judged while nothing else is sent. */
  readonly isExclusive: boolean
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
  readonly query: Texts
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  readonly keys: KeySources
  readonly setup: readonly HookRequest[]
  readonly teardown: readonly HookRequest[]
  /** With `{name}` for what `setup` saves, until a run replaces it. */
  readonly resources: Resources
  readonly operations: Readonly<Partial<Record<OperationId, OperationBinding>>>
  readonly absent: Readonly<Partial<Record<OperationId | 'guardrails' | 'general', Absence>>>
  readonly scenarios: Readonly<Record<string, Scenario>>
  readonly unreachable: Texts
  readonly limits: Limits
  readonly timeoutDeclared: boolean
  readonly ids: ReadonlySet<string>
  /** The file with keys replaced by labels. */
  readonly file: TargetFile
  readonly digest: string
  readonly secrets: readonly Secret[]
  /** Text of the file that may be shown even if it is part of a key. */
  readonly kept: readonly string[]
}
