import { type Encoded, decode } from './decode.ts'
import { type RawAnswer, type Terms, interrupted } from './exchange.ts'
import { headerValue } from './headers.ts'
import type { NoAnswer, HttpAnswer, HttpResult } from './message.ts'
import type { Reason } from './no-answer.ts'
import { deadlinePassed } from './under-way.ts'

/** Takes the content encoding off. */
export async function readAnswer(raw: RawAnswer, { limit, timeoutMs, signal }: Terms): Promise<HttpResult> {
  const { status, headers, body, cut, before, sentAt, endedAt } = raw
  const encoded: Encoded = { body, cut, encoding: headerValue(headers, 'content-encoding') ?? '' }
  try {
    const decoded = await decode(encoded, limit, signal)
    return { kind: 'answer', status, headers, ...decoded, before, sentAt, endedAt } satisfies HttpAnswer
  } catch {
    return noAnswer(signal.reason === deadlinePassed ? notDecoded(timeoutMs) : interrupted, sentAt)
  }
}

/** No answer, on a connection about which nothing more is known. */
export const noAnswer = ({ cause, message, detail }: Reason, sentAt: number): NoAnswer => ({
  kind: 'no-answer',
  cause,
  message,
  ...(detail && { detail }),
  staleConnection: false,
  sentAt,
  endedAt: performance.now(),
})

const notDecoded = (timeoutMs: number): Reason => ({
  cause: 'timeout',
  message: `the body could not be decoded within ${timeoutMs.toLocaleString('en-US')} ms`,
})
