import { base64Digit, base64Offsets } from './encoding.ts'
import type { View } from './view.ts'

const equalsSign = 0x3d

/**
 * A whole key in base64, including the digits that it shares with what is before and after it, and the padding.
 * @param bits the key's bits
 * @param stream which alignment of the key was found
 */
export function withTail(
  view: View,
  [start, end]: readonly [start: number, end: number],
  { bits, stream }: { readonly bits: string; readonly stream: number },
): readonly [start: number, end: number] {
  const head = bits.slice(0, base64Offsets[stream])
  const tail = bits.slice(head.length + 6 * (end - start))
  const from = head !== '' && digitBits(view, start - 1).endsWith(head) ? start - 1 : start
  let to = tail !== '' && digitBits(view, end).startsWith(tail) ? end + 1 : end
  for (let padding = 0; padding < 2 && to < view.length && view.codes[to] === equalsSign; padding++) to++
  return [from, to]
}

/** The six bits of the base64 digit at `at`; empty if there is none. */
function digitBits(view: View, at: number): string {
  const digit = at >= 0 && at < view.length ? base64Digit(view.codes[at] as number) : -1
  return digit < 0 ? '' : digit.toString(2).padStart(6, '0')
}
