import type { Report } from '../../harness/report/model.ts'
import { htmlText } from '../escape/html.ts'
import { count } from '../../harness/report/count.ts'
import { duration } from '../view/writing.ts'
import { seedLine } from '../view/run-notes.ts'

/** How the run was made and with what, so that it can be made again, and what the words of this page mean. */
export function runDetails(report: Report): string {
  const { run, suite, target, verdicts } = report
  const rows: [string, string][] = [
    ['Suite', `${suite.name} ${suite.version}`],
    ['Interface', `version ${suite.specVersion}, ${suite.specDigest}`],
    ['Requirements', suite.requirementsDigest],
    ['Target file', target.digest],
    ['Started', run.startedAt],
    [
      'Took',
      `${duration(run.durationMs)}, ${count(run.requests, 'request')}, ${run.throttled} throttled, at most ${run.concurrency} at once`,
    ],
    ['Repeat', run.runs === 0 ? seedLine(report) : `${seedLine(report)}, ${run.runs} cases for each generated refusal`],
    ['Code names', `judged as ${run.tpe}; by exact names ${verdicts.exact}, by family names ${verdicts.family}`],
    ...(run.only.length > 0 ? ([['Only', run.only.join(', ')]] as [string, string][]) : []),
    ...(run.skip.length > 0 ? ([['Left out', run.skip.join(', ')]] as [string, string][]) : []),
  ]
  const list = rows.map(([name, value]) => `<dt>${name}</dt><dd>${htmlText(value)}</dd>`).join('') + created(report)
  return `<section aria-labelledby="run"><h2 id="run">The run</h2><dl class="run">${list}</dl></section>\n${glossary}`
}

/** What the run created, folded: there may be hundreds. */
function created({ run }: Report): string {
  if (run.created.length === 0) return ''
  const items = run.created.map(({ id, name, operation }) => `<li>${htmlText(`${operation} ${name ?? id}`)}</li>`)
  return `<dt>Created</dt><dd><details><summary>${count(items.length, 'object')}</summary><ul class="plain">${items.join('')}</ul></details></dd>`
}

const glossary = `<section aria-labelledby="words"><h2 id="words">What the words mean</h2><dl class="run">
<dt>Conformant</dt><dd>Every required check (must) that applies to this target was made, and passed.</dd>
<dt>Passing</dt><dd>No required check failed, but some were not tested, so nothing is said of those.</dd>
<dt>Non-conformant</dt><dd>At least one required check (must) failed.</dd>
<dt>Not judged</dt><dd>Too little could be sent or was answered for a verdict.</dd>
<dt>Must, should</dt><dd>Required and recommended checks: a should that fails is reported, and decides nothing unless the run is --strict.</dd>
<dt>Not tested</dt><dd>The requirement was not judged in this run; the reason is shown with it. It is not a pass. In files: not-exercised.</dd>
<dt>Not applicable</dt><dd>The target does not offer what the requirement is about, or its condition cannot be brought about there.</dd>
<dt>Control</dt><dd>The same request without the fault, sent so that a refusal is known to be for that fault.</dd>
</dl></section>
`
