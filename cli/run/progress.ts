import type { Colors } from 'picocolors/types'
import { catalogue } from '../../catalogue/catalogue.ts'
import type { RequirementResult } from '../../harness/report/model.ts'
import { canRewrite } from '../output/colors.ts'

/** What a person sees while the run goes on. */
export interface Progress {
  result(result: RequirementResult): void
  done(): void
}

/** A line that is rewritten on a terminal that can; nothing elsewhere, for there only the report counts. */
export async function showProgress(stream: NodeJS.WriteStream, colors: Colors): Promise<Progress> {
  if (!canRewrite(stream)) return { result: () => undefined, done: () => undefined }
  const { createLogUpdate } = await import('log-update')
  const line = createLogUpdate(stream)
  let judged = 0
  let failed = 0
  let last = 0
  return {
    result({ outcome, level }) {
      judged++
      if (outcome === 'failed' && level === 'must') failed++
      if (performance.now() - last < 80) return
      last = performance.now()
      const failures = failed > 0 ? colors.red(`, ${failed} failed`) : ''
      line(colors.dim(`judging: ${judged} of ${catalogue.length} requirements`) + failures)
    },
    done() {
      line.clear()
      // Shows the cursor again.
      line.done()
    },
  }
}
