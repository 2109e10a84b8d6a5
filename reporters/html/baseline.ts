import type { Report } from '../../harness/report/model.ts'
import { htmlText } from '../escape/html.ts'

/** Where a baseline and the run disagree; nothing if they do not. */
export function baselineNotes({ run }: Report): string {
  if (run.baseline === null) return ''
  const { file, notExercised, stale } = run.baseline
  const lines = [
    ...stale.map(({ id, why }) => `<li><b>Stale entry</b> <code>${htmlText(id)}</code>: ${htmlText(why)}</li>`),
    ...notExercised.map((id) => `<li>Expected to fail, not exercised: <code>${htmlText(id)}</code></li>`),
  ]
  if (lines.length === 0) return ''
  return `<section aria-labelledby="baseline"><h2 id="baseline">Baseline <small>${htmlText(file)}</small></h2><ul class="plain">${lines.join('')}</ul></section>\n`
}
