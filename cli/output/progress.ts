import type { Colors } from 'picocolors/types'
import { catalogue } from '../../catalogue/catalogue.ts'
import type { RequirementResult } from '../../harness/report/model.ts'
import { terminalText } from '../../reporters/escape/terminal.ts'
import { duration } from '../../reporters/view/writing.ts'
import { canRewrite } from './say.ts'

/** Progress line that a person sees while a run goes on. */
export interface Progress {
  result(result: RequirementResult): void
  done(): void
}

/** How far a run is. */
interface Standing {
  readonly judged: number
  readonly of: number
  readonly failed: number
  readonly ms: number
  /** Id of the requirement that was judged last. */
  readonly operation: string
}

const BAR = 20
/** ms between two drawings. */
const PAUSE = 80

/** `█████░░ 133/302 · 2 failed · 12 s · jobs.create`, in so many columns at most: what does not fit is left out from its end. */
export function progressLine({ failed, judged, ms, of, operation }: Standing, columns: number, colors: Colors): string {
  const filled = Math.round((Math.min(judged, of) / Math.max(of, 1)) * BAR)
  const time = ms < 60_000 ? `${Math.floor(ms / 1000)} s` : duration(ms)
  const failures = failed > 0 ? [`${failed} failed`] : []
  const parts = [`${judged}/${of}`, ...failures, time, terminalText(operation)]
  // Of the line the last column stays free: some terminals break a full one.
  while (parts.length > 1 && BAR + 1 + parts.join(' · ').length > columns - 1) parts.pop()
  const painted = parts.map((part) => (part === failures[0] ? colors.red(part) : colors.dim(part)))
  return `${'█'.repeat(filled)}${colors.dim('░'.repeat(BAR - filled))} ${painted.join(colors.dim(' · '))}`
}

/** A line that is rewritten on a terminal that can; nothing elsewhere, for there only the report counts. */
export async function showProgress(stream: NodeJS.WriteStream, colors: Colors): Promise<Progress> {
  if (!canRewrite(stream)) return { result: () => undefined, done: () => undefined }
  const { createLogUpdate } = await import('log-update')
  const line = createLogUpdate(stream)
  const started = performance.now()
  const judged = new Set<string>()
  const failed = new Set<string>()
  let last = 0
  return {
    result({ id, level, operation, outcome }) {
      judged.add(id)
      if (outcome === 'failed' && level === 'must') failed.add(id)
      const now = performance.now()
      if (now - last < PAUSE) return
      last = now
      const standing = { judged: judged.size, of: catalogue.length, failed: failed.size, ms: now - started, operation }
      line(progressLine(standing, stream.columns > 0 ? stream.columns : 80, colors))
    },
    done() {
      line.clear()
      // Shows the cursor again.
      line.done()
    },
  }
}
