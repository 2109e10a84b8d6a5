import { errorNames } from '../catalogue/errors.ts'
import { performance } from 'node:perf_hooks'
import { type Exchange, responseOf } from '../harness/engine/index.ts'
import {
  curlOf,
  recordBody,
  recordHead,
  recordHeaders,
  type Redactor,
  type Shown,
} from '../harness/recording/index.ts'
import type { FailureExchange, RecordedRequest } from '../harness/report/index.ts'
import { operationAt } from './base-url.ts'
import type { HarBody, RecordedEntry } from './recorded-entry.ts'
import { shownHeader, shownUrl, withoutSecretMembers } from './secrets.ts'

/** An answered entry in the form that answers of a run are judged in. */
export interface RecordedHttpResponse extends Exchange {
  readonly response: NonNullable<Exchange['response']>
  readonly entry: RecordedEntry
}

function queryOf(url: string): Record<string, string[]> {
  const query = URL.canParse(url) ? new URL(url).searchParams : new URLSearchParams()
  return Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)]))
}

/** @param path under the base URL */
export function recordResponse(
  entry: RecordedEntry,
  path: string,
  redactor: Redactor,
): RecordedHttpResponse {
  const place = operationAt(entry.method, path)
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
      query: queryOf(entry.url),
      headers: entry.requestHeaders,
      credential: { shown: '', full: false },
      ...(entry.requestBody.state === 'whole' && { body: entry.requestBody.bytes }),
      effect: 'none',
    },
    purpose: {
      requirement: null,
      role: 'probe',
      // What is not known whole can be no envelope; nor need an answer be one if the interface has no operation.
      ...(place === undefined || body.state !== 'whole'
        ? { skipJudging: 'envelope' as const }
        : {}),
    },
    response: responseOf(
      {
        ...{ kind: 'answer', status, headers, sentAt, endedAt },
        ...{ body: body.bytes, cut: body.state !== 'whole' },
      },
      errorNames,
    ),
    throttled: false,
    // Only the few that are shown are looked through for keys.
    get recorded() {
      return (recorded ??= recordEntry(entry, redactor))
    },
    sentAt,
    endedAt,
  }
}

/** An entry as reports show it: keys removed, bodies cut. */
export function recordEntry(entry: RecordedEntry, redactor: Redactor): FailureExchange {
  const shown: Shown = (line) => ({
    name: redactor.text(line.name.toLowerCase()),
    value: shownHeader(line, redactor),
  })
  const headers = recordHeaders(entry.requestHeaders, shown)
  const request: RecordedRequest = {
    method: redactor.text(entry.method),
    url: shownUrl(entry.url, redactor),
    headers,
    ...recordHarBody(entry.requestBody, redactor),
  }
  const body = recordHarBody(entry.body, redactor)
  const response = { status: entry.status, headers: recordHead(entry.headers, shown), ...body }
  return { request, response, curl: curlOf(request, new Set(['authorization'])) }
}

/** A body that the recording holds in part is shown as such: its length and, if it is known, its SHA-256. */
function recordHarBody({ state, bytes, length, sha256 }: HarBody, redactor: Redactor) {
  const recorded = recordBody(bytes, (text) => redactor.text(withoutSecretMembers(text)))
  if (state === 'whole') return recorded
  const { bodySha256: _ofTheRest, ...rest } = recorded
  return {
    ...rest,
    ...(length === undefined ? {} : { bodyLength: length }),
    ...(sha256 === undefined ? {} : { bodySha256: sha256 }),
  }
}
