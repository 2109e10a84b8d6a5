import { createRequire } from 'node:module'
import type { Report } from '../harness/report/index.ts'
import { leftOutOf, leftOutWords, total, standingOf, type Tone } from './view/standing.ts'

const colors = { good: 'brightgreen', warning: '#9a6700', bad: 'red' } as const satisfies Record<
  Tone,
  string
>

/**
 * An SVG badge: the verdict with its mode, the passed share of applicable required checks, and what is excused or not
 * served.
 */
export function renderBadge(report: Report): string {
  // Loaded on demand.
  const { makeBadge } = createRequire(import.meta.url)(
    'badge-maker',
  ) as typeof import('badge-maker')
  const isJudged = report.verdict !== 'not-judged'
  return makeBadge({
    label: 'conformance',
    message: isJudged ? messageOf(report) : report.verdict,
    color: isJudged ? colors[standingOf(report).tone] : 'lightgrey',
    style: 'flat',
  })
}

function messageOf(report: Report): string {
  const { must } = report.summary
  return [
    `${standingOf(report).word.toLowerCase()} ${must.passed}/${total(must) - must.notApplicable}`,
    ...leftOutWords(leftOutOf(report)),
  ].join(', ')
}
