import type { View } from './view.ts'

/** Most characters that a run may share with a key by chance beside a kept text: a slash, a quotation mark. */
const chance = 3

/** True where the run is a kept text or part of one, but for at most a few characters at its ends. */
export function keepsRun(view: View, start: number, end: number, kept: readonly string[]): boolean {
  return kept.some((text) => {
    if (end - start > text.length + chance) return false
    const from = Math.max(0, start - text.length)
    const around = String.fromCharCode(...view.codes.subarray(from, Math.min(view.length, end + text.length)))
    for (let at = around.indexOf(text); at >= 0; at = around.indexOf(text, at + 1)) {
      const outside = Math.max(0, from + at - start) + Math.max(0, end - (from + at + text.length))
      if (outside <= chance) return true
    }
    return false
  })
}
