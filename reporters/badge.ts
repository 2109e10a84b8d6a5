import { makeBadge } from 'badge-maker'
import type { Report, Verdict } from '../harness/report/model.ts'
import { total } from './view/counts.ts'
import { familySentence } from './view/family-names.ts'

const color = {
  conformant: 'brightgreen',
  passing: 'green',
  'non-conformant': 'red',
  'not-judged': 'lightgrey',
} as const satisfies Record<Verdict, string>

/** An SVG badge: the verdict, and how many of the musts that apply have passed; in its description, where the two verdicts differ. */
export function renderBadge(report: Report): string {
  const { must } = report.summary
  const coverage = `${must.passed}/${total(must) - must.notApplicable}`
  const badge = makeBadge({
    label: 'conformance',
    message: report.verdict === 'not-judged' ? report.verdict : `${report.verdict} ${coverage}`,
    color: color[report.verdict],
    style: 'flat',
  })
  const note = familySentence(report)
  return note === undefined ? badge : badge.replace('</title>', `</title><desc>${note}</desc>`)
}
