import type { Counts } from '../../harness/report/model.ts'

export function total(counts: Counts): number {
  return counts.passed + counts.failed + counts.notExercised + counts.notApplicable
}

/** Those that were judged: passed or failed. */
export function exercised(counts: Counts): number {
  return counts.passed + counts.failed
}

export function sum(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    notExercised: a.notExercised + b.notExercised,
    notApplicable: a.notApplicable + b.notApplicable,
  }
}
