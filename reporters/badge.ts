import { makeBadge } from 'badge-maker'
import type { Report, Verdict } from '../spec/report.ts'
import { total } from './view/counts.ts'

const color = {
  conformant: 'brightgreen',
  passing: 'green',
  'non-conformant': 'red',
  'not-judged': 'lightgrey',
} as const satisfies Record<Verdict, string>

/** An SVG badge: the verdict, and how many of the musts that apply have passed. */
export function renderBadge(report: Report): string {
  const { must } = report.summary
  const coverage = `${must.passed}/${total(must) - must.notApplicable}`
  return makeBadge({
    label: 'conformance',
    message: report.verdict === 'not-judged' ? report.verdict : `${report.verdict} ${coverage}`,
    color: color[report.verdict],
    style: 'flat',
  })
}
