import {
  differing,
  type Exchange,
  isNobodys,
  isRight,
  isWrong,
  mayRepeat,
  type PreviousRequest,
} from '../exchange.ts'
import { curlOfBoth, withoutEntities } from '../../recording/index.ts'
import type { Failure, FailureExchange } from '../../report/index.ts'
import { isGranted, tpeOf, responseOf } from '../response.ts'
import { matchPairs } from '../pairs.ts'
import type { SendAgain } from './asked.ts'
import { proves, trialOfPrevious, trialOfRequest, variesOf } from './connection-trial.ts'
import { describeResponse, rerunLine, onReusedConnection } from '../describe.ts'
import { forLiveness, livenessProbe, requestOf } from '../request.ts'
import { perRun, type Run } from '../run.ts'

/** Failures of requests that left a connection behind on which the next answer was wrong: by the requirement they were sent for. */
export const poisonedConnections = perRun(() => new Map<string, Failure[]>())

/** Answers that were wrong for what their connection had carried before: no requirement is judged by them. */
export const poisonedResponses = perRun(() => new WeakSet<object>())

/** Answers that were as wrong on a fresh connection: nothing is to be learned from the next one of their kind. */
const provenOf = perRun(() => new Set<string>())

/** True for an answer that is wrong on a connection that carried another request before, and that is not known to be wrong on each. */
export function mayBePoisoned(run: Run, exchange: Exchange): boolean {
  return (
    exchange.previousRequest !== undefined &&
    isWrong(exchange) &&
    !provenOf(run).has(kindOfFailure(exchange))
  )
}

function kindOfFailure({ purpose, probe, response }: Exchange): string {
  return `${purpose.requirement ?? probe.operation} ${response?.status}`
}

/**
 * Gives the exchange that is to be judged. If the answer is right on fresh connections and wrong after the same previous request,
 * time after time, that request is to blame, and the right answer counts. If not, the answers differ by replica or at random, and
 * the wrong one is judged.
 */
export async function confirmOnFreshConnection(
  run: Run,
  exchange: Exchange,
  again: SendAgain,
): Promise<Exchange> {
  const kind = kindOfFailure(exchange)
  if (!mayRepeat(exchange)) {
    const right = await afterProof(run, exchange, again)
    if (!right) provenOf(run).add(kind)
    return right ?? exchange
  }
  const fresh = await again({ fresh: true })
  if (isWrong(fresh)) provenOf(run).add(kind)
  if (!isRight(fresh)) return exchange
  return (
    (await rememberingKey(run, exchange, fresh, again)) ?? attributed(run, exchange, fresh, again)
  )
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
  const { proven, sent } = await proves(run, trialOfRequest(run, showing, again)!, fresh)
  const shown = sent.find(({ previousRequest }) => previousRequest)?.previousRequest?.recorded
  if (!proven || !shown) return undefined
  return {
    ...exchange,
    recorded: { ...recorded, curl: curlOfBoth(shown(), recorded) },
    finding: { kind: 'remembers-key', fresh: describeResponse(fresh) },
  }
}

/** An answer to a creation of several at once that no service gives: only what its connection carried before may explain it. */
export async function lookAtCreation(
  run: Run,
  exchange: Exchange,
  again: SendAgain,
): Promise<void> {
  const { previousRequest, response } = exchange
  if (previousRequest && response && isNobodys(response)) await afterProof(run, exchange, again)
}

/** A request that may have had its effect is sent again only if its connection is proven to have been unusable. */
async function afterProof(
  run: Run,
  exchange: Exchange,
  again: SendAgain,
): Promise<Exchange | undefined> {
  const previous = exchange.previousRequest!
  const trial = trialOfPrevious(run, previous)
  if (!trial || !(await proves(run, trial, await trial.alone())).proven) return undefined
  const fresh = await again({ fresh: true })
  poisonedResponses(run).add(exchange.response ?? exchange)
  attribute(run, previous, { wrong: exchange, fresh })
  return fresh
}

