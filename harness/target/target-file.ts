/** TypeScript types of the target file; `schemas/target.schema.json` describes the same for JSON. */
import type { DeprecatedId, OperationId } from '../../catalogue/operations.ts'
import type { Absence } from '../report/index.ts'

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
