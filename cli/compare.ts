import { Command } from '@commander-js/extra-typings'
import { conditionOf } from '../catalogue/catalogue.ts'
import { groupBy, largestFirst } from '../harness/group-by.ts'
import { type Outcome, readReport, type ReportFile } from '../harness/report/index.ts'
import { UserError } from '../harness/user-error.ts'
import { plannedReports, reportFiles, writeFiles, tell } from '../library/output.ts'
import { json, markdownBlock, terminalText, firstOf } from '../reporters/text.ts'
import { likelyCauses } from '../reporters/view/next-steps.ts'
import { verdictWords } from '../reporters/view/standing.ts'
import { reportOption } from './run/arguments.ts'

const formatFiles = { markdown: 'conform-compare.md', json: 'conform-compare.json' }

export function command() {
  return new Command('compare')
    .description('compare reports: what broke and what was fixed, or how several targets differ')
    .argument('<report.json...>', 'JSON reports; reports of one base URL are sorted by time')
    .addOption(reportOption(Object.keys(formatFiles)))
    .option('--fail-on-new', 'exit 1 if a required check newly fails in the last report')
    .action(async (paths, { failOnNew = false, report }) => {
      if (failOnNew && paths.length < 2)
        throw new UserError(
          '--fail-on-new: give at least two reports: the last is compared with the first',
        )
      const inputs = Object.fromEntries(paths.map((path) => [`${path}, one of the reports`, path]))
      const { requests, people } = plannedReports(report, inputs, formatFiles)
      const comparison = compareReports(paths.map(readReport))
      const { newlyFailing } = comparison
      const lines = screenOf(comparison)
      const texts = {
        json: `${json({ format: 'conformance-comparison/1', ...comparison }, 2)}\n`,
        markdown: `${markdownBlock(lines.join('\n'), 'text')}\n`,
      }
      for (const { format, path } of requests) if (path === '-') process.stdout.write(texts[format])
      const files = reportFiles(requests)
      await writeFiles(files.map((file) => [file, texts[file.format]]))
      lines.push(...files.map((one) => `report ${one.path}`))
      if (failOnNew) {
        process.exitCode = newlyFailing.length > 0 ? 1 : 0
        const ids = firstOf(newlyFailing, MOST_NEW, 'more (--report json)').join(', ')
        lines.push(
          ids === '' ? 'exit 0: no required check newly fails' : `exit 1: newly failing: ${ids}`,
        )
      }
      tell(
        people,
        lines.map((line) => terminalText(line)),
      )
    })
}

/** Compares reports of one target over time, oldest first, or of several targets in the given order. */
export function compareReports(given: readonly ReportFile[]) {
  const isOne = new Set(given.map((one) => one.report.target.baseUrl)).size < 2 && given.length > 1
  const timeOf = (file: ReportFile): number => Date.parse(file.report.run.startedAt)
  const files = isOne ? given.toSorted((a, b) => timeOf(a) - timeOf(b)) : given
  const books = files.map((file) => new Map(file.report.requirements.map((one) => [one.id, one])))
  const requirements = [...new Set(books.flatMap((book) => [...book.keys()]))].map((id) => {
    const results = books.map((book) => book.get(id))
    const { level, operation } = results.findLast((result) => result !== undefined)!
    // Null: not in the report.
    return { id, level, operation, outcomes: results.map((result) => result?.outcome ?? null) }
  })
  const broke = requirements.filter(
    (requirement) =>
      requirement.outcomes.at(-1) === 'failed' && requirement.outcomes[0] !== 'failed',
  )
  const ids = new Set((isOne ? broke : requirements).map((one) => one.id))
  const causes = files.flatMap((file, at) => {
    if (isOne && at < files.length - 1) return []
    const failed = file.report.requirements.filter(
      (one) => one.outcome === 'failed' && ids.has(one.id),
    )
    return likelyCauses(failed, file.report).map((cause) => ({
      report: at + 1,
      what: cause.what,
      ids: cause.results.map((result) => result.id),
    }))
  })
  return {
    of: isOne ? 'time' : 'targets',
    reports: files.map((file) => {
      const { run, suite, summary, target, verdict } = file.report
      const { name, baseUrl } = target
      const { startedAt, tpe, interrupted } = run
      return {
        path: file.path,
        name,
        baseUrl,
        startedAt,
        suite,
        tpe,
        interrupted,
        verdict,
        summary,
      }
    }),
    /** Required checks that fail in the last report and did not fail in the first. */
    newlyFailing: broke.flatMap((one) => (one.level === 'must' ? [one.id] : [])),
    causes,
    requirements,
  } as const
}

