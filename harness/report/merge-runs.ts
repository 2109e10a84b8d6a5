import type { NotServed, Report } from './model.ts'

type Run = Report['run']

/**
 * The facts of all parts as those of one run. Whatever keeps a certificate from being whole in one of them (an interrupt,
 * few credential probes, a baseline, an operation that was declared not served and answered) holds for the whole.
 */
export function mergeRuns(reports: readonly Report[]): Run {
  const runs = reports.map((report) => report.run)
  return {
    ...runs[0]!,
    startedAt: runs.map((part) => part.startedAt).reduce((a, b) => (Date.parse(b) < Date.parse(a) ? b : a)),
    durationMs: sum(runs, (part) => part.durationMs),
    nonce: [...new Set(runs.map((part) => part.nonce))].join('+'),
    requests: sum(runs, (part) => part.requests),
    throttled: sum(runs, (part) => part.throttled),
    concurrency: Math.max(...runs.map((part) => part.concurrency)),
    shard: null,
    baseline: heldAgainst(runs),
    interrupted: runs.some((part) => part.interrupted),
    credentialProbes: runs.some((part) => part.credentialProbes === 'few') ? 'few' : 'all',
    notServed: eachOnce(runs.flatMap((part) => part.notServed)),
    created: runs.flatMap((part) => part.created),
  }
}

/** That a part was held against a baseline is kept; what it expected is not, for the whole is another matter. */
function heldAgainst(runs: readonly Run[]): Run['baseline'] {
  const held = runs.find((part) => part.baseline !== null)?.baseline
  return held ? { file: held.file, expected: [], stale: [], notExercised: [] } : null
}

function eachOnce(all: readonly NotServed[]): NotServed[] {
  return all.filter(
    ({ operation, answered }, index) =>
      all.findIndex((other) => other.operation === operation && other.answered === answered) === index,
  )
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
