import type { PassiveRow } from './envelope-watch.ts'
import { Failed, NotExercised } from '../engine/outcome.ts'
import type { Judge } from '../engine/story.ts'

/** Judges a passive row by what was seen on the whole run; it is to be asked last. */
export function judgeSighting(row: PassiveRow): Judge {
  return async (story) => {
    const { cases, failures } = story.run.envelope.sighting(row)
    for (let seen = 0; seen < cases; seen++) story.count()
    const [first, ...more] = failures.map(({ exchange, expected, actual }) => {
      const { requirement } = exchange.purpose
      story.shownBy = requirement
      return story.failure(exchange, expected, requirement === null ? '' : `(sent for ${requirement})`, actual)
    })
    if (first) throw new Failed(first, more)
    if (story.run.ended) throw story.run.ended
    if (cases === 0) throw new NotExercised('no answer of this run was of the kind that it judges')
  }
}