type Comparison = ReturnType<typeof compareReports>
type Row = Pick<Comparison['requirements'][number], 'id' | 'level' | 'operation' | 'outcomes'>

const [MOST_OPERATIONS, MOST_IDS, MOST_CAUSES, MOST_NEW] = [5, 2, 4, 5]

export function screenOf(comparison: Comparison): string[] {
  const { causes, of, reports, requirements } = comparison
  const differ = (value: (report: Comparison['reports'][number]) => string): boolean =>
    new Set(reports.map(value)).size > 1
  const same = requirements.filter((requirement) => new Set(requirement.outcomes).size === 1).length
  return [
    of === 'time' ? `${reports[0]!.baseUrl} over time` : 'Targets',
    ...reports.map(({ baseUrl, interrupted, name, startedAt, summary, verdict }, at) => {
      const word = verdictWords[verdict].word + (interrupted ? ', interrupted' : '')
      const { failed, notExercised, passed } = summary.must
      const whose = of === 'time' ? startedAt : `${name}  ${baseUrl}`
      return `  ${at + 1}  ${whose}  ${word}: ${failed} failed, ${passed} passed, ${notExercised} not tested`
    }),
    ...(differ((one) => one.suite.requirementsDigest)
      ? [
          `different versions of the suite judged (${reports.map((report) => report.suite.version).join(', ')}): a difference may come from the suite`,
        ]
      : []),
    ...(differ((one) => one.tpe) ? ['the reports judged code names differently (--tpe)'] : []),
    '',
    ...(of === 'time' ? changes(requirements) : failures(requirements)),
    ...firstOf(
      causes.map(
        (cause) =>
          `  likely cause of ${cause.ids.length}${of === 'time' ? ' that broke' : ` in ${cause.report}`}: ${cause.what}`,
      ),
      MOST_CAUSES,
    ),
    `${same} of ${requirements.length} requirements are the same in all`,
  ]
}

const kinds = [
  ['Broke', undefined, 'failed'],
  ['Fixed', 'failed', 'passed'],
  ['Still failing', 'failed', 'failed'],
  ['Failed before, not tested now', 'failed', 'not-exercised'],
  ['Passed before, not tested now', 'passed', 'not-exercised'],
] as const satisfies readonly [string, Outcome | undefined, Outcome][]

/** What broke, what was fixed and what still fails between the first and the last report, by operation. */
export function changes(rows: readonly Row[]): string[] {
  return kinds.flatMap(([title, was, is]) => {
    const own = rows.filter((row) => {
      const [first, ...rest] = row.outcomes
      return rest.at(-1) === is && (was === undefined ? first !== is : first === was)
    })
    const lines = largestFirst(groupBy(own, (one) => one.operation)).map(([operation, all]) => {
      const names = all.map(
        (one) => conditionOf(one.id) + (one.level === 'should' ? ' (recommended)' : ''),
      )
      return `${operation}  ${all.length}: ${firstOf(names, MOST_IDS).join(', ')}`
    })
    return own.length === 0
      ? []
      : [`${title}: ${own.length}`, ...firstOf(lines, MOST_OPERATIONS).map((line) => `  ${line}`)]
  })
}

function failures(rows: readonly Row[]): string[] {
  return [...groupBy(rows, (one) => one.operation)].flatMap(([operation, own]) => {
    if (!own.some((one) => one.outcomes.includes('failed'))) return []
    const cells = own[0]!.outcomes.map((_, at) => {
      const all = own.map((one) => one.outcomes[at])
      const failed = all.filter((outcome) => outcome === 'failed').length
      if (failed > 0) return `${at + 1} fails ${failed}`
      return `${at + 1} ${all.includes('passed') ? 'passes' : 'is not tested'}`
    })
    return [`  ${operation}  ${cells.join(', ')}`]
  })
}
