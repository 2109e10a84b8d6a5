import { recordBody } from '../harness/recording/body.ts'
import { curlOf } from '../harness/recording/curl.ts'
import { recordHead, recordHeaders, type Shown } from '../harness/recording/headers.ts'
import type { Redactor } from '../harness/recording/redactor.ts'
import type { FailureExchange, RecordedRequest } from '../harness/report/model.ts'
import type { HarBody } from './har-body.ts'
import type { RecordedEntry } from './recorded-entry.ts'
import { shownHeader, shownUrl } from './secrets.ts'

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
  return {
    request,
    response: {
      status: entry.status,
      headers: recordHead(entry.headers, shown),
      ...recordHarBody(entry.body, redactor),
    },
    curl: curlOf(request, new Set(['authorization'])),
  }
}

/** A body that the recording holds in part is shown as such: its length and, if it is known, its SHA-256. */
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
