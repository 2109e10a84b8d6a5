import { Command } from 'commander'
import { count } from '../harness/report/reason.ts'
import {
  compareReports,
  type Comparison,
  newlyFailingMusts,
  suiteNote,
  type Row,
  changeOf,
  differingRows,
  notableRows,
} from '../harness/report/compare.ts'
import { readReport } from '../harness/report/json-file.ts'
import { UserError } from '../harness/user-error.ts'
import { terminalText } from '../reporters/escape/terminal.ts'
import { renderPage, renderTable, marks } from './compare/render-table.ts'
import { countsText } from '../reporters/view/groups.ts'
import { checkOutputs, type OutputFile, writeFiles } from './output/files.ts'
import { colorsFor } from './output/say.ts'
import { reportOption } from './run/arguments.ts'
import { verdictWords } from '../reporters/view/standing.ts'
import { json } from '../reporters/escape/json.ts'
import { markdownCode, markdownText } from '../reporters/escape/markdown.ts'

const formats = {
  html: { file: 'conform-compare.html', render: renderPage },
  markdown: { file: 'conform-compare.md', render: renderMarkdown },
  json: { file: 'conform-compare.json', render: renderJson },
} as const

export interface CompareArguments {
  readonly report: readonly string[]
  readonly html?: string
  readonly failOnNew?: boolean
}

/** A text to be written, and what asked for it. */
interface Output extends OutputFile {
  render(comparison: Comparison): string
}

export function compareCommand(): Command {
  return new Command('compare')
    .description('show reports side by side: several targets, or one target over time and what changed')
    .argument('<report.json...>', 'reports of conform; those of one base URL are put in order of time')
    .addOption(reportOption(Object.keys(formats)))
    .option('--html <file>', 'as --report html=<file>')
    .option('--fail-on-new', 'exit 1 if a must is newly failing in the last report')
    .action(compare)
}

async function compare(files: readonly string[], options: CompareArguments): Promise<void> {
  if (options.failOnNew && files.length < 2) {
    throw new UserError('--fail-on-new: give two reports or more: the last one is compared with the one before')
  }
  const outputs = outputsOf(options)
  const toFiles = outputs.filter(({ path }) => path !== '-')
  checkOutputs(
    toFiles,
    files.map((path) => ({ path, what: `${path}, one of the reports` })),
  )
  const comparison = compareReports(files.map(readReport))
  const people = toFiles.length < outputs.length ? process.stderr : process.stdout
  for (const output of outputs) await write(output, comparison)
  people.write(renderTable(comparison, colorsFor(people), people.isTTY ? people.columns : Infinity))
  if (options.failOnNew) decide(newlyFailingMusts(comparison), people)
}

function outputsOf({ html, report }: CompareArguments): Output[] {
  const outputs = report.map(parseOutput)
  if (outputs.filter(({ path }) => path === '-').length > 1) {
    throw new UserError('--report: two reports for stdout (-); give one of them a file')
  }
  return html === undefined ? outputs : [...outputs, { option: `--html ${html}`, path: html, render: renderPage }]
}

function parseOutput(value: string): Output {
  const [name = '', ...rest] = value.split('=')
  const option = `--report ${value}`
  if (name !== 'html' && name !== 'markdown' && name !== 'json') {
    throw new UserError(`${option}: ${name} is not a format here; known are ${Object.keys(formats).join(', ')}`)
  }
  const path = rest.length === 0 ? formats[name].file : rest.join('=')
  if (path === '') throw new UserError(`${option}: give a path after =, or - for stdout`)
  return { option, path, render: formats[name].render }
}

async function write(output: Output, comparison: Comparison): Promise<void> {
  const text = output.render(comparison)
  if (output.path === '-') process.stdout.write(text)
  else await writeFiles([[output, text]])
}

/** The last line says why the exit code is what it is. */
function decide(ids: readonly string[], people: NodeJS.WriteStream): void {
  process.exitCode = ids.length > 0 ? 1 : 0
  const musts = `${count(ids.length, 'must')} ${ids.length === 1 ? 'is' : 'are'} newly failing in the last report`
  people.write(
    ids.length > 0 ? `exit 1: ${musts}: ${terminalText(ids.join(', '))}\n` : 'exit 0: no must is newly failing\n',
  )
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

/** The comparison for a job summary or a merge request: the reports, what is newly failing, and what is not the same in all. */
function renderMarkdown(comparison: Comparison): string {
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
    ...table(notableRows(comparison), comparison),
  ].join('\n')
}

function table(rows: readonly Row[], { columns, of }: Comparison): string[] {
  if (rows.length === 0) return []
  return [
    `| requirement | level | ${columns.map((_, index) => index + 1).join(' | ')} | |`,
    `| --- | --- | ${columns.map(() => '---').join(' | ')} | --- |`,
    ...rows.map((row) => {
      const cells = row.outcomes.map((outcome) => marks[outcome ?? 'absent'].word.toLowerCase())
      const change = of === 'time' ? (changeOf(row, columns.length - 1) ?? '') : ''
      return `| ${markdownCode(row.id)} | ${row.level} | ${cells.join(' | ')} | ${change} |`
    }),
    '',
  ]
}
