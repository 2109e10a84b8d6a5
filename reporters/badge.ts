import { createRequire } from 'node:module'
import type { Report, Verdict } from '../harness/report/model.ts'
import { total } from './view/counts.ts'
import { familySentence } from './view/family-names.ts'
import { operationsJudged, verdictName } from './view/verdict-name.ts'

const color = {
  conformant: 'brightgreen',
  passing: 'green',
  'non-conformant': 'red',
  'not-judged': 'lightgrey',
} as const satisfies Record<Verdict, string>

/**
 * An SVG badge: the verdict with its mode, how many of the musts that apply have passed, and how many operations were judged if
 * some are not served; in its description, how the two verdicts differ.
 */
export function renderBadge(report: Report): string {
  // Loaded when a badge is drawn: other formats do not need it.
  const { makeBadge } = createRequire(import.meta.url)('badge-maker') as typeof import('badge-maker')
  const badge = makeBadge({
    label: 'conformance',
    message: messageOf(report),
    color: color[report.verdict],
    style: 'flat',
  })
  const note = familySentence(report)
  return note === undefined ? badge : badge.replace('</title>', `</title><desc>${note}</desc>`)
}

function messageOf(report: Report): string {
  if (report.verdict === 'not-judged') return report.verdict
  const { must } = report.summary
  const coverage = `${verdictName(report)} ${must.passed}/${total(must) - must.notApplicable}`
  const judged = operationsJudged(report)
  return judged === undefined ? coverage : `${coverage}, ${judged}`
}
