import { operations } from '../../catalogue/operations.ts'
import { type Counts, count, type Report } from '../../harness/report/index.ts'

/** What a verdict leaves out: required checks declared unreachable, and operations not served. */
export interface LeftOut {
  readonly excused: number
  readonly notServed: number
}

export function leftOutOf({ requirements }: Pick<Report, 'requirements'>): LeftOut {
  const notServed = requirements.filter(
    ({ why }) => why?.kind === 'absent' && !why.seenBy && why.absence === 'not-served',
  )
  const areas = new Set<string>(notServed.map(({ operation }) => operation))
  return {
    excused: requirements.filter(
      ({ level, why }) => level === 'must' && why?.kind === 'unreachable',
    ).length,
    notServed: operations.filter(({ id }) => areas.has(id)).length,
  }
}

/** `55 excused (unreachable)`, `2 operations not served`: shown beside every verdict. */
export function leftOutWords({ excused, notServed }: LeftOut): string[] {
  return [
    ...(excused > 0 ? [`${excused} excused (unreachable)`] : []),
    ...(notServed > 0 ? [`${count(notServed, 'operation')} not served`] : []),
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
