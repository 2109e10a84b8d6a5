import type { Report } from '../harness/report/model.ts'
import type { Counts } from './judge-recording.ts'

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
