import {
  describeResponse,
  type Exchange,
  onReusedConnection,
  rerunLine,
  type Run,
} from '../engine/index.ts'
import { curlOfBoth } from '../recording/index.ts'
import type { Failure } from '../report/index.ts'

export function blame(run: Run, wrong: Exchange, fresh: Exchange): void {
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
    first.request.body === ''
      ? ''
      : '; does the server read the body of the first request completely?'
  const failure: Failure = {
    message: `${first.request.method} ${first.request.url}, and then ${wrong.recorded().request.method} ${wrong.recorded().request.url} on the same connection`,
    expected: `the second request is answered as on a fresh connection: ${describeResponse(fresh)}`,
    actual: `${onReusedConnection}${describeResponse(wrong)}${unread}`,
    onlyName: false,
    connection: 'reused',
    seed: run.options.seed,
    rerun: rerunLine(run.options, ...ids),
    exchange: { ...wrong.recorded(), curl: curlOfBoth(first, wrong.recorded()) },
  }
  poisoned.set(id, [failure])
}
