import type { Given, Client } from '../client/index.ts'
import { granting, ofEveryResponse } from '../../catalogue/catalogue.ts'
import {
  describeResponse,
  type Exchange,
  onReusedConnection,
  type PreviousRequest,
  rerunLine,
} from '../journal/index.ts'
import { curlOfBoth, type FailureExchange } from '../recording/index.ts'
import type { Failure } from '../report/index.ts'

/** The requirement of a request that spoiled the answer to another. */
function rowOf(given: Given, request: PreviousRequest, wrong: Exchange): string {
  const granted = request.probe.operation === null ? null : granting(request.probe.operation).id
  const isJudged = (id: string | null): boolean => {
    const entry = id === null ? undefined : given.plan.get(id)
    return entry?.run === true && entry.leftOut === undefined
  }
  const own = [request.purpose.about ?? request.purpose.requirement, granted].find(isJudged)
  return own ?? wrong.purpose.requirement ?? granted ?? ofEveryResponse
}

/** The failures of requests that spoiled their connections, by requirement. */
export function spoilersBlamed(client: Client, given: Given): Map<string, Failure> {
  const found = new Map<string, Failure>()
  for (const { wrong, fresh } of client.findings.spoiled.values()) {
    const before = wrong.previousRequest!
    if (!before.recorded) continue
    const first = before.recorded()
    const { id, failure } = blamed(given, before, wrong, first)
    if (found.has(id)) continue
    const unread =
      first.request.body === ''
        ? ''
        : '; does the server read the body of the first request completely?'
    found.set(id, {
      ...failure,
      message: `${failure.message} on the same connection`,
      expected: `the second request is answered as on a fresh connection: ${describeResponse(fresh)}`,
      actual: `${onReusedConnection}${describeResponse(wrong)}${unread}`,
      connection: 'reused',
    })
  }
  return found
}

/** The failure of a request after which the next one is answered wrongly, on whatever connection. */
export function blamed(
  given: Given,
  before: PreviousRequest,
  wrong: Exchange,
  first: FailureExchange,
): { readonly id: string; readonly failure: Failure } {
  const id = rowOf(given, before, wrong)
  const ids = [id, ...(wrong.purpose.requirement === null ? [] : [wrong.purpose.requirement])]
  const next = wrong.recorded()
  const failure: Failure = {
    message: `${first.request.method} ${first.request.url}, and then ${next.request.method} ${next.request.url}`,
    expected: 'the second request is answered as it is without the first',
    actual: `wrong only after the first one: ${describeResponse(wrong)}`,
    onlyName: false,
    seed: given.options.seed,
    rerunIds: [...new Set(ids)],
    rerun: rerunLine(given.options, ...ids),
    exchange: { ...next, curl: curlOfBoth(first, next) },
  }
  return { id, failure }
}
