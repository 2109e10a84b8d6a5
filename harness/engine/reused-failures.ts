import type { Failure, FailureExchange } from '../report/model.ts'
import { onReusedConnection } from '../report/reason.ts'
import { answerOf, isGranted, matchPairs, tpeOf } from './answer.ts'
import { describeAnswer, rerunLine, withoutEntities } from './describe.ts'
import type { Exchange, PreviousRequest } from './exchange.ts'
import type { Run } from './run.ts'
import { curlOfBoth } from '../recording/curl.ts'

/** The same request, wrongly answered after another one and correctly on a fresh connection. */
export interface PoisonedConnection {
  readonly previousRequest: PreviousRequest
  readonly wrong: Exchange
  readonly fresh: Exchange
}

/** The failures of the requirement whose request spoiled its connection: the next answer on it, and that request. */
export function failuresOf(
  run: Run,
  id: string,
  first: FailureExchange,
  { previousRequest, wrong, fresh }: PoisonedConnection,
): Failure[] {
  const { method, url } = first.request
  const shared = {
    familyOnly: false,
    seed: run.options.seed,
    rerun: rerunLine(run.options, id, ...(wrong.purpose.requirement === null ? [] : [wrong.purpose.requirement])),
  }
  const next = `${wrong.recorded.request.method} ${wrong.recorded.request.url}`
  const sent = `${method} ${url}, and then ${next} on the same connection`
  const said = `${firstAnswer(previousRequest, first)}, and the second with ${describeAnswer(wrong)}`
  return [
    {
      ...shared,
      message: sent,
      expected: `the second request is answered as on a fresh connection: ${describeAnswer(fresh)}`,
      actual: `${onReusedConnection}${said}${unreadRemark(first, wrong)}`,
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
function firstAnswer({ purpose }: PreviousRequest, { response }: FailureExchange): string {
  if (!response) return 'the first request got no answer'
  const { status, body } = response
  const answer = answerOf({ kind: 'answer', status, headers: [], body: Buffer.from(body), cut: false, ...never })
  const isFine = purpose.expects ? matchPairs(purpose.expects, answer) === 'exact' : isGranted(answer)
  const said = `${status} ${tpeOf(answer) ?? ''}`.trim()
  return isFine ? `the first request was answered correctly (${said})` : `the first request was answered ${said}`
}

/** When a recorded answer came does not matter. */
const never = { sentAt: 0, endedAt: 0 }

/** What a body has to be long at least to be known again, in characters. */
const knownAgain = 8

/** What the server probably did, if the body of the request before shows up as the beginning of the next request. */
function unreadRemark({ request }: FailureExchange, { answer, recorded }: Exchange): string {
  if (request.body === '') return ''
  // The page that shows it may have escaped it.
  const shown = plainText(recorded.response?.body ?? '')
  const beginning =
    request.body.length < knownAgain ? request.body + recorded.request.method : request.body.slice(0, knownAgain)
  const unknown = !answer || ([400, 501].includes(answer.status) && tpeOf(answer) === undefined)
  return unknown || shown.includes(plainText(beginning))
    ? '; the body of the request before was probably left unread: read it before answering, or close the connection'
    : ''
}

/** Quotes as they are, without backslashes. */
function plainText(text: string): string {
  return withoutEntities(text).replaceAll('\\', '')
}
