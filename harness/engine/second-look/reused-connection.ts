import {
  differing,
  type Exchange,
  isNobodys,
  isRight,
  isWrong,
  kindOfFailure,
  mayRepeat,
  type PreviousRequest,
  isThrottling,
  kindOf,
} from '../exchange.ts'
import { curlOfBoth, withoutEntities } from '../../recording/index.ts'
import type { Failure, FailureExchange } from '../../report/index.ts'
import { isGranted, tpeOf, responseOf, matchPairs } from '../response.ts'
import type { SendAgain } from './later.ts'
import { describeResponse, rerunLine, onReusedConnection } from '../describe.ts'
import { forLiveness, livenessProbe, requestOf } from '../request.ts'
import type { Run } from '../run.ts'
import { sendOnce } from '../send.ts'

/**
 * Gives the exchange that is to be judged. If the answer is right on fresh connections and wrong after the same previous request,
 * time after time, that request is to blame, and the right answer counts. If not, the answers differ by replica or at random, and
 * the wrong one is judged. A request that may have had its effect is sent again only if its connection is proven to have been
 * unusable.
 */
export async function confirmOnFreshConnection(
  run: Run,
  exchange: Exchange,
  again: SendAgain,
): Promise<Exchange> {
  const fresh = mayRepeat(exchange) ? await again({ fresh: true }) : undefined
  const isOnce = exchange.probe.effect !== 'none'
  if (fresh && isWrong(fresh)) run.findings.wrongAnywhere.add(kindOfFailure(exchange))
  if (fresh && !isRight(fresh)) return exchange
  const remembering = fresh && (await rememberingKey(run, exchange, fresh, again))
  if (remembering) return remembering
  const previous = exchange.previousRequest!
  const { proven, sent } = await isToBlame(run, previous, again, isOnce ? undefined : fresh)
  if (proven) return attribute(run, exchange, fresh ?? (await again({ fresh: true })))
  if (!fresh) {
    run.findings.wrongAnywhere.add(kindOfFailure(exchange))
    return exchange
  }
  run.findings.varies = true
  const all = [exchange, ...(isOnce ? [fresh] : sent)]
  return { ...exchange, finding: differing(all.map(describeResponse)) }
}

/** An answer to a creation of several at once that no service gives: only what its connection carried before may explain it. */
export async function lookAtCreation(
  run: Run,
  exchange: Exchange,
  again: SendAgain,
): Promise<void> {
  const { previousRequest, response } = exchange
  if (!previousRequest || !response || !isNobodys(response)) return
  const { proven } = await isToBlame(run, previousRequest, again, undefined)
  if (proven) attribute(run, exchange, await again({ fresh: true }))
}

/** A request without the full key that is answered as if it had shown it: because an earlier one did, on that connection? */
async function rememberingKey(
  run: Run,
  exchange: Exchange,
  fresh: Exchange,
  again: SendAgain,
): Promise<Exchange | undefined> {
  const { purpose, response, recorded } = exchange
  const requirement = purpose.requirement !== null && run.api.requirement(purpose.requirement)
  if (!requirement || requirement.fault !== 'credentials' || !response || !run.keys.hasFull)
    return undefined
  if (!isGranted(response) && tpeOf(response) === undefined) return undefined
  const showing = await requestOf(run, await livenessProbe(run), forLiveness)
  const { proven, sent } = await isToBlame(run, showing, again, fresh)
  const shown = sent.find(({ previousRequest }) => previousRequest)?.previousRequest?.recorded
  if (!proven || !shown) return undefined
  return {
    ...exchange,
    recorded: { ...recorded, curl: curlOfBoth(shown(), recorded) },
    finding: { kind: 'remembers-key', fresh: describeResponse(fresh) },
  }
}

/** Notes the failure of the request that left the connection behind; gives the right answer. */
function attribute(run: Run, wrong: Exchange, fresh: Exchange): Exchange {
  const { poisoned, poisonedResponses } = run.findings
  poisonedResponses.add(wrong.response ?? wrong)
  const { recorded, probe, purpose } = wrong.previousRequest!
  const granted = probe.operation === null ? null : run.api.granted(probe.operation).id
  const isJudged = (id: string | null): boolean => {
    const entry = id === null ? undefined : run.plan.get(id)
    return entry?.run === true && entry.leftOut === undefined
  }
  const own = [purpose.about ?? purpose.requirement, granted].find(isJudged)
  const id = own ?? wrong.purpose.requirement ?? granted ?? run.api.anyResponse
  const failures = poisoned.get(id) ?? []
  poisoned.set(id, failures)
  if (failures.length === 0 && recorded)
    failures.push(...failuresOf(run, id, recorded(), { wrong, fresh }))
  return fresh
}

function failuresOf(
  run: Run,
  id: string,
  first: FailureExchange,
  { wrong, fresh }: { readonly wrong: Exchange; readonly fresh: Exchange },
): Failure[] {
  const { method, url } = first.request
  const { recorded } = wrong
  const { requirement } = wrong.purpose
  const shared = {
    familyOnly: false,
    seed: run.options.seed,
    rerun: rerunLine(run.options, id, ...(requirement === null ? [] : [requirement])),
  }
  const said = `${firstResponse(run, wrong.previousRequest!, first)}, and the second with ${describeResponse(wrong)}`
  return [
    {
      ...shared,
      message: `${method} ${url}, and then ${recorded.request.method} ${recorded.request.url} on the same connection`,
      expected: `the second request is answered as on a fresh connection: ${describeResponse(fresh)}`,
      actual: `${onReusedConnection}${said}${unreadRemark(first, wrong)}`,
      connection: 'reused',
      exchange: { ...recorded, curl: curlOfBoth(first, recorded) },
    },
    {
      ...shared,
      message: `${method} ${url}, which is the first of two requests on one connection`,
      expected: 'an answer after which the connection can be used for the next request',
      actual: 'the next request on the connection was answered wrongly',
      exchange: first,
    },
  ]
}

