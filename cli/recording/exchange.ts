import { performance } from 'node:perf_hooks'
import { type Exchange, HttpResponse } from '../../harness/journal/index.ts'
import {
  curlOf,
  recordBody,
  recordHead,
  recordHeaders,
  type Redactor,
  type Shown,
} from '../../harness/recording/index.ts'
import type { FailureExchange, RecordedRequest } from '../../harness/report/index.ts'
import { operationAt } from './base-url.ts'
import type { HarBody, RecordedEntry } from './entry.ts'
import { shownHeader, shownUrl, withoutSecretMembers } from './secrets.ts'

export interface EntryExchange extends Exchange {
  readonly response: NonNullable<Exchange['response']>
  readonly entry: RecordedEntry
}

export function exchangeOf(entry: RecordedEntry, path: string, redactor: Redactor): EntryExchange {
  const place = operationAt(entry.method, path)
  // An entry without a time is neither before nor after another.
  const sentAt = (entry.startedAt ?? NaN) - performance.timeOrigin
  const endedAt = sentAt + entry.durationMs
  const { status, headers, body } = entry
  const query = new URL(entry.url).searchParams
  let recorded: FailureExchange | undefined
  return {
    entry,
    probe: {
      operation: place?.operation ?? null,
      method: entry.method,
      path: place?.path ?? path,
      params: place?.params ?? {},
      query: Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)])),
      headers: entry.requestHeaders,
      credential: { shown: '', full: false },
      ...(entry.requestBody.state === 'whole' && { body: entry.requestBody.bytes }),
      effect: 'none',
    },
    purpose: {
      requirement: null,
      role: 'probe',
      // A truncated body cannot be an envelope, and answers outside the interface need not be one.
      ...((!place || body.state !== 'whole') && { skipJudging: 'envelope' }),
    },
    response: new HttpResponse({ status, headers, body: body.bytes, cut: body.state !== 'whole' }),
    throttled: false,
    recorded: () => (recorded ??= shownEntry(entry, redactor)),
    sentAt,
    endedAt,
  }
}

export function shownEntry(entry: RecordedEntry, redactor: Redactor): FailureExchange {
  const shown: Shown = (line) => ({
    name: redactor.text(line.name.toLowerCase()),
    value: shownHeader(line, redactor),
  })
  const request: RecordedRequest = {
    method: redactor.text(entry.method),
    url: shownUrl(entry.url, redactor),
    headers: recordHeaders(entry.requestHeaders, shown),
    ...shownBody(entry.requestBody, redactor),
  }
  const { status, headers, body } = entry
  const response = { status, headers: recordHead(headers, shown), ...shownBody(body, redactor) }
  return { request, response, curl: curlOf(request, new Set(['authorization'])) }
}

function shownBody({ state, bytes, length }: HarBody, redactor: Redactor) {
  const recorded = recordBody(bytes, (text) => redactor.text(withoutSecretMembers(text)))
  if (state === 'whole') return recorded
  const { bodySha256: _ofTheRest, ...rest } = recorded
  return { ...rest, ...(length !== undefined && { bodyLength: length }) }
}
