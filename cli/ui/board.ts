import type { Plan } from '../../harness/engine/index.ts'
import type { Outcome, Report, RequirementResult } from '../../harness/report/index.ts'
import {
  isLeftOut,
  isLeftOutByOption,
  keyWasRefused,
  withResults,
} from '../../harness/report/index.ts'

export interface Row {
  readonly result: RequirementResult
  /** It is still to be judged: in the run that goes on, or in the first one. */
  readonly isWaiting: boolean
  /** The version of the board that changed it last. */
  readonly version: number
  /** How it ended before the run that judged it last; undefined if it had not been judged. */
  readonly before: Outcome | undefined
}

export type Board = ReturnType<typeof createBoard>

/**
 * @param empty the report of a run that has judged nothing yet
 * @param hasKey whether the run has a key: without one there is no verdict
 */
export function createBoard(empty: Report, hasKey = true) {
  let base = empty
  let last = empty
  let wasRefused = !hasKey
  let version = 1
  /** Requirements of the run that goes on, or of the last one, and how they ended before. */
  let run = new Map<string, Outcome | undefined>()
  const rows = new Map<string, Row>()
  const put = (result: RequirementResult, isWaiting: boolean): void =>
    void rows.set(result.id, { result, isWaiting, version, before: run.get(result.id) })
  const isUnknown = (result: RequirementResult): boolean => isLeftOut(result, 'interrupted')
  for (const result of empty.requirements) put(result, isUnknown(result))
  const settle = (): void => {
    for (const { isWaiting, result } of rows.values()) if (isWaiting) put(result, false)
  }
  return {
    get version() {
      return version
    },
    rows: rows as ReadonlyMap<string, Row>,
    /** All that is known, as a report; of runs of a part put into the last whole one. */
    report: (): Report =>
      withResults(
        base,
        [...rows.values()].map(({ result }) => result),
        { last, wasRefused },
      ),
    /** What a run that was ended had not judged yet, in report order. */
    get untested(): string[] {
      return [...rows.values()]
        .filter(({ isWaiting, result }) => !isWaiting && isUnknown(result))
        .map(({ result }) => result.id)
    },
    get planned() {
      return run.size
    },
    plan(plan: Plan): void {
      version++
      const known = [...rows.values()]
      const isJudged = ({ result: { id } }: Row): boolean => {
        const entry = plan.get(id)
        return entry?.run === true && entry.leftOut === undefined
      }
      const judged = known.filter(isJudged)
      run = new Map(
        judged.map(({ result }) => [result.id, isUnknown(result) ? undefined : result.outcome]),
      )
      for (const row of known)
        if (isJudged(row) || row.before !== undefined) put(row.result, isJudged(row))
    },
    judged(result: RequirementResult): void {
      if (isLeftOutByOption(result) && rows.get(result.id)?.isWaiting !== true) return
      version++
      put(result, false)
    },
    /** The run has ended; `isPart`: it judged only some requirements. */
    ended(report: Report, isPart: boolean): void {
      version++
      settle()
      if (!isPart) base = report
      last = report
      wasRefused = keyWasRefused(report)
      for (const result of report.requirements)
        if (!isPart || !isLeftOut(result)) put(result, false)
    },
    /** The run never began. */
    dropped(): void {
      version++
      settle()
    },
    /** Something changed that is no row. */
    touch: (): void => void version++,
  }
}

export interface Patch {
  /** The version of the page after it. */
  readonly version: number
  /** Markup by the id of the element that it replaces. */
  readonly parts: Readonly<Record<string, string>>
  readonly state: unknown
}
