import type { Outcome, Report, TpeMode, Verdict } from './model.ts'
import type { Level } from '../../catalogue/requirement.ts'
import { outcomeIn, summarize } from './verdict.ts'
import type { ReportFile } from './json-file.ts'

/** Several reports side by side: of several targets in the order given, or of one target over time, oldest first. */
export interface Comparison {
  readonly of: 'targets' | 'time'
  /** Code names are compared in the mode of the reports; in `exact` if they were not all of one. */
  readonly mode: TpeMode
  readonly columns: readonly Column[]
  /** Every requirement of any of the reports, in the order of the first that has it. */
  readonly rows: readonly Row[]
  /** Over time: what changed from each report to the next. */
  readonly changes: readonly Change[]
}

export interface Column {
  readonly path: string
  readonly name: string
  readonly baseUrl: string
  readonly startedAt: string
  readonly version: string
  readonly requirementsDigest: string
  readonly verdict: Verdict
  readonly summary: Report['summary']
  readonly interrupted: boolean
}

export interface Row {
  readonly id: string
  readonly operation: string
  readonly level: Level
  readonly statement: string
  /** One for each column; null if that report has no such requirement. */
  readonly outcomes: readonly (Outcome | null)[]
}

/** Ids whose outcome became this, from one column to the next. */
export interface Change {
  /** Column of the later report. */
  readonly to: number
  readonly newlyFailing: readonly string[]
  readonly newlyPassing: readonly string[]
  readonly newlyNotExercised: readonly string[]
}

/** Reports of one base URL are one target over time. */
export function compareReports(files: readonly ReportFile[]): Comparison {
  const overTime =
    files.length > 1 && new Set(files.map(({ report }) => report.target.baseUrl)).size === 1
  const ordered = overTime ? files.toSorted((a, b) => timeOf(a) - timeOf(b)) : files
  const modes = new Set(files.map(({ report }) => report.run.tpe))
  const mode = modes.size === 1 ? [...modes][0]! : 'exact'
  const rows = rowsOf(ordered, mode)
  return {
    of: overTime ? 'time' : 'targets',
    mode,
    columns: ordered.map((file) => columnOf(file, mode)),
    rows,
    changes: overTime ? ordered.slice(1).map((_, index) => changeTo(index + 1, rows)) : [],
  }
}

/** The outcome of a row in that column, if it is not that of the column before; undefined in the first. */
function became({ outcomes }: Row, to: number): Outcome | null | undefined {
  return to < 1 || outcomes[to] === outcomes[to - 1] ? undefined : outcomes[to]
}

export function differingRows({ rows }: Comparison): Row[] {
  return rows.filter(({ outcomes }) => new Set(outcomes).size > 1)
}

/**
 * The requirements that a reader has to look at: the musts that newly fail in the last report first, then what else fails there,
 * musts first, then whatever else failed anywhere or is not the same in all.
 */
export function notableRows(comparison: Comparison): Row[] {
  const last = comparison.columns.length - 1
  const differing = new Set(differingRows(comparison))
  const rank = (row: Row): number => {
    if (row.outcomes[last] !== 'failed') return row.outcomes.includes('failed') ? 3 : 4
    if (row.level === 'should') return 2
    return became(row, last) === 'failed' ? 0 : 1
  }
  const notable = comparison.rows.filter(
    (row) => differing.has(row) || row.outcomes.includes('failed'),
  )
  return notable.sort((a, b) => rank(a) - rank(b))
}

/** The musts that fail in the last report and did not fail in the one before; none if there is but one. */
export function newlyFailingMusts({ columns, rows }: Comparison): string[] {
  const fresh = rows.filter(
    (row) => row.level === 'must' && became(row, columns.length - 1) === 'failed',
  )
  return fresh.map(({ id }) => id)
}

/** One sentence if the reports are of different suites, so that a change may be the suite's and not the target's. */
export function suiteNote({ columns }: Comparison): string | undefined {
  const versions = new Set(columns.map(({ version }) => version))
  if (versions.size > 1) {
    const each = columns.map(({ version }, index) => `${version} (report ${index + 1})`)
    return `different versions of the suite judged: ${each.join(', ')}; a change may be one of the suite`
  }
  const digests = new Set(columns.map(({ requirementsDigest }) => requirementsDigest))
  return digests.size > 1
    ? 'the reports are of different requirements; a change may be one of the suite'
    : undefined
}

/** How the outcome of a row changed from each column to the next: `newly failing`; null if the change is not reported. */
export function changeOf(row: Row, to: number): string | null {
  const words = {
    failed: 'newly failing',
    passed: 'newly passing',
    'not-exercised': 'newly not tested',
  } as const
  const outcome = became(row, to) ?? 'not-applicable'
  return outcome === 'not-applicable' ? null : words[outcome]
}

function timeOf({ report }: ReportFile): number {
  return Date.parse(report.run.startedAt)
}

function columnOf({ path, report }: ReportFile, mode: TpeMode): Column {
  const { run, suite, target, verdicts } = report
  return {
    ...{ path, name: target.name, baseUrl: target.baseUrl, startedAt: run.startedAt },
    ...{ version: suite.version, requirementsDigest: suite.requirementsDigest },
    ...{
      verdict: verdicts[mode],
      summary: summarize(report.requirements, mode),
      interrupted: run.interrupted,
    },
  }
}

function rowsOf(files: readonly ReportFile[], mode: TpeMode): Row[] {
  const results = files.map(
    ({ report }) => new Map(report.requirements.map((result) => [result.id, result])),
  )
  const ids = new Set(files.flatMap(({ report }) => report.requirements.map(({ id }) => id)))
  return [...ids].map((id) => {
    const found = results.map((byId) => byId.get(id))
    // The newest of the reports decides.
    const { operation, level, statement } = found.findLast((result) => result !== undefined)!
    const outcomes = found.map((result) => (result ? outcomeIn(result, mode) : null))
    return { id, operation, level, statement, outcomes }
  })
}

function changeTo(to: number, rows: readonly Row[]): Change {
  const newly = (outcome: Outcome) =>
    rows.filter((row) => became(row, to) === outcome).map(({ id }) => id)
  return {
    to,
    newlyFailing: newly('failed'),
    newlyPassing: newly('passed'),
    newlyNotExercised: newly('not-exercised'),
  }
}
