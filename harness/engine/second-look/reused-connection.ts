import { curlOfBoth } from '../../recording/index.ts'
import type { Failure } from '../../report/index.ts'
import { describeResponse, onReusedConnection, rerunLine } from '../describe.ts'
import {
  differing,
  type Exchange,
  isNobodys,
  isRight,
  isWrong,
  kindOfFailure,
  mayRepeat,
  type PreviousRequest,
} from '../exchange.ts'
import { requestOf } from '../request.ts'
import type { Run } from '../run.ts'
import type { SendAgain } from './later.ts'

/**
 * Whether each answer has to be wrong, on a connection that the request before has just used, or right, on a fresh one: an order
 * that neither replicas in turn nor a fault in one of so many answers show.
 */
const wrongBehind = { repeatable: [true, true, false, true], once: [true] } as const

/**
 * Gives the exchange that is to be judged. Right on a fresh connection and wrong again after the request before it: that one is to
 * blame, its row fails, and the right answer counts. Else the answers differ, and the wrong one is judged.
 */
export async function confirmOnFreshConnection(
  run: Run,
  exchange: Exchange,
  again: SendAgain,
): Promise<Exchange> {
  const isRepeatable = mayRepeat(exchange)
  // What is no answer of the service had no effect, most likely.
  if (!isRepeatable && exchange.response && !isNobodys(exchange.response)) return exchange
  const fresh = await again({ fresh: true })
  if (isWrong(fresh)) run.findings.wrongAnywhere.add(kindOfFailure(exchange))
  if (!isRight(fresh)) return exchange
  const previous = exchange.previousRequest!
  const sent = [exchange, fresh]
  for (const isBehind of wrongBehind[isRepeatable ? 'repeatable' : 'once']) {
    const after = isBehind ? await repeated(run, previous) : undefined
    if (isBehind && !after) return exchange
    const other = await again(after ? { after } : { fresh: true })
    sent.push(other)
    const fits = isBehind ? other.previousRequest && isWrong(other) : isRight(other)
    if (!fits) return { ...exchange, finding: differing(sent.map(describeResponse)) }
  }
  blame(run, exchange, fresh)
  return fresh
}

/** The request once more; undefined if it cannot be sent at will, as one that starts a job. */
async function repeated(
  run: Run,
  { again, probe, purpose }: PreviousRequest,
): Promise<PreviousRequest | undefined> {
  const { effect, operation } = probe
  if (effect === 'none') return requestOf(run, probe, purpose)
  const goesOn = effect === 'generates' && run.api.operation(operation!).creates !== undefined
  return again && !goesOn ? requestOf(run, await again(), purpose) : undefined
}

/** Notes the failure of the request that left the connection behind. */
function blame(run: Run, wrong: Exchange, fresh: Exchange): void {
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
  if (!recorded || poisoned.has(id)) return
  const first = recorded()
  const ids = [id, ...(wrong.purpose.requirement === null ? [] : [wrong.purpose.requirement])]
  const unread =
    first.request.body === '' ? '' : '; is the body of the first request read to its end?'
  const failure: Failure = {
    message: `${first.request.method} ${first.request.url}, and then ${wrong.recorded.request.method} ${wrong.recorded.request.url} on the same connection`,
    expected: `the second request is answered as on a fresh connection: ${describeResponse(fresh)}`,
    actual: `${onReusedConnection}${describeResponse(wrong)}${unread}`,
    familyOnly: false,
    connection: 'reused',
    seed: run.options.seed,
    rerun: rerunLine(run.options, ...ids),
    exchange: { ...wrong.recorded, curl: curlOfBoth(first, wrong.recorded) },
  }
  poisoned.set(id, [failure])
}
