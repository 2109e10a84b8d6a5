import { count } from './count.ts'
import { isEmptyShard } from './counted-rows.ts'
import type { RequirementResult, Undecided } from './model.ts'

/** Why the exit code is 1, a clause each; none if nothing decides. What was not exercised comes last. */
export function failureReasons(report: Undecided, deciding: readonly RequirementResult[]): string[] {
  const { baseline } = report.run
  const file = baseline?.file ?? 'the baseline'
  // A whole whose parts were held against a baseline has one that names nothing.
  const isHeld =
    baseline !== null && [baseline.expected, baseline.stale, baseline.notExercised].some((ids) => ids.length > 0)
  const stale = new Set(baseline?.stale.map(({ id }) => id))
  const failed = deciding.filter(({ outcome }) => outcome === 'failed')
  const fresh = failed.filter(({ id }) => !stale.has(id))
  const changed = failed.length - fresh.length
  const old = stale.size - changed
  const missed = deciding.length - failed.length
  return [
    ...(fresh.length > 0 ? [`${levels(fresh)} failed${isHeld ? ' that the baseline does not expect' : ''}`] : []),
    ...(changed > 0 ? [`${count(changed, 'failure')} ${is(changed)} not as ${file} expects`] : []),
    ...(old > 0 ? [`${count(old, 'entry', 'entries')} of ${file} ${is(old)} stale`] : []),
    ...(missed > 0
      ? [`${count(missed, 'must')} ${missed === 1 ? 'was' : 'were'} not exercised (--require-exercised)`]
      : []),
  ]
}

/** Why the exit code is 0. What did not run is never called a pass. */
export function success(report: Undecided): string {
  if (isEmptyShard(report)) return `nothing was dealt to this shard (${report.run.shard})`
  const expected = report.run.baseline?.expected.length ?? 0
  const { must, should } = report.summary
  const all = must.failed + should.failed
  if (expected > 0 && expected === all) {
    return `${count(all, 'failure')}, ${all === 1 ? '' : 'all '}expected by ${report.run.baseline!.file}`
  }
  const missed = must.notExercised > 0 ? `, ${must.notExercised} not exercised` : ''
  const none = expected > 0 ? `${expected} of ${count(all, 'failure')} expected by the baseline` : 'no must failed'
  const rest = all - expected
  return `${none}${missed}${rest > 0 ? `; ${count(rest, 'should')} failed, which ${does(rest)} not decide` : ''}`
}

function levels(rows: readonly RequirementResult[]): string {
  const of = (wanted: string) => rows.filter(({ level }) => level === wanted).length
  return (['must', 'should'] as const)
    .flatMap((level) => (of(level) > 0 ? [count(of(level), level)] : []))
    .join(' and ')
}

function is(number: number): string {
  return number === 1 ? 'is' : 'are'
}

function does(number: number): string {
  return number === 1 ? 'does' : 'do'
}
