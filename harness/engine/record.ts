import type { HttpResult } from '../http/index.ts'
import { answersOf } from './answers.ts'
import type { Exchange, PreviousRequest } from './exchange.ts'
import { kindOfRequest } from './grant-rate.ts'
import { isThrottled, responseOf } from './response.ts'
import type { Run } from './run.ts'

/** Records an exchange and shows it to the observers. */
export function recordExchange(run: Run, sent: PreviousRequest, given: HttpResult): Exchange {
  // What is recorded is kept, and would hold the exchange before it on the connection, which holds the one before.
  const { previousTag, ...result } = given
  const { probe, purpose, request } = sent
  const { operation, credential } = probe
  const { requirement, role } = purpose
  const url = run.target.baseUrl + request.path
  const recorded = run.client.recorder.record({
    url,
    request,
    result,
    credential,
    operation,
    requirement,
    role,
  })
  sent.recorded = recorded
  const { sentAt, endedAt } = result
  const exchange: Exchange = {
    probe,
    purpose,
    throttled: false,
    get recorded() {
      return recorded()
    },
    sentAt,
    endedAt,
    ...(previousTag && 'probe' in previousTag
      ? { previousRequest: previousTag as PreviousRequest }
      : {}),
    ...(result.kind === 'answer'
      ? { response: responseOf(result, run.api.errors) }
      : { noResponse: result }),
  }
  run.client.keyWatch.see(exchange)
  if (exchange.response && !isThrottled(exchange.response))
    run.client.throttle.answered(kindOfRequest(probe), sentAt)
  if (!exchange.response) for (const hook of run.hooks) hook.unanswered?.(run, exchange)
  if (result.kind === 'answer') answersOf(run).observe(exchange, result.headers)
  if (exchange.response && !purpose.skipPassive)
    for (const observe of run.client.observers) observe(exchange)
  return exchange
}
