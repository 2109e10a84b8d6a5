import { createEnvelopeWatch, type ObservedRequirement } from './envelope-watch.ts'
import { type RunHook, perRun } from '../engine/run.ts'
import { poisonedResponses } from '../engine/reused-connection.ts'
import type { Exchange } from '../engine/exchange.ts'
import { Failed, NotExercised } from '../engine/outcome.ts'
import type { Judge } from '../engine/check-context.ts'

const envelopeOf = perRun(createEnvelopeWatch)

/** First failures shown of a row. */
const mostShown = 3

/** Shows every answer of a run to the rows of every response. */
export const envelopeHook: RunHook = { observe: (run, exchange) => envelopeOf(run).observe(exchange) }

/** Judges an observed row by the answers of the whole run; it has to be called last. */
export function judgeObserved(requirement: ObservedRequirement): Judge {
  return async (context) => {
    const watch = envelopeOf(context.run)
    const { cases, failures } = watch.tally(requirement)
    context.cases += cases
    const isOwn = (exchange: Exchange): boolean =>
      !poisonedResponses(context.run).has(exchange.response!) &&
      !(requirement === 'envelope/bad-input-no-5xx' && watch.breaksAnyway(exchange))
    const own = failures.filter(({ exchange }) => isOwn(exchange))
    const [first, ...more] = own.slice(0, mostShown).map(({ exchange, expected, actual, at }) => {
      const { requirement } = exchange.purpose
      context.shownBy = requirement
      const what = requirement === null ? '' : `(sent for ${requirement})`
      return { ...context.failure(exchange, expected, what, actual), ...(at === undefined ? {} : { at }) }
    })
    if (first) throw new Failed(first, more)
    if (context.run.life.ended) throw context.run.life.ended
    if (cases === 0) throw new NotExercised('this run got no answer of the kind that this requirement judges')
  }
}
