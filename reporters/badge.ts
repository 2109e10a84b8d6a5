import { createRequire } from 'node:module'
import type { Report } from '../harness/report/index.ts'
import { type Standing, standingOf, type Tone } from './view/standing.ts'
import { leftOutOf, leftOutWords } from './view/excused.ts'
import { total } from './view/groups.ts'
import { operations } from '../catalogue/operations.ts'

function operationsJudged({ requirements, run }: Report): string | undefined {
  const judged = operations.filter(({ id }) =>
    requirements.some(
      ({ operation, outcome }) =>
        operation === id && (outcome === 'passed' || outcome === 'failed'),
    ),
  )
  const isAbsent = operations.some(({ id }) => {
    const own = requirements.filter(({ operation }) => operation === id)
    return own.length > 0 && own.every(({ outcome }) => outcome === 'not-applicable')
  })
  if (run.notServed.length === 0 && !isAbsent) return undefined
  return `${judged.length} of ${operations.length} operations`
}

const colors = { good: 'brightgreen', warning: '#9a6700', bad: 'red' } as const satisfies Record<
  Tone,
  string
>

/**
 * An SVG badge: the verdict with its mode, the passed share of applicable required checks, what is excused or not
 * served, and the number of judged operations if some are not.
 */
export function renderBadge(report: Report): string {
  // Loaded on demand.
  const { makeBadge } = createRequire(import.meta.url)(
    'badge-maker',
  ) as typeof import('badge-maker')
  const standing = standingOf(report)
  return makeBadge({
    label: 'conformance',
    message: messageOf(report, standing),
    color: report.verdict === 'not-judged' ? 'lightgrey' : colors[standing.tone],
    style: 'flat',
  })
}

function messageOf(report: Report, standing: Standing): string {
  if (report.verdict === 'not-judged') return report.verdict
  const { must } = report.summary
  const coverage = `${standing.word.toLowerCase()} ${must.passed}/${total(must) - must.notApplicable}`
  const judged = operationsJudged(report)
  return [
    coverage,
    ...leftOutWords(leftOutOf(report)),
    ...(judged === undefined ? [] : [judged]),
  ].join(', ')
}
