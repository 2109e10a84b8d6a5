import { exclusiveIds } from '../target/index.ts'
import { type Failure, mistakeReason, type RequirementResult } from '../report/index.ts'
import { withFinding } from './describe.ts'
import {
  type Exchange,
  isRight,
  isWrong,
  kindOfFailure,
  type Probe,
  type Purpose,
} from './exchange.ts'
import { NotExercised } from './outcome.ts'
import { probeOf, type Source } from './request.ts'
import { type Outgoing, sendWithPatience } from './retry.ts'
import type { GatedSend, Run } from './run.ts'
import {
  askAtEnd,
  type Asked,
  type AskOptions,
  isHarmless,
  isMet,
  isSettling,
  leavesState,
  pastBlocks,
  waitUntilSettled,
} from './second-look/later.ts'
import { confirmOnFreshConnection } from './second-look/reused-connection.ts'
import { sendOnce } from './send.ts'

/**
 * The way of a request: `gate`, an object that it names allows it; `sendWithPatience`, what asks for patience or was lost is sent
 * again; `sendOnce`, a place under the semaphore, at the rate asked for, then the key of the moment, the socket, the record.
 * What is asked for here is then looked at: an answer that may be wrong for another reason than its request is asked for again.
 */

/** Sends once the hooks of the suites allow it, at once if none has anything to say. */
export function throughGate(
  run: Run,
  probe: Probe,
  purpose: Purpose,
  send: GatedSend,
): Promise<Exchange> {
  for (const hook of run.hooks) {
    const intercepted = hook.intercept?.(run, probe, purpose, (options) =>
      send({ ...options, isGated: true }),
    )
    if (intercepted) return intercepted
  }
  return send()
}

/** Sends it once the object that it names allows it; the request that this was asked for is the first that is sent. */
async function gate(outgoing: Outgoing): Promise<Exchange> {
  const { run, source, purpose } = outgoing
  const first = await probeOf(source)
  let unsent: Probe | undefined = first
  const once = (): Probe | Promise<Probe> => {
    const probe = unsent ?? probeOf(source)
    unsent = undefined
    return probe
  }
  return throughGate(run, first, purpose, (options) =>
    sendWithPatience({ ...outgoing, ...options, source: once }),
  )
}

/**
 * Asks for an answer that can be judged, once the object that the request names allows it.
 * @param options.isHeld whoever asks holds that object, or it names none: nothing is to be waited for
 */
export async function ask(
  run: Run,
  source: Source,
  purpose: Purpose,
  { fresh = false, isHeld = false }: AskOptions & { readonly isHeld?: boolean } = {},
): Promise<Exchange> {
  const outgoing = { run, source, purpose, fresh }
  const same = () => (isHeld ? sendWithPatience : gate)(outgoing)
  const again: Asked['again'] = async (other) => {
    const probe = await probeOf(source)
    const send = () => sendOnce(run, probe, purpose, { ...other, source })
    return isHeld ? send() : throughGate(run, probe, purpose, send)
  }
  return lookAgain({ run, same, again }, await same())
}

/** `ask` by whoever holds the object that the request names. */
export const askHolding = (
  run: Run,
  source: Source,
  purpose: Purpose,
  options: AskOptions = {},
): Promise<Exchange> => ask(run, source, purpose, { ...options, isHeld: true })

/** Something else than its request that may have made an answer wrong, and how that is found out. */
interface Suspicion {
  /** Looked at when everything else was sent, if its answer failed a requirement; else at once. */
  readonly atEnd?: true
  isRaised(asked: Asked, exchange: Exchange): boolean
  /** Asks again with that one circumstance changed; gives the exchange that is to be judged. */
  look(asked: Asked, exchange: Exchange): Promise<Exchange>
}

