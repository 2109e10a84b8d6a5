import { readBaselineOrNone } from './read-baseline.ts'
import type { Baseline } from './baseline.ts'
import type { Report, TpeMode } from './model.ts'

/** A warning if the baseline is a report of another target: its failures are not known to be this one's. */
export function foreignBaseline({ file, of }: Baseline, target: Report['target']): string[] {
  if (of === undefined || isSameTarget(of, target)) return []
  return [
    `${file} is a report of another target (${of.name}, ${of.baseUrl}); ` +
      `its failures are taken as expected for ${target.name}, ${target.baseUrl}`,
  ]
}

/** The same for a command that names the file only. */
export function foreignBaselineFile(file: string | undefined, mode: TpeMode, target: Report['target']): string[] {
  return file === undefined ? [] : foreignBaseline(readBaselineOrNone(file, mode), target)
}

/** A server of this machine has another port each time it starts. */
function isSameTarget(one: Report['target'], two: Report['target']): boolean {
  if (one.baseUrl === two.baseUrl) return true
  return one.digest === two.digest && isLoopback(one.baseUrl) && isLoopback(two.baseUrl)
}

function isLoopback(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(baseUrl).hostname)
}
