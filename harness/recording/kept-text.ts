import type { View } from './view.ts'

/** The stretches of the run that lie in no kept text; one that is kept in whole has none. */
export function withoutKept(
  view: View,
  start: number,
  end: number,
  kept: readonly string[],
): (readonly [start: number, end: number])[] {
  const taken = kept.flatMap((text) => occurrences(view, start, end, text)).sort(([one], [other]) => one - other)
  const rest: (readonly [number, number])[] = []
  let from = start
  for (const [begins, ends] of taken) {
    if (begins > from) rest.push([from, begins])
    from = Math.max(from, ends)
  }
  if (from < end) rest.push([from, end])
  return rest
}

/** The places of a kept text that share at least one character with the run. */
function occurrences(view: View, start: number, end: number, text: string): (readonly [number, number])[] {
  const from = Math.max(0, start - text.length + 1)
  const around = textOf(view, from, Math.min(view.length, end + text.length - 1))
  const found: (readonly [number, number])[] = []
  for (let at = around.indexOf(text); at >= 0; at = around.indexOf(text, at + 1))
    found.push([from + at, from + at + text.length])
  return found
}

function textOf({ codes }: View, start: number, end: number): string {
  return Buffer.from(codes.buffer, codes.byteOffset + 2 * start, 2 * (end - start)).toString('utf16le')
}
