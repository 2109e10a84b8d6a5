import { makeBadge } from 'badge-maker'
import { operations } from '../catalogue/operations.ts'
import type { Report } from '../harness/report/index.ts'
import { leftOutOf, leftOutWords, standingOf, type Tone } from './view/standing.ts'

const colors = { good: 'brightgreen', warning: '#9a6700', bad: 'red' } as const satisfies Record<
  Tone,
  string
>

/**
 * An SVG badge: the verdict with its mode, the passed share of applicable required checks, what is excused or not
 * served, the number of judged operations if some are not, and whether it was interrupted.
 */
export function renderBadge(report: Report): string {
  const isJudged = report.verdict !== 'not-judged'
  const message = isJudged ? messageOf(report) : report.verdict
  return makeBadge({
    label: 'conformance',
    message: report.run.interrupted ? `${message}, interrupted` : message,
    color: isJudged ? colors[standingOf(report).tone] : 'lightgrey',
    style: 'flat',
  })
}

function messageOf(report: Report): string {
  const { must } = report.summary
  return [
    `${standingOf(report).word.toLowerCase()} ${must.passed}/${must.passed + must.failed + must.notExercised}`,
    ...leftOutWords(leftOutOf(report)),
    ...judgedOperations(report),
  ].join(', ')
}

function judgedOperations(report: Report): string[] {
  const all = operations.map((operation) =>
    report.requirements.flatMap((one) => (one.operation === operation.id ? one.outcome : [])),
  )
  const isAbsent = (of: readonly string[]): boolean =>
    of.length > 0 && of.every((one) => one === 'not-applicable')
  if (report.run.notServed.length === 0 && !all.some(isAbsent)) return []
  const judged = all.filter((of) => of.some((one) => one === 'passed' || one === 'failed'))
  return [`${judged.length} of ${operations.length} operations`]
}
