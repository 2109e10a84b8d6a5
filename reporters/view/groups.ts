import { groupBy } from '../../harness/group-by.ts'
import { kinds, type Mark } from './writing.ts'
import {
  type Counts,
  type Outcome,
  type Report,
  type RequirementResult,
  decisive,
  isLeftOutByOption,
  isSelected,
  reasonExpected,
  summarize,
} from '../../harness/report/index.ts'

export interface OperationGroup {
  readonly operation: string
  readonly results: readonly RequirementResult[]
}

export function byOperation(report: Pick<Report, 'requirements'>): OperationGroup[] {
  const groups = groupBy(report.requirements, (one) => one.operation)
  return [...groups].map(([operation, results]) => ({ operation, results }))
}

export interface ReasonGroup {
  /** The reason, with `<id>` for the requirement's own id. */
  readonly reason: string
  readonly ids: readonly string[]
}

export function byReason(report: Pick<Report, 'requirements'>, outcome: Outcome): ReasonGroup[] {
  const results = report.requirements.filter((result) => result.outcome === outcome)
  const reasons = results.map((result) => result.reason)
  // A reason with many requirements may contain the id of one.
  const isShared = (reason: string): boolean =>
    reasons.indexOf(reason) !== reasons.lastIndexOf(reason)
  const reasonOf = ({ id, reason = 'no reason was recorded' }: RequirementResult): string =>
    isShared(reason)
      ? reason
      : reason.replaceAll(id, '<id>').replaceAll(id.replaceAll('/', '~1'), '<id>')
  return [...groupBy(results, reasonOf)]
    .map(([reason, of]) => ({ reason, ids: of.map((one) => one.id) }))
    .sort((a, b) => b.ids.length - a.ids.length)
}

export function total(counts: Counts): number {
  return counts.passed + counts.failed + counts.notExercised + counts.notApplicable
}

/** The requirements not left out; inapplicable ones are included. */
export function selectedResults(report: Pick<Report, 'requirements' | 'run'>): RequirementResult[] {
  return report.requirements.filter(
    (result) =>
      !isLeftOutByOption(result) &&
      (result.outcome !== 'not-applicable' || isSelected(result.id, report.run)),
  )
}

/** How a result is shown; left-out results are not `not tested`. */
export function kindOf(result: RequirementResult): keyof typeof kinds {
  return isLeftOutByOption(result) ? 'left-out' : result.outcome
}

/** The kinds for a legend: all outcomes, and left out if any was. */
export function kindsIn(report: Pick<Report, 'requirements'>): [string, Mark][] {
  const isPart = report.requirements.some(isLeftOutByOption)
  return Object.entries(kinds).filter(([kind]) => isPart || kind !== 'left-out')
}

/** For example `286 by --only, 3 by --read-only`, if any were left out. */
export function leftOutSentence(report: Report): string | undefined {
  const groups = groupBy(report.requirements.filter(isLeftOutByOption), (one) =>
    one.why?.kind === 'left-out' ? one.why.by : '',
  )
  if (groups.size === 0) return undefined
  return [...groups].map(([option, { length }]) => `${length} by ${option}`).join(', ')
}

export function selectedSummary(report: Report): Report['summary'] {
  return summarize(selectedResults(report))
}

export function requiredButMissed(report: Report): string[] {
  return decisive(report)
    .filter((one) => one.outcome === 'not-exercised')
    .map((one) => one.id)
}

/** What became of the entries of a baseline, stale ones first. */
export function baselineEntries(report: Report) {
  const { expected = [], notExercised = [], stale = [] } = report.run.baseline ?? {}
  const known = (state: string, ids: readonly string[]) =>
    ids.map((id) => ({ state, id, why: reasonExpected(report, id) }))
  return [
    ...stale.map((one) => ({ state: 'stale entry', id: one.id, why: one.why })),
    ...known('failed as expected', expected),
    ...known('not tested', notExercised),
  ]
}
