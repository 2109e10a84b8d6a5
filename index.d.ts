/** An operation of the interface (§4). */
export type OperationId =
  | 'pdf.parse'
  | 'jobs.create'
  | 'jobs.retrieve'
  | 'completion.create'
  | 'chat.create'
  | 'files.upload'
  | 'files.list'
  | 'files.retrieve'
  | 'graphs.create'
  | 'graphs.add-file'
  | 'graphs.query'
  | 'applications.create'
  | 'ai-detect.run'
  | 'web-search.run'
  | 'medical.comprehend'
  | 'translate.run'
  | 'vision.analyze'

/** The value of an environment variable; one that is not set is an error that names it. */
export interface FromEnv {
  readonly env: string
}

/** A key, or where it comes from: a variable, a file (relative to the target file), a program without a shell, a function. */
export type Key =
  | string
  | FromEnv
  | { readonly file: string }
  /** `ttlSeconds`: the program is asked again when its answer is older than this; without it, once. */
  | { readonly command: readonly string[]; readonly ttlSeconds?: number }
  | (() => string | Promise<string>)

/** Header names and values. */
export type Headers = Readonly<Record<string, string | FromEnv>>

/** An application on which jobs may be created, and inputs that it accepts. */
export interface Application {
  readonly id: string
  readonly inputs: readonly {
    readonly id: string
    readonly value: readonly string[]
    readonly [member: string]: unknown
  }[]
  /** Ids of the inputs without which a job is refused. */
  readonly requiredInputs?: readonly string[]
}

/** The id of a file, or the path of one to upload, relative to the target file. */
export type Pdf = string | { readonly upload: string }

/** A request of the target's own; it carries the full key only on the base URL's origin and where it sets no Authorization. */
export interface OwnRequest {
  readonly method: string
  /** Relative to `baseUrl`, or whole. In `cleanup`, `{id}` is filled in. */
  readonly url: string
  readonly headers?: Headers
  /** Sent as JSON. */
  readonly body?: unknown
}

/** A request of the operation that is known to succeed, and what its members mean. */
export interface Operation {
  /** One of the paths that the interface shows for it. */
  readonly path?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Headers
  /** Sent as JSON. */
  readonly body?: unknown
  /** The file that `files.upload` sends. */
  readonly content?: { readonly text: string } | { readonly base64: string }
  readonly contentType?: string
  readonly filename?: string
  /** Role to JSON Pointer into `body`; `id` points into the response of a creation. */
  readonly fields?: Readonly<Record<string, string>>
  /** Sent at the end of the run, once for each object that it created. */
  readonly cleanup?: readonly OwnRequest[]
}

/** A change to the operation's valid request that brings a condition about. */
export interface Scenario {
  /** Whose valid request is changed: for `guardrails/*` and `general/*`, and only there. */
  readonly operation?: OperationId
  readonly key?: Key
  readonly headers?: Headers
  /** Path parameters. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** In place of the body. */
  readonly body?: unknown
  /** JSON Merge Patch (RFC 7396) to the body. */
  readonly merge?: unknown
  /** Bytes in place of the body. */
  readonly raw?: ({ readonly text: string } | { readonly base64: string }) & { readonly contentType?: string }
  /** Send up to that many at once, until the condition shows. */
  readonly repeat?: number
  readonly before?: readonly OwnRequest[]
  /** Always sent. */
  readonly after?: readonly OwnRequest[]
}

/** Operations whose removal the interface announces (§9). */
type Removable = 'pdf.parse' | 'medical.comprehend'

/** What is judged, and what the suite may use there. */
export interface Target {
  readonly $schema?: string
  /** What the reports call the target. */
  readonly name?: string
  /** http or https; may have a path; no credentials. */
  readonly baseUrl?: string
  /** Sent with every request. */
  readonly headers?: Headers
  /** Paths of PEM files, relative to the target file. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  readonly keys?: {
    /** Has every right. */
    readonly full?: Key
    /** Was valid, has expired. */
    readonly expired?: Key
    /** Valid, without permission: one for all operations, or one for each. */
    readonly restricted?: Key | Readonly<Partial<Record<OperationId, Key>>>
  }
  readonly resources?: {
    readonly application?: Application
    /** A second one. */
    readonly otherApplication?: Application
    /** Its job stays in progress long enough for two more requests. */
    readonly slowApplication?: Application
    /** Its job ends as failed. */
    readonly failingApplication?: Application
    /** Id of an existing job: lets `--read-only` judge its retrieval. */
    readonly job?: string
    readonly pdfFile?: Pdf
    readonly corruptedPdfFile?: Pdf
    readonly encryptedPdfFile?: Pdf
    readonly oversizedPdfFile?: Pdf
    readonly file?: string
    readonly deletedFile?: string
    readonly graph?: string
  }
  readonly operations?: Readonly<Partial<Record<Exclude<OperationId, Removable>, Operation | 'not-served'>>> & {
    readonly [id in Removable]?: Operation | 'not-served' | 'removed'
  } & {
    readonly guardrails?: 'not-served'
    readonly general?: 'not-served'
  }
  /** By requirement id (`conform list`): how to bring about a condition that no client can cause by itself. */
  readonly scenarios?: Readonly<Record<string, Scenario>>
  /** By requirement id or pattern: why it cannot be brought about here. */
  readonly unreachable?: Readonly<Record<string, string>>
  readonly limits?: {
    /** Most requests open at once; default 8. */
    readonly concurrency?: number
    /** Default 0: no limit. */
    readonly requestsPerSecond?: number
    /** For one whole exchange; default 60000. */
    readonly timeoutMs?: number
    /** Longest wait for a job; default 60000. */
    readonly jobTimeoutMs?: number
    /** Most requests that make the target generate; default 200. */
    readonly maxGenerations?: number
  }
}

/** Types the default export of a target module. */
export declare function defineTarget(target: Target): Target
