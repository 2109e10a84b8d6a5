import { groupBy } from '../../harness/group-by.ts'
import type {
  Column,
  Comparison,
  Counts,
  Outcome,
  Report,
  Row,
} from '../../harness/report/index.ts'
import { type LikelyCause, likelyCauses } from '../../reporters/view/likely-causes.ts'
import { type Mark, outcomes } from '../../reporters/view/writing.ts'

/** Requirements that changed alike from one report to the next, by operation, what most are of first. */
export interface ChangeGroup {
  /** `Broken since` */
  readonly title: string
  readonly tone: 'p' | 'f' | 'm'
  readonly rows: readonly Row[]
  readonly operations: readonly (readonly [operation: string, rows: readonly Row[]])[]
}

/** What a comparison shows first: what changed in the last report, and why what broke may have. */
export interface Changes {
  readonly groups: readonly ChangeGroup[]
  /** Likely causes of what broke. */
  readonly causes: readonly LikelyCause[]
}

/** @param last the report of the last column */
export function changesOf(comparison: Comparison, last: Report | undefined): Changes {
  const to = comparison.columns.length - 1
  if (comparison.of !== 'time' || to < 1) return { groups: [], causes: [] }
  const groups = kinds.map(({ fits, ...words }): ChangeGroup => {
    const rows = comparison.rows.filter(({ outcomes: all }) => fits(all[to - 1], all[to]))
    const operations = [...groupBy(rows, ({ operation }) => operation)].toSorted(
      ([, one], [, other]) => other.length - one.length,
    )
    return { ...words, rows, operations }
  })
  const broken = new Set(groups[0]!.rows.map(({ id }) => id))
  const results = last?.requirements.filter(({ id }) => broken.has(id)) ?? []
  return {
    groups: groups.filter(({ rows }) => rows.length > 0),
    causes: likelyCauses(results, last),
  }
}

type Was = Outcome | null | undefined

const kinds: readonly (Pick<ChangeGroup, 'title' | 'tone'> & {
  readonly fits: (was: Was, is: Was) => boolean
})[] = [
  { title: 'Broken since', tone: 'f', fits: (was, is) => is === 'failed' && was !== 'failed' },
  { title: 'Mended since', tone: 'p', fits: (was, is) => is === 'passed' && was === 'failed' },
  {
    title: 'Failed before, not tested now',
    tone: 'm',
    fits: (was, is) => is === 'not-exercised' && was === 'failed',
  },
  {
    title: 'Passed before, not tested now',
    tone: 'm',
    fits: (was, is) => is === 'not-exercised' && was === 'passed',
  },
  { title: 'Tested now', tone: 'p', fits: (was, is) => is === 'passed' && was === 'not-exercised' },
  { title: 'Still failing', tone: 'f', fits: (was, is) => is === 'failed' && was === 'failed' },
]

/** How a cell shows an outcome: never by colour alone. */
export const marks = {
  ...outcomes,
  absent: { sign: ' ', word: 'Not in this report', tone: 'w' },
} as const satisfies Record<Outcome | 'absent', Mark>

/** Name that tells a report from the others. */
export function columnName({ baseUrl, name, startedAt }: Column, { of }: Comparison): string {
  return of === 'time' ? startedAt : `${name}  ${baseUrl}`
}

/** How the reports stand to each other in a requirement: what is alike in that is one group, to be filtered by. */
export interface RowGroup extends Mark {
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
  const all = [...groupBy(rows.map(groupOf), ({ kind }) => kind).values()]
  const rank = ({ kind }: RowGroup): number => ['differs', 'same'].indexOf(kind)
  return all
    .map((of) => ({ ...of[0]!, word: `${of[0]!.word}: ${of.length}` }))
    .toSorted((one, other) => rank(one) - rank(other) || one.kind.localeCompare(other.kind))
}

/** How many of the rows had each outcome in that column. */
export function countsIn(rows: readonly Row[], column: number): Counts {
  const counts: Counts = { passed: 0, failed: 0, notExercised: 0, notApplicable: 0 }
  for (const row of rows) {
    const outcome = row.outcomes[column]
    if (outcome) counts[outcomes[outcome].member] += 1
  }
  return counts
}

/** The rows of each operation, in the order of the reports. */
export function operationsOf({ rows }: Comparison): (readonly [string, readonly Row[]])[] {
  return [...groupBy(rows, ({ operation }) => operation)]
}
