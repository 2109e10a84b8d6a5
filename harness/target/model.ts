import type { OperationId } from '../../catalogue/operations.ts'
import type { HeaderLine } from '../http/index.ts'
import type { Absence } from '../report/index.ts'
import type {
  ApplicationValue,
  ResourceValues,
  Limits,
  OperationValue,
  ScenarioValue,
  TargetFile,
} from './target-file.ts'

/** The target as a run uses it: files read, patterns and defaults resolved. */

export type * from './target-file.ts'

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
