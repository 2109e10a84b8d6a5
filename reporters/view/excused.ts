import { type Counts, count, type Verdict } from '../../harness/report/index.ts'
import { verdictWords } from './standing.ts'

/** What a verdict leaves out: how many required checks the target file calls unreachable, and how many operations it does not serve. */
export interface LeftOut {
  readonly must: Counts
  readonly excused: number
  readonly notServed: number
}

/** A verdict with what it leaves out: `Conformant: 257 required checks passed, 55 excused (unreachable), 2 operations not served`. */
export function verdictBeside(verdict: Verdict, notes: readonly string[], of: LeftOut): string {
  const { must, excused, notServed } = of
  const mode = notes.length > 0 ? ` (${notes.join(', ')})` : ''
  return `${verdictWords[verdict].word}${mode}: ${[
    ...(must.failed > 0 ? [`${count(must.failed, 'required check')} failed`] : []),
    `${must.failed > 0 ? must.passed : count(must.passed, 'required check')} passed`,
    ...(must.notExercised > 0 ? [`${must.notExercised} not tested`] : []),
    ...(excused > 0 ? [`${excused} excused (unreachable)`] : []),
    ...(notServed > 0 ? [`${count(notServed, 'operation')} not served`] : []),
  ].join(', ')}`
}
