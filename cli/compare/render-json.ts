import type { Comparison } from '../../harness/report/compare.ts'
import { newlyFailingMusts, suiteNote } from '../../harness/report/compare.ts'
import { json } from '../../reporters/escape/json.ts'

/** The comparison for programs; `newlyFailingMusts` is what `--fail-on-new` goes by. */
export function renderJson(comparison: Comparison): string {
  const note = suiteNote(comparison)
  return `${json(
    {
      format: 'conformance-comparison/1',
      ...comparison,
      newlyFailingMusts: newlyFailingMusts(comparison),
      notes: note === undefined ? [] : [note],
    },
    2,
  )}\n`
}