/** The right answer, if the previous request is proven to be to blame; else the wrong one, with all that were given. */
async function attributed(
  run: Run,
  exchange: Exchange,
  fresh: Exchange,
  again: SendAgain,
): Promise<Exchange> {
  const previous = exchange.previousRequest!
  const isOnce = exchange.probe.effect !== 'none'
  const trial = isOnce ? trialOfPrevious(run, previous) : trialOfRequest(run, previous, again)
  const { proven, sent } = trial
    ? await proves(run, trial, isOnce ? await trial.alone() : fresh)
    : { proven: false, sent: [fresh] }
  if (proven) {
    poisonedResponses(run).add(exchange.response ?? exchange)
    attribute(run, previous, { wrong: exchange, fresh })
    return fresh
  }
  variesOf(run).seen = true
  const all = [exchange, ...(isOnce ? [fresh] : sent)]
  return { ...exchange, finding: differing(all.map(describeResponse)) }
}

function isJudged({ plan }: Run, id: string): boolean {
  const entry = plan.get(id)
  return entry?.run === true && entry.leftOut === undefined
}

function attribute(
  run: Run,
  previousRequest: PreviousRequest,
  { wrong, fresh }: Pick<PoisonedConnection, 'wrong' | 'fresh'>,
): void {
  const { operation } = previousRequest.probe
  const own = [
    previousRequest.purpose.about ?? previousRequest.purpose.requirement,
    operation === null ? null : run.api.granted(operation).id,
  ]
  const judged = own.find((id) => id !== null && isJudged(run, id)) ?? wrong.purpose.requirement
  const id = judged ?? (operation === null ? run.api.anyResponse : run.api.granted(operation).id)
  const failures = poisonedConnections(run).get(id) ?? []
  poisonedConnections(run).set(id, failures)
  if (failures.length > 0 || !previousRequest.recorded) return
  failures.push(
    ...failuresOf(run, id, previousRequest.recorded(), { previousRequest, wrong, fresh }),
  )
}

/** Request that is answered wrongly after another one, and correctly on a fresh connection. */
interface PoisonedConnection {
  readonly previousRequest: PreviousRequest
  readonly wrong: Exchange
  readonly fresh: Exchange
}

/** The failures of the requirement whose request spoiled its connection: the next answer on it, and that request. */
function failuresOf(
  run: Run,
  id: string,
  first: FailureExchange,
  { previousRequest, wrong, fresh }: PoisonedConnection,
): Failure[] {
  const { method, url } = first.request
  const shared = {
    familyOnly: false,
    seed: run.options.seed,
    rerun: rerunLine(
      run.options,
      id,
      ...(wrong.purpose.requirement === null ? [] : [wrong.purpose.requirement]),
    ),
  }
  const next = `${wrong.recorded.request.method} ${wrong.recorded.request.url}`
  const sent = `${method} ${url}, and then ${next} on the same connection`
  const said = `${firstResponse(run, previousRequest, first)}, and the second with ${describeResponse(wrong)}`
  return [
    {
      ...shared,
      message: sent,
      expected: `the second request is answered as on a fresh connection: ${describeResponse(fresh)}`,
      actual: `${onReusedConnection}${said}${unreadRemark(first, wrong)}`,
      connection: 'reused',
      exchange: { ...wrong.recorded, curl: curlOfBoth(first, wrong.recorded) },
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
  const { status, body } = shown
  const received = {
    kind: 'answer',
    status,
    headers: [],
    body: Buffer.from(body),
    cut: false,
    ...never,
  } as const
  const response = responseOf(received, api.errors)
  const isFine = purpose.expects
    ? matchPairs(purpose.expects, response) === 'exact'
    : isGranted(response)
  const said = `${status} ${tpeOf(response) ?? ''}`.trim()
  return isFine
    ? `the first request was answered correctly (${said})`
    : `the first request was answered ${said}`
}

/** When a recorded answer came does not matter. */
const never = { sentAt: 0, endedAt: 0 }

/** Least length of a body that is known again, in characters. */
const knownAgain = 8

/** Tells what the server probably did, if the body of the request before shows up as the beginning of the next request. */
function unreadRemark({ request }: FailureExchange, { response, recorded }: Exchange): string {
  if (request.body === '') return ''
  // The page that shows it may have escaped it.
  const shown = plainText(recorded.response?.body ?? '')
  const beginning =
    request.body.length < knownAgain
      ? request.body + recorded.request.method
      : request.body.slice(0, knownAgain)
  const unknown =
    !response || ([400, 501].includes(response.status) && tpeOf(response) === undefined)
  return unknown || shown.includes(plainText(beginning))
    ? '; the body of the request before was probably left unread: read it before answering, or close the connection'
    : ''
}

/** Quotes as they are, without backslashes. */
function plainText(text: string): string {
  return withoutEntities(text).replaceAll('\\', '')
}
