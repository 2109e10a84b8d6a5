/** The account that the keys of the target file belong to. */
export const ownAccount = 'main'

export type FileState = 'stored' | 'deleted' | 'expired'

export interface StoredFile {
  readonly id: string
  readonly account: string
  readonly name: string
  /** Media type. */
  readonly type: string
  readonly bytes: () => Uint8Array
  readonly state: FileState
  readonly createdAt: number
  /** It came with a request; the others were there when the server began. */
  readonly made?: true
}

export interface GraphFile {
  /** Whether it came with its upload or was added afterwards. */
  readonly by: 'upload' | 'addition'
  /** When it begins to count as part of the graph, in ms since the epoch. */
  readonly from: number
}

export interface Graph {
  readonly id: string
  readonly account: string
  readonly name: string
  readonly version: string
  readonly files: Map<string, GraphFile>
  readonly createdAt: number
  readonly made?: true
}

export interface ApplicationInput {
  readonly id: string
  readonly required: boolean
}

export interface Application {
  readonly id: string
  readonly account: string
  readonly name: string
  readonly inputs: readonly ApplicationInput[]
  readonly pace: 'usual' | 'slow'
  readonly fails: boolean
  readonly createdAt: number
  readonly made?: true
  /** The job that it is busy with, or its last one. */
  job?: Job
  /** The one that it had first. */
  firstJob?: Job
  /** How many jobs it has had. */
  jobs: number
  /** ms since the epoch until which it refuses jobs although it has none. */
  blockedUntil?: number
  /** From when on; at once if nothing is said. */
  blockedFrom?: number
}

export interface Job {
  readonly id: string
  readonly account: string
  readonly applicationId: string
  readonly createdAt: number
  status: 'in_progress' | 'failed' | 'completed'
  updatedAt: number
  completedAt?: number
  data?: Readonly<Record<string, string>>
  error?: string
  /** How often it has been read since it ended. */
  readings: number
  /** Whether it has been read at all. */
  read: boolean
  /** Its inputs, as JSON. */
  readonly inputs: string
  /** ms that it takes at least. */
  readonly takes: number
  /** Whether it ends as failed. */
  readonly fails: boolean
  /** How often it has been read in progress. */
  readingsInProgress: number
  /** When that was often enough for it to end, in ms since the epoch. */
  seenAt?: number
}

/** Everything that one server knows; nothing outlives it. */
export interface Store {
  readonly files: Map<string, StoredFile>
  readonly graphs: Map<string, Graph>
  readonly applications: Map<string, Application>
  readonly jobs: Map<string, Job>
}
