import { groupBy } from '../../harness/group-by.ts'
import type { Level } from '../../catalogue/requirement.ts'
import type { Counts, Outcome, Report } from '../../harness/report/index.ts'
import type { ReportFile, TpeMode, Verdict } from '../../harness/report/index.ts'
import { outcomeIn, summarize } from '../../harness/report/index.ts'
import { type LikelyCause, likelyCauses } from '../../reporters/view/causes.ts'
import { type Mark, outcomes } from '../../reporters/view/writing.ts'

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

interface Change {
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
  const timeOf = ({ report }: ReportFile): number => Date.parse(report.run.startedAt)
  const ordered = overTime ? files.toSorted((a, b) => timeOf(a) - timeOf(b)) : files
  const modes = new Set(files.map(({ report }) => report.run.tpe))
  const mode = modes.size === 1 ? [...modes][0]! : 'exact'
  const rows = rowsOf(ordered, mode)
  return {
    of: overTime ? 'time' : 'targets',
    mode,
    columns: ordered.map((file) => columnOf(file, mode)),
    rows,
    changes: overTime ? ordered.slice(1).map((_, at) => changeTo(at + 1, rows)) : [],
  }
}

function columnOf({ path, report }: ReportFile, mode: TpeMode): Column {
  const { requirements, run, suite, target, verdicts } = report
  return {
    ...{ path, name: target.name, baseUrl: target.baseUrl, startedAt: run.startedAt },
    ...{ version: suite.version, requirementsDigest: suite.requirementsDigest },
    ...{ verdict: verdicts[mode], summary: summarize(requirements, mode) },
    interrupted: run.interrupted,
  }
}

function rowsOf(files: readonly ReportFile[], mode: TpeMode): Row[] {
  const results = files.map(
    ({ report }) => new Map(report.requirements.map((result) => [result.id, result])),
  )
  return [...new Set(results.flatMap((byId) => [...byId.keys()]))].map((id) => {
    const found = results.map((byId) => byId.get(id))
    // The newest of the reports decides.
    const { operation, level, statement } = found.findLast((result) => result !== undefined)!
    const all = found.map((result) => (result ? outcomeIn(result, mode) : null))
    return { id, operation, level, statement, outcomes: all }
  })
}

