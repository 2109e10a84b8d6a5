import type { Exchange } from '../../harness/engine/exchange.ts'

/** What several attempts showed of one requirement. */
export interface Finding {
  /** Answers that were judged. */
  cases: number
  /** The state was there, and the answer was right. */
  confirmed: boolean
  /** The answer was wrong, and a later reading proves that the state was there. */
  failure?: { exchange: Exchange; expected: string; what: string; actual?: string }
  /** Why the last attempt proved nothing. */
  inconclusive: string
}

export function newFinding(inconclusive: string): Finding {
  return { cases: 0, confirmed: false, inconclusive }
}

export function isFailed({ failure }: Finding): boolean {
  return failure !== undefined
}

export function isSettled(finding: Finding): boolean {
  return finding.confirmed || isFailed(finding)
}

/** What the 409 rows learn from the same jobs. */
export interface ConflictFindings {
  /** `conflicts`: the creations that were answered 409 while a job was in progress; `lost`: those without an answer beside one job. */
  readonly inProgress: Finding & { readonly conflicts: Exchange[]; throttled: number; lost: number }
  readonly released: Finding
  /** `blocked`: attempts in which the other application answered 409 beside a job that was none of its own. */
  readonly perApplication: Finding & { blocked: number }
  readonly atomic: Finding
  /** Some creation on the application was answered 409 in this run. */
  conflictSeen: boolean
  /** A creation of the last burst met a connection that the target had closed: it may have made a job that is not known. */
  responseLost: boolean
}

const noJob = 'no creation was granted, so no job was in progress'

/** @param concurrent whether several creations can be under way at once */
export function newFindings(concurrent: boolean): ConflictFindings {
  const needsMore = 'concurrent creations need limits.concurrency of 2 or more'
  return {
    inProgress: { ...newFinding(noJob), conflicts: [], throttled: 0, lost: 0 },
    released: newFinding('no reading showed a job of the application ended'),
    perApplication: { ...newFinding(noJob), blocked: 0 },
    atomic: newFinding(concurrent ? 'no concurrent creation was answered 409' : needsMore),
    conflictSeen: false,
    responseLost: false,
  }
}
