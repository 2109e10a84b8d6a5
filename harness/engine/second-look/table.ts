import { type Exchange, isRight } from '../exchange.ts'
import type { Asked } from './asked.ts'
import { isMet, isSettling, pastBlocks, takeTurns, waitUntilSettled } from './later.ts'
import { confirmOnFreshConnection, mayBePoisoned } from './reused-connection.ts'

/** Something else than its request that may have made an answer wrong, and how that is found out. */
interface Suspicion {
  isRaised(asked: Asked, exchange: Exchange): boolean
  /** Asks again with that one circumstance changed; gives the exchange that is to be judged. */
  look(asked: Asked, exchange: Exchange): Promise<Exchange>
}

/** Whoever wants it to be granted waits by themselves, and a job may not be there yet: the next reading finds it. */
const isAwaited = ({ purpose, response }: Exchange): boolean =>
  purpose.expects !== undefined &&
  !purpose.isSuccess &&
  !(purpose.role === 'poll' && response?.status === 404)

/** What could not be read as HTTP was sent again; its connection is looked at nevertheless. */
const garbled = ({ unanswered }: Exchange): Exchange | undefined =>
  unanswered?.noResponse?.cause === 'malformed' ? unanswered : undefined

/**
 * | suspicion | what is changed | how often | what it proves |
 * | - | - | - | - |
 * | a guardrail or a model error met it | nothing: these come and go | five tries, eight of a refusal | an answer that is none of them is judged |
 * | an object that was just made is not there yet | time | each second of `settleMs` | the answer after that is judged |
 * | its connection, by what that carried before | a fresh connection | once, and nine or eighteen times to prove it | right on fresh
 *   ones and wrong after that request: that request fails; else the answers differ, and the wrong one is judged |
 * | a limit | nothing else under way, in turn with the request without its fault | three turns | that one granted and this one
 *   throttled each time: its answer is judged |
 * | what the run did meanwhile, or a replica | everything else was sent (`at-end.ts`) | up to four times | right each time: it takes
 *   what came before; now and then: the answers differ |
 */
const suspicions: readonly Suspicion[] = [
  {
    isRaised: (_, exchange) => isMet(exchange),
    look: ({ same }, exchange) => pastBlocks(same, exchange),
  },
  {
    isRaised: ({ run }, exchange) =>
      mayBePoisoned(run, exchange) && isAwaited(exchange) && isSettling(run, exchange),
    look: ({ run, again }, exchange) => waitUntilSettled(run, exchange, () => again({})),
  },
  {
    isRaised({ run }, exchange) {
      const suspect = garbled(exchange) ?? exchange
      const mayAppear = suspect.purpose.role === 'poll' && suspect.response?.status === 404
      const isElsewhere = mayAppear || isMet(suspect) || isSettling(run, suspect)
      return mayBePoisoned(run, suspect) && !isElsewhere
    },
    async look({ run, again }, exchange) {
      const judged = await confirmOnFreshConnection(run, garbled(exchange) ?? exchange, again)
      return garbled(exchange) ? exchange : judged
    },
  },
  {
    isRaised: ({ counterpart }, { throttled }) => throttled && counterpart !== undefined,
    look: takeTurns,
  },
]

/** Looks at an answer that came, one suspicion after the other; gives the exchange that is to be judged. */
export async function lookAgain(asked: Asked, answered: Exchange): Promise<Exchange> {
  let exchange = answered
  for (const { isRaised, look } of suspicions)
    if (isRaised(asked, exchange)) exchange = await look(asked, exchange)
  // An answer is kept for long, and would keep another one.
  if (isRight(exchange)) exchange.previousRequest = undefined
  return exchange
}
