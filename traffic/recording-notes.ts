import type { Report } from '../harness/report/model.ts'
import type { Counts } from './judge-recording.ts'
import { pathUnder } from './base-url.ts'
import type { RecordedEntry } from './recorded-entry.ts'

/** How much of the recording was judged, and what was passed over: `31 of 40 entries judged; ignored: 9 to other addresses` */
export function countsLine({ judged, ...counts }: Counts, { target }: Report): string {
  const { otherAddresses, otherMethods, unanswered, absent, unknown } = counts
  const ignored = [
    [otherAddresses, `to addresses not under ${target.baseUrl}/v1/`],
    [otherMethods, 'of methods other than GET and POST'],
    [unanswered, 'without an answer'],
    [absent, 'to operations declared as not served or removed'],
    [unknown, 'to paths that are no operation'],
  ] as const
  const parts = ignored.flatMap(([number, what]) => (number > 0 ? [`${number} ${what}`] : []))
  const all = judged + otherAddresses + otherMethods + unanswered + absent + unknown
  return `${judged} of ${all} entries judged${parts.length > 0 ? `; ignored: ${parts.join(', ')}` : ''}`
}

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
