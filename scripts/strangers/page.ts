import { operations } from '../../catalogue/operations.ts'
import { count, type Report } from '../../harness/report/index.ts'
import { markdownText } from '../../reporters/escape.ts'
import { byOperation, exercised } from '../../reporters/view/groups.ts'
import { likelyCauses } from '../../reporters/view/causes.ts'
import { verdictWords } from '../../reporters/view/standing.ts'
import type { Stranger } from './servers.ts'

/** A server, and what a run said of it. */
export interface Judged {
  readonly stranger: Pick<Stranger, 'name' | 'needs' | 'about'>
  readonly report: Report
}

/** Most causes that a server is shown with. */
const mostCauses = 5

/** The page: a table of what each reaches for each operation, and why it does not reach more. */
export function strangersPage(judged: readonly Judged[], day: string): string {
  const { version } = judged[0]!.report.suite
  const columns = judged.map(
    ({ report }) => new Map(byOperation(report).map((one) => [one.operation, one])),
  )
  const rows = operations.map(({ id }) => [
    `\`${id}\``,
    ...columns.map((groups) => cellOf(groups.get(id)?.results ?? [])),
  ])
  const overall = [
    'verdict',
    ...judged.map(({ report }) => verdictWords[report.verdict].word.toLowerCase()),
  ]
  return [
    '# Strangers',
    `What the suite says of servers that it does not know: mock servers, which nobody here wrote and which know only our OpenAPI document, and the examples. Judged on ${day} by version ${version}, each by a quick run. \`npm run strangers\` in a checkout of the repository writes this page.`,
    'A cell has how many musts of the operation passed, of how many could be tested. A mock server keeps nothing: it does not know which key is right, and what was created is not there afterwards. So none of them can conform, and what each reaches shows what it understands of the document.',
    table(['', ...judged.map(({ stranger }) => stranger.name)], [...rows, overall]),
    '## Why they fail',
    ...judged.flatMap(whyItFails),
    '',
  ].join('\n\n')
}

type Results = readonly Report['requirements'][number][]

function cellOf(results: Results): string {
  const musts = results.filter(({ level }) => level === 'must')
  const of = (outcome: string): number => musts.filter((one) => one.outcome === outcome).length
  const [passed, failed] = [of('passed'), of('failed')]
  if (passed + failed > 0) return `${passed}/${passed + failed}`
  return of('not-exercised') > 0 ? 'not tested' : 'absent'
}

function whyItFails({ stranger, report }: Judged): string[] {
  const { name, needs, about } = stranger
  const { must } = report.summary
  const failed = report.requirements.filter(({ outcome }) => outcome === 'failed')
  const causes = likelyCauses(failed).slice(0, mostCauses)
  const rest = failed.length - new Set(causes.flatMap(({ results }) => results)).size
  const reached = `${must.passed} of ${exercised(must)} musts that could be tested passed; ${must.notExercised} could not be tested.`
  return [
    `### ${name}`,
    `${needs === undefined ? '' : `\`${needs}\`, `}${about}. ${reached}`,
    [
      ...causes.map(
        ({ results, title, sentence }) =>
          `- ${count(results.length, 'failure')} of ${operationsOf(results)}. ${markdownText(title)}. ${markdownText(sentence)}`,
      ),
      ...(rest > 0 ? [`- ${count(rest, 'failure')} for other reasons.`] : []),
      ...(failed.length === 0 ? ['- Nothing failed.'] : []),
    ].join('\n'),
  ]
}

function operationsOf(results: Results): string {
  const names = [...new Set(results.map(({ operation }) => operation))]
  return names.length > 3 ? count(names.length, 'operation') : names.join(', ')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}
