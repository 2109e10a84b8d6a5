import pc from 'picocolors'
import type { Colors } from 'picocolors/types'
import { count, type Report, withClient } from '../../harness/report/index.ts'
import { json, markdownCode, markdownText, terminalText } from '../../reporters/escape.ts'
import { junitText, type TestCase } from '../../reporters/junit.ts'
import { findingLines } from '../../reporters/terminal/failure-lines.ts'
import { laidOut, type Line } from '../../reporters/terminal/lines.ts'
import { type ClientFinding, findingText } from '../../traffic/client/finding.ts'
import type { ClientReport } from '../../traffic/client/client-report.ts'

export const clientFormats: Readonly<
  Record<'json' | 'junit' | 'markdown', (report: ClientReport) => string>
> = {
  json: (report) => `${json(report, 2)}\n`,
  junit: renderJunit,
  markdown: renderMarkdown,
}

/** A finding for a live log: the request, what the interface shows, what came. */
export function clientFindingLines(finding: ClientFinding, colors: Colors): Line[] {
  const { fault, kind, method, operation, path, request } = finding
  const rows = { sent: `${method} ${path} (request ${request})`, ...findingText(fault) }
  const [mark, name] = kind === 'fault' ? (['✗', ''] as const) : (['!', 'remark: '] as const)
  return findingLines(`${operation ?? 'no operation'}  ${name}${fault.rule}`, rows, colors, mark)
}

/**
 * The report for people; its last line says why the exit code is what it is.
 * @param isVerbose all errors that were not met are named
 */
export function clientReportLines(report: ClientReport, isVerbose = false): Line[] {
  const { exit } = report
  const text = [...clientLines(report, isVerbose), '', `exit ${exit.code}: ${exit.because}`]
  return text.map((line) => terminalText(line))
}

export function clientLines(report: ClientReport, isVerbose: boolean): string[] {
  const { operations, requests, script, unused } = report
  const width = Math.max(0, ...operations.map(({ operation }) => operation.length))
  const used = operations.map(
    ({ answers, deprecated, operation }) =>
      `  ${operation.padEnd(width)}  ${responsesText(answers)}${deprecated ? '; deprecated (§9)' : ''}`,
  )
  const counted = report.findings.filter((finding) => finding.count > 1)
  return [
    `${count(requests, 'request')} to ${count(operations.length, 'operation')}`,
    ...used,
    ...section(
      'Found more than once',
      counted.map(
        ({ count: times, fault, operation }) =>
          `  ${operation ?? 'no operation'}  ${fault.rule} ×${times}`,
      ),
    ),
    ...unmetErrors(report, width, isVerbose),
    ...section(
      'Script',
      script.map((one) => `  ${playedText(one)}`),
    ),
    ...section(
      'Operations that the client did not use',
      unused.length === 0 ? [] : [`  ${unused.join(', ')}`],
    ),
  ]
}

/** The errors that were not met: their number, or all of them. Nobody brings one about at a server of another kind. */
function unmetErrors({ operations }: ClientReport, width: number, isVerbose: boolean): string[] {
  const left = operations.flatMap(({ errors, operation }) => {
    const unmet = errors.filter(({ met, simulate }) => met === 0 && simulate !== undefined)
    return unmet.length === 0 ? [] : [{ operation, unmet }]
  })
  if (left.length === 0) return []
  const title =
    'Errors that the client did not meet; a header, or an answer of a --script, brings each about'
  if (isVerbose)
    return section(
      title,
      left.map(
        ({ operation, unmet }) =>
          `  ${operation.padEnd(width)}  ${unmet.map(conditionText).join(', ')}`,
      ),
    )
  const all = left.reduce((sum, { unmet }) => sum + unmet.length, 0)
  const [{ operation, unmet } = { operation: '', unmet: [] }] = left
  const example = `${operation} ${conditionText(unmet[0]!)}`
  return [
    '',
    `${count(all, 'error')} of these operations not met, such as ${example}; --verbose names all`,
  ]
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines]
}

/** A case for each operation; one that was not used is skipped. There is a failure or an error exactly if the exit code is not 0. */
function renderJunit(report: ClientReport): string {
  const { durationMs, exit, unused } = report
  const skipped = { kind: 'skipped', message: 'the client did not use it' } as const
  const error = { kind: 'error', message: exit.because, type: 'run' } as const
  const all = [
    ...clientCases(report),
    ...unused.map((name): TestCase => ({ name, classname: 'client', found: skipped })),
    ...(exit.code === 3 ? [{ name: 'run', classname: 'run', found: error }] : []),
  ]
  const name = 'requests of the client'
  return junitText(name, report, [{ name, durationMs, cases: all }])
}

