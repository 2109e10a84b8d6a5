import {
  shortened,
  markdownBlock,
  markdownCode,
  markdownText,
  capital,
  duration,
  firstOf,
  levels,
} from './text.ts'
import {
  count,
  type Counts,
  type Report,
  type RequirementResult,
  sections,
  summarize,
} from '../harness/report/index.ts'
import {
  type Distinct,
  failuresOf,
  type NextStep,
  nextSteps,
  notJudged,
} from './view/next-steps.ts'
import {
  byState,
  states,
  mapSentence,
  shownMap,
  exitLine,
  runNotes,
  seedLine,
  standingOf,
  type Tone,
  baselineEntries,
  type ReasonGroup,
  requiredButMissed,
  selectedResults,
} from './view/standing.ts'
import { evidenceText, failureSentence } from './view/evidence.ts'

const MOST_IDS = 5

/** A folded table; empty without groups. */
function reasonTable(title: string, groups: readonly ReasonGroup[]): string[] {
  if (groups.length === 0) return []
  const all = groups.reduce((sum, group) => sum + group.ids.length, 0)
  const rows = groups.map((group) => {
    const named = firstOf(group.ids.map(markdownCode), MOST_IDS).join(', ')
    return `| ${group.ids.length} | ${markdownText(shortened(group.reason, 300))} | ${named} |`
  })
  return [
    '<details>',
    `<summary>${title}: ${all}</summary>`,
    '',
    '| | what | requirements |',
    '| ---: | --- | --- |',
    ...rows,
    '',
    '</details>',
    '',
  ]
}

const MOST_MISSED = 50

/** Causes with evidence; others are only in the table. */
const MOST_EVIDENCE = 25

/** The report for a CI job summary; short if everything passes. */
export function renderMarkdown(report: Report): string {
  const { run, target } = report
  const { distinct } = failuresOf(report)
  const { beforeExit, tone } = standingOf(report)
  return [
    `## ${signs[tone]} Conformance of ${markdownText(target.name)}`,
    '',
    `**${markdownText(beforeExit)}**`,
    '',
    markdownText(exitLine(report)),
    '',
    ...nextList(nextSteps(report)),
    ...summaryTable(report),
    ...runNotes(report).map((note) => `- ${markdownText(note)}`),
    `- ${markdownText(`${target.baseUrl}: ${count(run.requests, 'request')} in ${duration(run.durationMs)}; ${seedLine(report)}`)}`,
    '',
    ...mapList(report),
    ...(distinct.length > 0 ? ['### Failed', '', ...failureTable(distinct)] : []),
    ...distinct
      .slice(0, MOST_EVIDENCE)
      .flatMap((one) => failureDetails(one, distinct.length <= MOST_OPEN)),
    ...missed(report),
    ...baseline(report),
    ...Object.entries(notJudged(report)).flatMap(([title, groups]) => reasonTable(title, groups)),
  ].join('\n')
}

const signs = { good: '✅', warning: '⚠️', bad: '❌' } as const satisfies Record<Tone, string>

function nextList(steps: readonly NextStep[]): string[] {
  if (steps.length === 0) return []
  const items = steps.map(
    (step, at) =>
      `${at + 1}. ${markdownText(step.text)}${step.command === undefined ? '' : `: ${markdownCode(step.command)}`}${step.paste === undefined ? '' : ` ${markdownCode(JSON.stringify(step.paste))}`}`,
  )
  return ['**Next**', '', ...items, '']
}

function mapList(report: Report): string[] {
  const places = shownMap(report)
  if (places === undefined) return []
  const items = byState(places).map((group) => {
    const ids = group.places.map(
      (one) => markdownCode(one.operation) + (one.detail && ` (${one.detail})`),
    )
    return `- ${states[group.state].sign} **${group.state}**: ${ids.join(', ')}`
  })
  // A perfect result needs no list.
  const list = report.verdict === 'conformant' ? [] : [...items, '']
  return [`**${mapSentence(places)}**`, '', ...list]
}

function missed(report: Report): string[] {
  const ids = requiredButMissed(report)
  if (ids.length === 0) return []
  const lines = firstOf(ids.map(markdownCode), MOST_MISSED).map((line) => `- ${line}`)
  return [`### Not tested, and required (--require-exercised)`, '', ...lines, '']
}

function summaryTable(report: Report): string[] {
  const summary = summarize(selectedResults(report))
  const row = (level: string, counts: Counts) =>
    `| ${level} | ${counts.passed} | ${counts.failed} | ${counts.notExercised} | ${counts.notApplicable} |`
  return [
    `| | passed | failed | not tested | not applicable |`,
    '| --- | ---: | ---: | ---: | ---: |',
    row(levels.must, summary.must),
    row(levels.should, summary.should),
    '',
  ]
}

function baseline(report: Report): string[] {
  const lines = baselineEntries(report).map((entry) => {
    const reason = entry.why === undefined ? '' : `: ${markdownText(entry.why)}`
    return `- ${entry.state}: ${markdownCode(entry.id)}${reason}`
  })
  if (lines.length === 0) return []
  const file = markdownText(report.run.baseline!.file)
  return [`### Baseline ${file}`, '', ...lines, '']
}

function failureTable(distinct: readonly Distinct[]): string[] {
  const rows = distinct.map((one) => {
    const { cause, example } = one
    const { level, section } = example
    const ids = one.results.map((result) => markdownCode(result.id)).join(', ')
    const what =
      cause === undefined
        ? failureSentence(example)
        : `${capital(cause.what)}. ${capital(cause.change)}.`
    return `| ${ids} | ${levels[level]} | ${markdownText(sections(section))} | ${markdownText(what)} |`
  })
  return [
    '| requirement | level | section | what happened |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ]
}

const MOST_OPEN = 5

function failureDetails(distinct: Distinct, isOpen: boolean): string[] {
  const [first] = distinct.example.failures
  if (!first) return []
  const others = distinct.results.length - 1
  const summary = `${distinct.example.id}${others > 0 ? ` and ${others} more` : ''}`
  return [
    isOpen ? '<details open>' : '<details>',
    `<summary>${markdownText(summary)}</summary>`,
    '',
    markdownText(distinct.example.statement),
    '',
    markdownBlock(evidenceLines(distinct.example, others).join('\n'), 'text'),
    '',
    '</details>',
    '',
  ]
}

function evidenceLines(result: RequirementResult, others: number): string[] {
  const [first, ...more] = result.failures
  return [
    evidenceText(first!, 1000),
    ...(more.length > 0
      ? [`and ${count(more.length, 'more failure')} of this requirement: see the JSON report`]
      : []),
    ...(others > 0 ? [`same for ${others} more, named above`] : []),
  ]
}
