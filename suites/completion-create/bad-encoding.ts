import { atRole } from '../../harness/checks/roles.ts'
import { condition } from '../../harness/checks/refusals.ts'

/** Stands in the prompt until the bytes take its place. */
const place = 'conform-bad-bytes'

/** Byte sequences that UTF-8 does not have: a lone continuation, a cut sequence, bytes that never occur. */
const sequences: readonly (readonly [string, readonly number[]])[] = [
  ['a lone continuation byte', [0x80]],
  ['a sequence that is cut', [0xc3, 0x28]],
  ['bytes that never occur', [0xff, 0xfe]],
]

/** A prompt that is no UTF-8. */
export const badEncoding = condition(async ({ context, valid, judge }) => {
  for (const [what, bytes] of sequences) {
    const probe = atRole(context.run, await valid(), 'prompt', place)
    const [before = '', after = ''] = String(probe.body).split(place)
    const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
    await judge({ ...probe, body }, `with a valid body, but a prompt in invalid UTF-8 (${what})`)
  }
})
