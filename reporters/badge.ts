import { createRequire } from 'node:module'
import type { Report, Verdict } from '../harness/report/model.ts'
import { total } from './view/counts.ts'
import { familySentence } from './view/run-notes.ts'
import { operations } from '../catalogue/operations.ts'

const modes = { exact: 'exact names', family: 'family names' } as const

/** The verdict with its mode, which a verdict by itself never goes without: `conformant (family names)`. */
function verdictName({ run, verdict }: Report): string {
  const quick = run.depth === 'quick' ? ', quick' : ''
  return verdict === 'not-judged' ? verdict : `${verdict} (${modes[run.tpe]}${quick})`
}

/** `13 of 17 operations` if some are declared not served, else undefined. */
function operationsJudged({ requirements, run }: Report): string | undefined {
  const judged = operations.filter(({ id }) =>
    requirements.some(({ operation, outcome }) => operation === id && (outcome === 'passed' || outcome === 'failed')),
  )
  const isAbsent = operations.some(({ id }) => {
    const own = requirements.filter(({ operation }) => operation === id)
    return own.length > 0 && own.every(({ outcome }) => outcome === 'not-applicable')
  })
  if (run.notServed.length === 0 && !isAbsent) return undefined
  return `${judged.length} of ${operations.length} operations`
}

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
