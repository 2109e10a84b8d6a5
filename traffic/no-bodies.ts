import { pathUnder } from './base-url.ts'
import type { RecordedEntry } from './recorded-entry.ts'

/** A warning if no answer of the interface was recorded with its body: little can then be judged. */
export function noBodies(entries: readonly RecordedEntry[], baseUrl: string): string[] {
  const answers = entries.filter(({ status, url }) => status > 0 && isOfInterface(url, baseUrl))
  const withBody = answers.filter(({ body }) => body.state !== 'missing' && body.bytes.length > 0)
  const without = answers.filter(({ body }) => body.state === 'missing')
  if (without.length === 0 || withBody.length > 0) return []
  return [
    'the recording holds no bodies of answers, so only statuses and headers can be judged; ' +
      'record it with content (browsers: "Save all as HAR with content")',
  ]
}

function isOfInterface(url: string, baseUrl: string): boolean {
  return pathUnder(baseUrl, url)?.startsWith('/v1/') === true
}