/** `the first request was answered correctly (400 BadRequest)` */
function firstResponse(
  { api }: Run,
  { purpose }: PreviousRequest,
  { response: shown }: FailureExchange,
): string {
  if (!shown) return 'the first request got no answer'
  const { status } = shown
  // When a recorded answer came does not matter.
  const never = { cut: false, sentAt: 0, endedAt: 0 }
  const body = Buffer.from(shown.body)
  const response = responseOf({ kind: 'answer', status, headers: [], body, ...never }, api.errors)
  const isFine = purpose.expects
    ? matchPairs(purpose.expects, response) === 'exact'
    : isGranted(response)
  const said = `${status} ${tpeOf(response) ?? ''}`.trim()
  return `the first request was answered ${isFine ? `correctly (${said})` : said}`
}

/** Least length of a body that is known again, in characters. */
const knownAgain = 8

/** Tells what the server probably did, if the body of the request before shows up as the beginning of the next request. */
function unreadRemark({ request }: FailureExchange, { response, recorded }: Exchange): string {
  if (request.body === '') return ''
  // The page that shows it may have escaped it.
  const plain = (text: string): string => withoutEntities(text).replaceAll('\\', '')
  const beginning =
    request.body.length < knownAgain
      ? request.body + recorded.request.method
      : request.body.slice(0, knownAgain)
  const unknown =
    !response || ([400, 501].includes(response.status) && tpeOf(response) === undefined)
  return unknown || plain(recorded.response?.body ?? '').includes(plain(beginning))
    ? '; the body of the request before was probably left unread: read it before answering, or close the connection'
    : ''
}

/** Requests that prove that a request leaves its connection behind in a state that makes the next answer wrong. */
interface Trial {
  alone(): Promise<Exchange>
  /** Sends the request on a connection that the suspected one has just used. */
  pair(): Promise<Exchange>
  isRight(exchange: Exchange): boolean
  isWrong(exchange: Exchange): boolean
  /** The suspected request, as one that may be proven by now to leave its connections unusable. */
  readonly suspect: string
}

/**
 * F: alone, which has to be right; P: the pair, which has to be wrong. Neither replicas that take connections in turn nor a
 * fault in one of so many answers fit this order, and what comes at random fits it in one of 600 times at most.
 */
const order = 'FFFPPFPPF'
/** A run has hundreds of wrong answers to look at: chance has to fit twice, unless the same request was proven before. */
const orderAtFirst = order + order

/**
 * Whether the previous request is proven to be what makes the answer wrong, and what was answered to the requests sent for that.
 * @param fresh the answer on a fresh connection; if there is none, or it may not be sent so often, the previous request is sent
 * after itself: it has to be answered as when it is alone
 */
async function isToBlame(
  run: Run,
  previous: PreviousRequest,
  again: SendAgain,
  fresh: Exchange | undefined,
): Promise<{ proven: boolean; sent: Exchange[] }> {
  const trial = trialOf(run, previous, fresh && again)
  const first = fresh ?? (await trial?.alone())
  const sent = first ? [first] : []
  const { suspects, varies } = run.findings
  if (!trial || !first || !trial.isRight(first)) return { proven: false, sent }
  const kinds = varies || !suspects.has(trial.suspect) ? orderAtFirst : order
  for (const kind of kinds.slice(1)) {
    const exchange = kind === 'F' ? await trial.alone() : await trial.pair()
    sent.push(exchange)
    const fits =
      kind === 'F' ? trial.isRight(exchange) : exchange.previousRequest && trial.isWrong(exchange)
    if (!fits) return { proven: false, sent }
  }
  suspects.add(trial.suspect)
  return { proven: true, sent }
}

/** Undefined if the suspected request cannot be sent again at will: one that starts what goes on (a job) would start an unknown one. */
function trialOf(run: Run, previous: PreviousRequest, again?: SendAgain): Trial | undefined {
  const { probe, purpose } = previous
  const { operation, effect } = probe
  const suspect = `${operation} ${purpose.about ?? purpose.requirement}`
  const goesOn =
    effect === 'generates' &&
    operation !== null &&
    run.api.operation(operation).creates !== undefined
  if (effect !== 'none' && (!previous.again || goesOn)) return undefined
  const repeat = async (): Promise<PreviousRequest> =>
    requestOf(run, effect === 'none' ? probe : await previous.again!(), purpose)
  const send: SendAgain =
    again ?? (async (options) => sendOnce(run, (await repeat()).probe, purpose, options))
  const requests = {
    alone: () => send({ fresh: true }),
    pair: async () => send({ after: await repeat() }),
    suspect,
  }
  if (again) return { ...requests, isRight, isWrong }
  let usual: string | undefined
  return {
    ...requests,
    isRight(exchange) {
      const kind = kindOf(exchange)
      usual ??= kind
      return kind !== undefined && kind === usual
    },
    isWrong: (exchange) =>
      exchange.noResponse?.cause === 'malformed' ||
      (kindOf(exchange) !== usual && !isThrottling(exchange)),
  }
}
