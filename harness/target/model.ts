import type { OperationId } from '../../catalogue/operations.ts'
import type { HeaderLine } from '../http/index.ts'
import type { Absence } from '../report/index.ts'
import type { ApplicationValue, ResourceValues } from './target-file.ts'
import type { Limits, OperationValue, ScenarioValue, TargetFile } from './target-file.ts'

/** The target as a run uses it: everything read, patterns and defaults resolved. */

export type * from './target-file.ts'

/** Source of a key: its value, or what asks the command or function that gives one, each time a key is needed. */
export type KeySource = { readonly label: string } & (
  | { readonly value: string }
  | {
      /** Throws a `UserError` if none is given. */
      ask(): Promise<string>
    }
)

/** A request of the target's own. */
export interface HookRequest {
  readonly method: string
  /** Absolute; `{id}`, or what `setup` saves, is still to be filled in. */
  readonly url: string
  readonly headers: readonly HeaderLine[]
  readonly body?: unknown
  /** On the base URL's own origin and without an Authorization of its own: the full key goes with it. */
  readonly withKey: boolean
}

/** Request that is sent before anything is judged. */
export interface SetupRequest extends HookRequest {
  /** Name to JSON Pointer into its response. */
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

export const applicationNames = [
  'application',
  'otherApplication',
  'slowApplication',
  'failingApplication',
] as const
export const pdfNames = [
  'pdfFile',
  'corruptedPdfFile',
  'encryptedPdfFile',
  'oversizedPdfFile',
] as const

type ApplicationName = (typeof applicationNames)[number]
type PdfName = (typeof pdfNames)[number]

/** The declared objects, the files to upload read. */
export type Resources = Omit<ResourceValues, ApplicationName | PdfName> & {
  readonly [name in ApplicationName]?: ApplicationResource
} & { readonly [name in PdfName]?: string | Upload }

export interface OperationBinding extends Pick<OperationValue, 'path' | 'body'> {
  readonly query: Readonly<Record<string, string>>
  readonly headers: readonly HeaderLine[]
  readonly content?: UploadContent
  /** Roles that are declared or have a default. */
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
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly headers: readonly HeaderLine[]
  /** Query members of every request, beside its own. */
  readonly query: Readonly<Record<string, string>>
  /** Contents of the PEM files. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  readonly keys: KeySources
  readonly setup: readonly SetupRequest[]
  readonly teardown: readonly HookRequest[]
  /** Names that `setup` saves stand in them as `{name}` until a run has filled them in. */
  readonly resources: Resources
  readonly operations: Readonly<Partial<Record<OperationId, OperationBinding>>>
  /** Operations and areas that are declared as not served or removed. */
  readonly absent: Readonly<Partial<Record<OperationId | 'guardrails' | 'general', Absence>>>
  /** By requirement id. */
  readonly scenarios: Readonly<Record<string, Scenario>>
  /** Why, by requirement id; patterns resolved. */
  readonly unreachable: Readonly<Record<string, string>>
  readonly limits: Limits
  /** `limits.timeoutMs` is what somebody said, not the default. */
  readonly timeoutDeclared: boolean
  readonly applicationIds: ReadonlySet<string>
  /** Every id of an object that the file names, in lower case. */
  readonly ids: ReadonlySet<string>
  /** The file with each key written as its label: what is declared, and nothing secret. */
  readonly file: TargetFile
  /** `sha256:...` of the file without keys. */
  readonly digest: string
  /** Values that must never be shown, and how they are written instead. */
  readonly secrets: readonly Secret[]
  /** Text of the file that may be shown though a key has it too. */
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