/** Wrong on a connection that carried another request before, and not known to be wrong on each. */
const mayBePoisoned = ({ findings }: Run, exchange: Exchange): boolean =>
  exchange.previousRequest !== undefined &&
  isWrong(exchange) &&
  !findings.wrongAnywhere.has(kindOfFailure(exchange))

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
 * | its connection, by what that carried before | a fresh connection | once, and four times to prove it | right on fresh ones and
 *   wrong after that request: that request fails; else the answers differ, and the wrong one is judged |
 * | what the run did meanwhile, or a replica | everything else was sent | up to four times | right each time: it takes
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
    atEnd: true,
    isRaised: ({ run }, exchange) => exchange.finding === undefined && isHarmless(run, exchange),
    look: askAtEnd,
  },
]

/** Looks at an answer that came, one suspicion after the other; gives the exchange that is to be judged. */
async function lookAgain(
  asked: Asked,
  answered: Exchange,
  { atEnd = false } = {},
): Promise<Exchange> {
  let exchange = answered
  for (const suspicion of suspicions)
    if ((suspicion.atEnd ?? false) === atEnd && suspicion.isRaised(asked, exchange))
      exchange = await suspicion.look(asked, exchange)
  // An answer is kept for long, and would keep another one.
  if (isRight(exchange)) exchange.previousRequest = undefined
  return exchange
}

/** Above so many failures, one that shows again is not sent any more: most of them are wrong each time. */
const maxAskedOften = 30

/**
 * Sends what failed once more when everything else was sent, each request by itself. Gives the results of which the first
 * failure shows otherwise by then, with what came: it takes what was sent before, or time, or it comes and goes. A quick run
 * has no requests to spare.
 */
export async function sendFailedAgain<R extends RequirementResult>(
  run: Run,
  failed: readonly R[],
): Promise<R[]> {
  if (run.options.depth === 'quick' || run.life.ended) return []
  const isOften = failed.length <= maxAskedOften
  const changed = await Promise.all(
    failed.map((result) =>
      sentAgain(run, result, isOften).catch((error: unknown): R | undefined =>
        error instanceof NotExercised
          ? undefined
          : { ...result, outcome: 'not-exercised', ...mistakeReason(error), failures: [] },
      ),
    ),
  )
  return changed.filter((result) => result !== undefined)
}

async function sentAgain<R extends RequirementResult>(
  run: Run,
  result: R,
  isOften: boolean,
): Promise<R | undefined> {
  const [failure, ...others] = result.failures
  const exchange = failure?.exchange && run.findings.shown.get(failure.exchange)
  // What is sent around a request, or beside it, makes something else of it.
  if (!exchange || exclusiveIds(run.target).has(result.id)) return undefined
  // Asking again tells something only if the failure needs no state that is over by now.
  if ((failure.takes ?? 'object-of-run') !== 'object-of-run') return undefined
  const { probe } = exchange
  // An object that it makes after all is listed and removed like others.
  const mayMake = probe.effect !== 'none' && leavesState(run, probe)
  const purpose = { requirement: result.id, role: 'probe', skipPassive: !mayMake } as const
  const again: Asked['again'] = (options) => sendOnce(run, probe, purpose, options)
  // Such a target locks keys after wrong ones.
  const isFew =
    run.target.limits.credentialProbes === 'few' &&
    run.api.requirement(result.id)?.fault === 'credentials'
  const asked: Asked = {
    run,
    isOften: isOften && !isFew,
    same: () => again({}),
    again,
  }
  const { finding } = await lookAgain(asked, exchange, { atEnd: true })
  if (!finding || finding === exchange.finding) return undefined
  const clean = (text: string): string => run.client.recorder.redact(text)
  const told: Failure =
    finding.kind === 'otherwise-later'
      ? {
          ...failure,
          takes: failure.takes ?? 'earlier-requests',
          later: clean(finding.response),
        }
      : {
          ...failure,
          takes: 'chance',
          actual: clean(withFinding({ ...exchange, finding }, failure.actual)),
        }
  return { ...result, failures: [told, ...others] }
}