function became({ outcomes: all }: Row, to: number): Outcome | null | undefined {
  return to < 1 || all[to] === all[to - 1] ? undefined : all[to]
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

export function differingRows({ rows }: Comparison): Row[] {
  return rows.filter((row) => new Set(row.outcomes).size > 1)
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
  return comparison.rows
    .filter((row) => differing.has(row) || row.outcomes.includes('failed'))
    .sort((a, b) => rank(a) - rank(b))
}

/** The musts that fail in the last report and did not fail in the one before; none if there is but one. */
export function newlyFailingMusts({ columns, rows }: Comparison): string[] {
  const isFresh = (row: Row): boolean => became(row, columns.length - 1) === 'failed'
  return rows.filter((row) => row.level === 'must' && isFresh(row)).map(({ id }) => id)
}

/** One sentence if the reports are of different suites, so that a change may be the suite's and not the target's. */
export function suiteNote({ columns }: Comparison): string | undefined {
  if (new Set(columns.map(({ version }) => version)).size > 1) {
    const each = columns.map(({ version }, at) => `${version} (report ${at + 1})`)
    return `different versions of the suite judged: ${each.join(', ')}; a change may be one of the suite`
  }
  return new Set(columns.map(({ requirementsDigest }) => requirementsDigest)).size > 1
    ? 'the reports are of different requirements; a change may be one of the suite'
    : undefined
}

const newly = {
  failed: 'newly failing',
  passed: 'newly passing',
  'not-exercised': 'newly not tested',
  'not-applicable': undefined,
} as const satisfies Record<Outcome, string | undefined>

/** How the outcome of a row changed in the last report over time: `newly failing`; undefined if that is not reported. */
export function changeOf(row: Row, { columns, of }: Comparison): string | undefined {
  const outcome = of === 'time' ? became(row, columns.length - 1) : undefined
  return outcome ? newly[outcome] : undefined
}

/** Requirements that changed alike from one report to the next, by operation, what most are of first. */
export interface ChangeGroup {
  /** `Broken since` */
  readonly title: string
  readonly tone: 'p' | 'f' | 'm'
  readonly rows: readonly Row[]
  readonly operations: readonly (readonly [operation: string, rows: readonly Row[]])[]
}

export interface Changes {
  readonly groups: readonly ChangeGroup[]
  readonly causes: readonly LikelyCause[]
}

const kinds = [
  ['Broken since', 'f', 'failed'],
  ['Mended since', 'p', 'passed', 'failed'],
  ['Failed before, not tested now', 'm', 'not-exercised', 'failed'],
  ['Passed before, not tested now', 'm', 'not-exercised', 'passed'],
  ['Tested now', 'p', 'passed', 'not-exercised'],
  ['Still failing', 'f', 'failed', 'failed'],
] as const

/** @param last the report of the last column */
export function changesOf(comparison: Comparison, last: Report | undefined): Changes {
  const { columns, of } = comparison
  const to = columns.length - 1
  if (of !== 'time' || to < 1) return { groups: [], causes: [] }
  const groups = kinds.map(([title, tone, is, was]): ChangeGroup => {
    const rows = comparison.rows.filter(({ outcomes: all }) => {
      const before = all[to - 1]
      return all[to] === is && (was === undefined ? before !== is : before === was)
    })
    const operations = operationsOf({ rows }).toSorted(
      ([, one], [, other]) => other.length - one.length,
    )
    return { title, tone, rows, operations }
  })
  const broken = new Set(groups[0]!.rows.map(({ id }) => id))
  const results = last?.requirements.filter(({ id }) => broken.has(id)) ?? []
  const causes = likelyCauses(results, last)
  return { groups: groups.filter(({ rows }) => rows.length > 0), causes }
}

/** How a cell shows an outcome: never by colour alone. */
export const marks = {
  ...outcomes,
  absent: { sign: ' ', word: 'Not in this report', tone: 'w' },
} as const satisfies Record<Outcome | 'absent', Mark>

export function columnName({ baseUrl, name, startedAt }: Column, { of }: Comparison): string {
  return of === 'time' ? startedAt : `${name}  ${baseUrl}`
}

/** How the reports stand to each other in a requirement: what is alike in that is one group, to be filtered by. */
interface RowGroup extends Mark {
  readonly kind: string
}

/** With more reports each set of those that fail is not told by itself. */
const MOST_NAMED = 3

export function groupOf({ outcomes: all }: Row): RowGroup {
  const failing = all.flatMap((outcome, at) => (outcome === 'failed' ? [at + 1] : []))
  if (failing.length === 0)
    return new Set(all).size > 1
      ? { kind: 'differs', sign: '≠', tone: 'm', word: 'Differs, without a failure' }
      : { kind: 'same', sign: '=', tone: 'n', word: 'The same in all' }
  const isAll = failing.length === all.length
  const which = isAll ? 'all' : all.length > MOST_NAMED ? 'some' : failing.join(' and ')
  const kind = `fails-${which.replaceAll(' ', '-')}`
  return { kind, sign: outcomes.failed.sign, tone: 'f', word: `Fails in ${which}` }
}

/** The groups that there are, what fails first, each with how many requirements are of it. */
export function groupsIn({ rows }: Comparison): RowGroup[] {
  const rank = ({ kind }: RowGroup): number => ['differs', 'same'].indexOf(kind)
  return [...groupBy(rows.map(groupOf), ({ kind }) => kind).values()]
    .map((of) => ({ ...of[0]!, word: `${of[0]!.word}: ${of.length}` }))
    .toSorted((one, other) => rank(one) - rank(other) || one.kind.localeCompare(other.kind))
}

export function countsIn(rows: readonly Row[], column: number): Counts {
  const counts: Counts = { passed: 0, failed: 0, notExercised: 0, notApplicable: 0 }
  for (const { outcomes: all } of rows) {
    const outcome = all[column]
    if (outcome) counts[outcomes[outcome].member] += 1
  }
  return counts
}

export function operationsOf({ rows }: Pick<Comparison, 'rows'>): [string, Row[]][] {
  return [...groupBy(rows, ({ operation }) => operation)]
}
