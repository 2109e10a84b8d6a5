import { clearLine, cursorTo } from 'node:readline'
import type { RequirementResult } from '../../harness/report/index.ts'
import { canRewrite } from '../../library/output/say.ts'
import { terminalText } from '../../reporters/escape.ts'
import { duration } from '../../reporters/view/writing.ts'

/** Milliseconds between two lines: on a terminal, where one line is rewritten, and in a log. */
const everyMs = { terminal: 1000, log: 10_000 }
/** Shortest time between two results that are shown on a terminal, in ms. */
const pauseMs = 80

/**
 * Shows how far a run is: `133 of 302 judged, 2 failed; 12.0 s; now jobs.create`.
 * @param planned the ids to be judged; results of others do not count
 */
export function showProgress(stream: NodeJS.WriteStream, planned: ReadonlySet<string>) {
  const isRewritten = canRewrite(stream)
  const started = performance.now()
  let last = 0
  let judged = 0
  let failed = 0
  let now = 'the first request'
  const clear = (): void => {
    clearLine(stream, 0)
    cursorTo(stream, 0)
  }
  const show = (): void => {
    last = performance.now()
    const failures = failed > 0 ? `, ${failed} failed` : ''
    const text = `conform: ${judged} of ${planned.size} judged${failures}; ${duration(last - started)}; now ${terminalText(now)}`
    if (!isRewritten) return void stream.write(`${text}\n`)
    clear()
    // Some terminals wrap a line that fills the last column.
    stream.write(text.slice(0, (stream.columns || 80) - 1))
  }
  const timer = setInterval(show, isRewritten ? everyMs.terminal : everyMs.log).unref()
  return {
    result({ id, level, operation, outcome }: RequirementResult): void {
      if (planned.has(id)) judged++
      if (outcome === 'failed' && level === 'must') failed++
      now = operation
      if (isRewritten && performance.now() - last >= pauseMs) show()
    },
    done() {
      clearInterval(timer)
      if (isRewritten) clear()
    },
  }
}
