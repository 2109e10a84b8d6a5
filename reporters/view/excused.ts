import { operations } from '../../catalogue/operations.ts'
import { type Counts, count, type Report } from '../../harness/report/index.ts'

/** What a verdict leaves out: required checks declared unreachable, and operations not served. */
export interface LeftOut {
  readonly excused: number
  readonly notServed: number
}

export function leftOutOf(report: Pick<Report, 'requirements'>): LeftOut {
  const notServed = report.requirements.filter(
    (requirement) =>
      requirement.why?.kind === 'absent' &&
      !requirement.why.seenBy &&
      requirement.why.absence === 'not-served',
  )
  const areas = new Set<string>(notServed.map((one) => one.operation))
  return {
    excused: report.requirements.filter(
      (requirement) => requirement.level === 'must' && requirement.why?.kind === 'unreachable',
    ).length,
    notServed: operations.filter((operation) => areas.has(operation.id)).length,
  }
}

/** `55 excused (unreachable)`, `2 operations not served`: shown beside every verdict. */
export function leftOutWords(leftOut: LeftOut): string[] {
  return [
    ...(leftOut.excused > 0 ? [`${leftOut.excused} excused (unreachable)`] : []),
    ...(leftOut.notServed > 0 ? [`${count(leftOut.notServed, 'operation')} not served`] : []),
  ]
}

/** For example `257 required checks passed, 55 excused (unreachable), 2 operations not served`. */
export function requiredChecks(must: Counts, leftOut: LeftOut): string {
  const { failed, notExercised, passed } = must
  return [
    ...(failed > 0 ? [`${count(failed, 'required check')} failed`] : []),
    `${failed > 0 ? passed : count(passed, 'required check')} passed`,
    ...(notExercised > 0 ? [`${notExercised} not tested`] : []),
    ...leftOutWords(leftOut),
  ].join(', ')
}