export function clientCases({ findings, operations }: ClientReport): TestCase[] {
  const elsewhere = findings.some(({ kind, operation }) => operation === null && kind === 'fault')
  const used = [
    ...operations.map(({ operation, requests }) => ({
      name: operation,
      note: `: ${count(requests, 'request')}`,
    })),
    ...(elsewhere ? [{ name: 'no operation', note: '' }] : []),
  ]
  return used.map(({ name, note }): TestCase => {
    const own = findings.filter(
      ({ kind, operation }) => kind === 'fault' && (operation ?? 'no operation') === name,
    )
    const message = own.map(({ expected, received }) => `${expected}: ${received}`).join('; ')
    const lines = own.flatMap((finding) => clientFindingLines(finding, pc.createColors(false)))
    const text = laidOut(lines, Infinity).join('\n')
    const found = { kind: 'failure', message, type: 'request', text } as const
    return { name: name + note, classname: 'client', ...(own.length > 0 && { found }) }
  })
}

function renderMarkdown(report: ClientReport): string {
  const { exit, findings, operations, script, unused } = report
  const rows = operations.map(({ answers, errors, operation }) => {
    const unmet = errors
      .filter(({ met }) => met === 0)
      .map((one) => markdownText(conditionText(one)))
    return `| ${markdownCode(operation)} | ${markdownText(responsesText(answers))} | ${unmet.join('<br>')} |`
  })
  return [
    `## Requests of the client: ${markdownText(exit.because)}`,
    '',
    ...table(
      ['', 'request', 'interface', 'client', 'times'],
      findings.map(
        ({ count: times, expected, kind, method, path, received }) =>
          `| ${kind} | ${markdownCode(`${method} ${path}`)} | ${markdownText(expected)} | ${markdownText(received)} | ${times} |`,
      ),
    ),
    ...table(['operation', 'answers', 'errors not met'], rows),
    ...(script.length === 0
      ? []
      : [...script.map((one) => `- ${markdownText(playedText(one))}`), '']),
    `Not used: ${unused.map(markdownCode).join(', ')}`,
    '',
    `exit ${exit.code}`,
    '',
  ].join('\n')
}

function table(head: readonly string[], rows: readonly string[]): string[] {
  if (rows.length === 0) return []
  return [`| ${head.join(' | ')} |`, `| ${head.map(() => '---').join(' | ')} |`, ...rows, '']
}

type Used = ClientReport['operations'][number]

function responsesText(responses: Used['answers']): string {
  return responses
    .map(({ count: times, status, tpe = '' }) => `${`${status} ${tpe}`.trim()} ×${times}`)
    .join(', ')
}

function conditionText({ simulate, status, tpe }: Used['errors'][number]): string {
  return `${status} ${tpe}${simulate === undefined ? '' : ` (x-simulate: ${simulate})`}`
}

function playedText({
  answered,
  isTooSoon,
  operation,
  waitedMs,
}: ClientReport['script'][number]): string {
  const asked = `${operation} was answered ${answered}`
  if (waitedMs === undefined) return `${asked}: the client did not come back`
  return `${asked}: the client came back after ${waitedMs} ms${isTooSoon ? ', which is too soon' : ''}`
}

/** What is said of a client beside a report on the server; nothing if it sent no request. */
export function clientSummary(report: ClientReport, isVerbose: boolean): Line[] {
  const { exit, requests } = report
  if (requests === 0) return []
  const lines = [
    ...(isVerbose ? clientLines(report, isVerbose) : []),
    `the client: ${exit.code === 3 ? 'nothing to judge' : exit.because}`,
  ]
  return lines.map((line) => terminalText(line))
}

/** The report on a server whose client decides too: each fault in a sentence. */
export function heldToClient(report: Report, { exit, findings }: ClientReport): Report {
  const faults = findings
    .filter(({ kind }) => kind === 'fault')
    .map(({ expected, method, operation, path, received, request }) => {
      const what = `${operation ?? 'no operation'}: ${method} ${path} (request ${request})`
      return `${what}: expected ${expected}, received ${received}`
    })
  return withClient(report, `the client: ${exit.because}`, faults)
}
