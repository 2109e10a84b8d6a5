import { createEnvelopeWatch, type ObservedRow } from './envelope-watch.ts'
import type { RunHook } from '../engine/run.ts'
import { perRun } from '../engine/per-run.ts'
import { Failed, NotExercised } from '../engine/outcome.ts'
import type { Judge } from '../engine/story.ts'

const envelopeOf = perRun(createEnvelopeWatch)

/** Shows every answer of a run to the rows of every response. */
export const envelopeHook: RunHook = { observe: (run, exchange) => envelopeOf(run).observe(exchange) }

/** Judges an observed row by what was seen on the whole run; it is to be asked last. */
export function judgeObserved(row: ObservedRow): Judge {
  return async (story) => {
    const { cases, failures } = envelopeOf(story.run).tally(row)
    story.cases += cases
    const [first, ...more] = failures.map(({ exchange, expected, actual }) => {
      const { requirement } = exchange.purpose
      story.shownBy = requirement
      return story.failure(exchange, expected, requirement === null ? '' : `(sent for ${requirement})`, actual)
    })
    if (first) throw new Failed(first, more)
    if (story.run.life.ended) throw story.run.life.ended
    if (cases === 0) throw new NotExercised('no answer of this run was of the kind that it judges')
  }
}
