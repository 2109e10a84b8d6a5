import { performance } from 'node:perf_hooks'
import { answerOf } from '../harness/engine/answer.ts'
import type { Exchange } from '../harness/engine/exchange.ts'
import type { FailureExchange } from '../harness/report/model.ts'
import type { OperationPlace } from './operation-at.ts'
import type { RecordedEntry } from './recorded-entry.ts'

/** An answered entry in the form that answers of a run are judged in. */
export interface RecordedAnswer extends Exchange {
  readonly answer: NonNullable<Exchange['answer']>
  readonly entry: RecordedEntry
}

export interface RecordedOptions {
  /** Undefined: the interface has no such operation. */
  readonly place: OperationPlace | undefined
  /** Path under the base URL. */
  readonly path: string
  readonly record: (entry: RecordedEntry) => FailureExchange
}

export function recordedAnswer(entry: RecordedEntry, { place, path, record }: RecordedOptions): RecordedAnswer {
  const sentAt = (entry.startedAt ?? 0) - performance.timeOrigin
  const endedAt = sentAt + entry.durationMs
  const { status, headers, body } = entry
  let recorded: FailureExchange | undefined
  return {
    entry,
    probe: {
      operation: place?.operation ?? null,
      method: entry.method,
      path: place?.path ?? path,
      params: place?.params ?? {},
      query: {},
      headers: entry.requestHeaders,
      credential: { shown: '', full: false },
      body: entry.requestBody.bytes,
      effect: 'none',
    },
    purpose: {
      requirement: null,
      role: 'probe',
      // What is not known whole can be no envelope; nor need an answer be one if the interface has no operation.
      unjudged: place === undefined || body.state !== 'whole',
    },
    answer: answerOf({
      kind: 'answer',
      status,
      headers,
      body: body.bytes,
      cut: body.state !== 'whole',
      sentAt,
      endedAt,
    }),
    throttled: false,
    // Only the few that are shown are looked through for keys.
    get recorded() {
      return (recorded ??= record(entry))
    },
    sentAt,
    endedAt,
  }
}
