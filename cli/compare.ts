import { Command } from '@commander-js/extra-typings'
import { count, readReport } from '../harness/report/index.ts'
import { conditionOf } from '../catalogue/requirement.ts'
import { UserError } from '../harness/user-error.ts'
import { terminalText, json, markdownCode, markdownText } from '../reporters/escape.ts'
import { changeOf, type Changes, changesOf, compareReports } from './compare/comparison.ts'
import { type Comparison, differingRows, marks, newlyFailingMusts } from './compare/comparison.ts'
import { notableRows, suiteNote } from './compare/comparison.ts'
import { renderPage } from './compare/page.ts'
import { renderTable } from './compare/terminal.ts'
import { countsText } from '../reporters/view/groups.ts'
import {
  checkOutputs,
  writeFiles,
  parseReportRequests,
  reportFiles,
  streamForPeople,
} from '../library/output/files.ts'
import { colorsFor, tell } from '../library/output/say.ts'
import { columnsOf } from '../reporters/terminal/lines.ts'
import { reportOption } from './run/arguments.ts'
import { verdictWords } from '../reporters/view/standing.ts'

const formatFiles = {
  html: 'conform-compare.html',
  markdown: 'conform-compare.md',
  json: 'conform-compare.json',
}
const renderers = { html: renderPage, markdown: renderMarkdown, json: renderJson }

export function compareCommand() {
  return new Command('compare')
    .description(
      'show reports side by side: several targets, or one target over time and what changed',
    )
    .argument(
      '<report.json...>',
      'reports of conform; those of one base URL are put in order of time',
    )
    .addOption(reportOption(Object.keys(formatFiles)))
    .option('--fail-on-new', 'exit 1 if a must is newly failing in the last report')
    .action((files, options) => compare(files, options))
}

async function compare(
  files: readonly string[],
  { failOnNew, report }: { readonly failOnNew?: true; readonly report: readonly string[] },
): Promise<void> {
  if (failOnNew && files.length < 2) {
    throw new UserError(
      '--fail-on-new: give two reports or more: the last one is compared with the one before',
    )
  }
  const requests = parseReportRequests(report, formatFiles)
  const outputs = reportFiles(requests)
  const inputs = files.map((path) => [`${path}, one of the reports`, path] as const)
  checkOutputs(outputs, Object.fromEntries(inputs))
  const reports = files.map(readReport)
  const comparison = compareReports(reports)
  const last = reports.find(({ path }) => path === comparison.columns.at(-1)?.path)
  const changes = changesOf(comparison, last?.report)
  const people = streamForPeople(requests)
  for (const { format, path } of requests)
    if (path === '-') process.stdout.write(renderers[format](comparison, changes))
  await writeFiles(outputs.map((output) => [output, renderers[output.format](comparison, changes)]))
  people.write(renderTable(comparison, changes, colorsFor(people), columnsOf(people)))
  if (failOnNew) decide(newlyFailingMusts(comparison), people)
}

function decide(ids: readonly string[], people: NodeJS.WriteStream): void {
  process.exitCode = ids.length > 0 ? 1 : 0
  const musts = `${count(ids.length, 'must')} ${ids.length === 1 ? 'is' : 'are'} newly failing in the last report`
  tell(people, [
    ids.length > 0
      ? `exit 1: ${musts}: ${terminalText(ids.join(', '))}`
      : 'exit 0: no must is newly failing',
  ])
}

/** The comparison for programs; `newlyFailingMusts` is what `--fail-on-new` goes by. */
function renderJson(comparison: Comparison): string {
  const note = suiteNote(comparison)
  return `${json(
    {
      format: 'conformance-comparison/1',
      ...comparison,
      newlyFailingMusts: newlyFailingMusts(comparison),
      notes: note === undefined ? [] : [note],
    },
    2,
  )}\n`
}

function renderMarkdown(comparison: Comparison, { causes, groups }: Changes): string {
  const { columns, mode, of, rows } = comparison
  const head = of === 'time' ? `${columns[0]!.baseUrl} over time` : 'Conformance compared'
  const same = rows.length - differingRows(comparison).length
  const note = suiteNote(comparison)
  const fresh = newlyFailingMusts(comparison).length
  return [
    `## ${markdownText(head)}`,
    '',
    '| | report | started | suite | verdict | must | should |',
    '| ---: | --- | --- | --- | --- | --- | --- |',
    ...columns.map(
      ({ baseUrl, interrupted, name, startedAt, summary, verdict, version }, index) =>
        `| ${index + 1} | ${markdownText(`${name}, ${baseUrl}`)} | ${markdownText(startedAt)} | ${markdownText(version)} | ` +
        `${verdictWords[verdict].word}${interrupted ? ' (interrupted)' : ''} | ${countsText(summary.must)} | ${countsText(summary.should)} |`,
    ),
    '',
    `- code names are matched by mode ${mode}`,
    ...(note === undefined ? [] : [`- ${markdownText(note)}`]),
    ...(columns.length > 1 ? [`- musts that are newly failing in the last report: ${fresh}`] : []),
    `- ${same} of ${rows.length} requirements are the same in all`,
    '',
    ...groups.flatMap(({ operations, rows: own, title }) => [
      `**${title}: ${own.length}**`,
      '',
      ...operations.map(
        ([operation, of]) =>
          `- ${markdownCode(operation)} ${of.length}: ${of.map(({ id }) => markdownText(conditionOf(id))).join(', ')}`,
      ),
      '',
    ]),
    ...causes.map(
      ({ results, title: what }) =>
        `- likely cause of ${results.length} that broke: ${markdownText(what)}`,
    ),
    ...(causes.length > 0 ? [''] : []),
    ...table(comparison),
  ].join('\n')
}

function table(comparison: Comparison): string[] {
  const { columns } = comparison
  const rows = notableRows(comparison)
  if (rows.length === 0) return []
  return [
    `| requirement | level | ${columns.map((_, index) => index + 1).join(' | ')} | |`,
    `| --- | --- | ${columns.map(() => '---').join(' | ')} | --- |`,
    ...rows.map((row) => {
      const cells = row.outcomes.map((outcome) => marks[outcome ?? 'absent'].word.toLowerCase())
      return `| ${markdownCode(row.id)} | ${row.level} | ${cells.join(' | ')} | ${changeOf(row, comparison) ?? ''} |`
    }),
    '',
  ]
}
