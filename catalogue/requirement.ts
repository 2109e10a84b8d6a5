import type { OperationId } from './operations.ts'

/** `must`: a failed one makes a target non-conformant. `should`: reported, decides only under `--strict`. */
export type Level = 'must' | 'should'

/** A JSON Pointer into the target file, or several of which one suffices. */
export type Need = string | readonly string[]

/** What a conforming target does when it answers the requirement's own requests. */
export type Effect = 'none' | 'generates' | 'creates'

/** `envelope`, `guardrails` and `general` are not operations: their rows speak of every response, or of a scenario's operation. */
export type Area = OperationId | 'envelope' | 'guardrails' | 'general'

/** One sentence of the interface that can be judged from outside. */
export interface Requirement {
  /** `<operation>/<status>-<condition>`; stable: never renamed, never reused. */
  readonly id: string
  readonly operation: Area
  readonly level: Level
  /** Sections of the spec, comma separated. */
  readonly section: string
  /** What the spec asks for, in our own words; one sentence. */
  readonly statement: string
  /** What the target file must declare: all entries; of an inner array, any one. */
  readonly needs: readonly Need[]
  readonly effect: Effect
}
