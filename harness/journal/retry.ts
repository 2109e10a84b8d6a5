import { type Exchange, isOfFamily, isThrottling, mentionsExpected } from './exchange.ts'
import type { Ask } from './journal.ts'

export const maxTries = 5
/** Retries of what may be the expected answer in another form: a limit of the service may hit two in a row. */
const triesIfAlike = 2
/** Concurrent retries of a throttled request; then it goes alone, since the limit may be on concurrency. */
const triesBeside = 2
/** Retries because the target was away meanwhile. */
const maxAway = 3

interface Chance {
  /** How many attempts in a row without an answer rule it out. */
  proof(): number
}

export type Retry = ReturnType<typeof retryOf>

/** A valid request counts as unanswered after two attempts, each with its own object. */
export function isRepeatable(exchange: Exchange): boolean {
  const { probe, purpose } = exchange
  return probe.effect === 'none' || purpose.isSuccess !== undefined || purpose.role === 'setup'
}

/** Whether waiting may help a throttled request. */
function mayBeServedLater(exchange: Exchange, throttled: number): boolean {
  const { purpose, response, isOwnLimit, isTooLong } = exchange
  if (!response || !isThrottling(exchange) || isTooLong) return false
  // It may be the expected answer under another name, or in a form that cannot be read.
  const isAlike =
    isOfFamily(purpose.expects, response) || mentionsExpected(purpose.expects, response)
  return throttled < (isAlike && !isOwnLimit ? triesIfAlike : maxTries)
}

/**
 * Decides after the tries of a request whether to send it again, and how: after 429 and 503, and if it was lost and has
 * no effect, or never arrived. `look`: what follows depends on whether the target was away at the last one.
 */
export function retryOf(ask: Ask, tries: readonly Exchange[], chance: Chance) {
  let next: 'again' | 'look' | 'over' = 'again'
  let { fresh = false, alone = false } = ask
  let unanswered: Exchange | undefined
  /** Repeated without an answer as often as is conclusive. */
  let isResent = false
  let [lost, away, ofGateway, throttled] = [0, 0, 0, 0]
  for (const one of tries) {
    const { noResponse, response, wasAway } = one
    const isStale = noResponse?.staleConnection === true && !ask.after
    const isReset = noResponse?.cause === 'reset'
    // It never reached the target, which may be starting again.
    const isUnheard = noResponse?.detail === 'nobody-listens' && away < maxAway
    const isOfService = response !== undefined && !one.isOfGateway
    if (isStale) next = 'again'
    else if (ask.once) next = 'over'
    else if (isOfService) next = mayBeServedLater(one, throttled) ? 'again' : 'over'
    else {
      // A gateway answers for a service that restarts, too: it takes one more.
      const own = response ? ofGateway : lost + 1
      // What a gateway answers for the service had most likely no effect.
      const mayRepeat = response !== undefined || isRepeatable(one)
      const isProven = (response !== undefined || isResent) && own >= chance.proof()
      const mayBeChance = mayRepeat && !isProven
      const wasAwayOnly = mayRepeat && wasAway === true && away < maxAway
      const mayHelp = isUnheard || mayBeChance || wasAwayOnly
      // Lost alone, it may itself have brought the target down; that soon rules out chance.
      const looks = response || isUnheard || alone || !mayBeChance
      next = looks && wasAway === undefined ? 'look' : mayHelp ? 'again' : 'over'
    }
    if (next !== 'again' && one === tries.at(-1)) break
    if (isStale) {
      unanswered ??= one
      fresh = true
    } else if (isOfService) throttled++
    else {
      if (!isUnheard) unanswered = one
      if (response) ofGateway++
      else if (!isUnheard) {
        lost++
        // A target that allows few connections closes new ones: retry alone on an open connection, then on a new one.
        fresh = !isReset || alone || one.previousRequest !== undefined
        isResent ||= fresh
      }
      if (isUnheard || wasAway) away++
      alone ||= response !== undefined || isUnheard || isReset || wasAway === true
    }
  }
  const how = { fresh, alone: alone || throttled >= triesBeside, attempt: throttled }
  return { next, how, unanswered, isResent, lost, ofGateway }
}
