import { recordBody } from '../../harness/record/body.ts'
import { curlOf } from '../../harness/record/curl.ts'
import type { Redactor } from '../../harness/redact/redactor.ts'
import type { HeaderLine } from '../../harness/wire/message.ts'
import type { FailureExchange, RecordedHeaders, RecordedRequest } from '../../spec/report.ts'
import type { HarBody } from './har-body.ts'
import type { RecordedEntry } from './recorded-entry.ts'
import { shownHeader, shownUrl } from './secrets.ts'

/** An entry as it stands in reports: keys removed, bodies cut. */
export function recordEntry(entry: RecordedEntry, redactor: Redactor): FailureExchange {
  const headers = recordHeaders(entry.requestHeaders, redactor)
  const request: RecordedRequest = {
    method: redactor.text(entry.method),
    url: shownUrl(entry.url, redactor),
    headers,
    ...recordHarBody(entry.requestBody, redactor),
  }
  return {
    request,
    response: {
      status: entry.status,
      headers: recordHeaders(entry.headers, redactor),
      ...recordHarBody(entry.body, redactor),
    },
    curl: curlOf(request, new Set(['authorization'])),
  }
}

function recordHeaders(lines: readonly HeaderLine[], redactor: Redactor): RecordedHeaders {
  const recorded = new Map<string, string>()
  for (const line of lines) {
    const name = redactor.text(line.name.toLowerCase())
    const shown = shownHeader(line, redactor)
    const before = recorded.get(name)
    recorded.set(name, before === undefined ? shown : `${before}, ${shown}`)
  }
  return Object.fromEntries(recorded)
}

/** A body that the recording holds in part is shown as such: its length and, where it is known, its SHA-256. */
function recordHarBody({ state, bytes, length, sha256 }: HarBody, redactor: Redactor) {
  const recorded = recordBody(bytes, (text) => redactor.text(text))
  if (state === 'whole') return recorded
  const { bodySha256: _ofTheRest, ...rest } = recorded
  return {
    ...rest,
    ...(length === undefined ? {} : { bodyLength: length }),
    ...(sha256 === undefined ? {} : { bodySha256: sha256 }),
  }
}
