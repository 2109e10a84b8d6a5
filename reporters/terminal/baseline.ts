import type { Colors } from 'picocolors/types'
import type { BaselineSummary } from '../../harness/report/model.ts'
import { terminalText } from '../escape/terminal.ts'

/** What the baseline expected, and where it went stale. */
export function baselineLines(baseline: BaselineSummary | null, colors: Colors): string[] {
  if (baseline === null) return []
  const { expected, stale, notExercised } = baseline
  const lines = [
    ...expected.map((id) => `  ${colors.dim('failed as expected')}  ${terminalText(id)}`),
    ...notExercised.map((id) => `  ${colors.dim('not exercised')}       ${terminalText(id)}`),
    ...stale.map(({ id, why }) => `  ${colors.red('stale entry')}         ${terminalText(id)}: ${terminalText(why)}`),
  ]
  if (lines.length === 0) return []
  return [colors.bold(`Baseline ${terminalText(baseline.file)}`), ...lines, '']
}
