import type { Counts } from '../../harness/report/model.ts'

export function total(counts: Counts): number {
  return counts.passed + counts.failed + counts.notExercised + counts.notApplicable
}

/** Those that were judged: passed or failed. */
export function exercised(counts: Counts): number {
  return counts.passed + counts.failed
}

/** `3 passed, 0 failed, 1 not tested, 0 not applicable` */
export function countsText({ passed, failed, notExercised, notApplicable }: Counts): string {
  return `${passed} passed, ${failed} failed, ${notExercised} not tested, ${notApplicable} not applicable`
}

export function sum(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    notExercised: a.notExercised + b.notExercised,
    notApplicable: a.notApplicable + b.notApplicable,
  }
}
