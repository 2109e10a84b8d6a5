import type { Exchange } from '../../harness/engine/exchange.ts'

/** What a story of several looks learned about one requirement. */
export interface Finding {
  /** Answers that were looked at. */
  cases: number
  /** The state was there and the answer was right. */
  held: boolean
  /** The answer was wrong, and a later reading proves that the state was there. */
  failure?: { exchange: Exchange; expected: string; what: string; actual?: string }
  /** Why the last look proved nothing. */
  unseen: string
}

export function newFinding(unseen: string): Finding {
  return { cases: 0, held: false, unseen }
}

export function isSettled(finding: Finding): boolean {
  return finding.held || finding.failure !== undefined
}

/** What the 409 rows learn from one story on one application, whose jobs they share. */
export interface ConflictFindings {
  readonly inProgress: Finding & { second?: Exchange; throttled: number }
  readonly released: Finding
  readonly perApplication: Finding
  readonly atomic: Finding
  /** Some creation on the application was answered 409 in this run. */
  conflictSeen: boolean
  /** A creation of the last burst met a connection that the target had closed: it may have made a job that is not known. */
  answerLost: boolean
}
