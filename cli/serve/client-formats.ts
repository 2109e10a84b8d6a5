import { createRequire } from 'node:module'
import { count } from '../../harness/report/count.ts'
import { json } from '../../reporters/escape/json.ts'
import { markdownCode, markdownText } from '../../reporters/escape/markdown.ts'
import { terminalText } from '../../reporters/escape/terminal.ts'
import { xmlAttribute, xmlText } from '../../reporters/escape/xml.ts'
import type { ClientFinding, ClientReport } from '../../traffic/client/client-report.ts'
import { answersText, conditionText, exitText, faultText, playedText } from './client-words.ts'

/** The reports on a client, by the name that `--report` has for each. */
export type ClientFormat = 'json' | 'junit' | 'markdown'

export const clientFormats: Readonly<Record<ClientFormat, (report: ClientReport) => string>> = {
  json: renderJson,
  junit: renderJunit,
  markdown: renderMarkdown,
}

/** One finding as it is told at once: which request, what the interface shows, what came. */
export function findingText({ fault, method, operation, path, request }: ClientFinding): string {
  const { expected, received } = faultText(fault)
  const rows = { sent: `${method} ${path} (request ${request})`, expected, received }
  const lines = Object.entries(rows).map(([label, text]) => `    ${label.padEnd(10)}${terminalText(text)}`)
  return `✗ ${operation ?? 'no operation'}  ${fault.rule}\n${lines.join('\n')}\n`
}

/** The report for people; its last line says why the exit code is what it is. */
export function renderClient(report: ClientReport): string {
  const { exit, operations, requests, script, unused } = report
  const width = Math.max(0, ...operations.map(({ operation }) => operation.length))
  const used = operations.map(
    ({ answers, deprecated, operation }) =>
      `  ${operation.padEnd(width)}  ${answersText(answers)}${deprecated ? '; deprecated (§9)' : ''}`,
  )
  const unmet = operations.flatMap(({ errors, operation }) => {
    const left = errors.filter(({ met }) => met === 0).map(conditionText)
    return left.length === 0 ? [] : [`  ${operation.padEnd(width)}  ${left.join(', ')}`]
  })
  const parts = [
    `${count(requests, 'request')} to ${count(operations.length, 'operation')}`,
    ...used,
    ...section('Errors that the client did not meet; a header, or an answer of a --script, brings each about', unmet),
    ...section(
      'Script',
      script.map((one) => `  ${playedText(one)}`),
    ),
    ...section('Operations that the client did not use', unused.length === 0 ? [] : [`  ${unused.join(', ')}`]),
    '',
    `exit ${exit.code}: ${exitText(report)}`,
  ]
  return `${parts.map((line) => terminalText(line)).join('\n')}\n`
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines]
}

function renderJson(report: ClientReport): string {
  const { exit, findings } = report
  const told = findings.map((finding) => ({ ...finding, ...faultText(finding.fault) }))
  return `${json({ ...report, exit: { code: exit.code, because: exitText(report) }, findings: told }, 2)}\n`
}

/** A case for each operation; one that was not used is skipped. There is a failure or an error exactly if the exit code is not 0. */
function renderJunit(report: ClientReport): string {
  const { durationMs, exit, findings, operations, startedAt, unused } = report
  const elsewhere = findings.some(({ operation }) => operation === null)
  const cases = [
    ...operations.map(({ operation, requests }) => ({ name: operation, note: count(requests, 'request') })),
    ...(elsewhere ? [{ name: 'no operation', note: '' }] : []),
  ].map((one) => ({
    ...one,
    found: findings.filter(({ operation }) => (operation ?? 'no operation') === one.name),
  }))
  const failures = cases.filter(({ found }) => found.length > 0).length
  const errors = exit.code === 3 ? 1 : 0
  const { create } = createRequire(import.meta.url)('xmlbuilder2') as typeof import('xmlbuilder2')
  const document = create({ version: '1.0', encoding: 'UTF-8' })
  const counts = {
    tests: String(cases.length + unused.length + errors),
    failures: String(failures),
    errors: String(errors),
    skipped: String(unused.length),
    time: (durationMs / 1000).toFixed(3),
  }
  const name = 'requests of the client'
  const suite = document
    .ele('testsuites', { name, ...counts })
    .ele('testsuite', { name, ...counts, timestamp: startedAt.slice(0, 19) })
  const testcase = (name: string, classname = 'client') => suite.ele('testcase', { name, classname, time: '0.000' })
  for (const { found, name, note } of cases) {
    const element = testcase(note === '' ? name : `${name}: ${note}`)
    if (found.length === 0) continue
    const message = found
      .map(({ fault }) => faultText(fault))
      .map(({ expected, received }) => `${expected}: ${received}`)
    element
      .ele('failure', { message: xmlAttribute(message.join('; ')), type: 'request' })
      .txt(xmlText(found.map(findingText).join('')))
  }
  for (const operation of unused) testcase(operation).ele('skipped', { message: 'the client did not use it' })
  if (errors > 0) testcase('run', 'run').ele('error', { message: xmlAttribute(exitText(report)), type: 'run' })
  return `${document.end({ prettyPrint: true })}\n`
}

/** For a job summary or a merge request. */
function renderMarkdown(report: ClientReport): string {
  const { exit, findings, operations, script, unused } = report
  const rows = operations.map(({ answers, errors, operation }) => {
    const unmet = errors.filter(({ met }) => met === 0).map((one) => markdownText(conditionText(one)))
    return `| ${markdownCode(operation)} | ${markdownText(answersText(answers))} | ${unmet.join('<br>')} |`
  })
  return [
    `## Requests of the client: ${markdownText(exitText(report))}`,
    '',
    ...table(
      ['request', 'interface', 'client', 'times'],
      findings.map((finding) => {
        const { expected, received } = faultText(finding.fault)
        return `| ${markdownCode(`${finding.method} ${finding.path}`)} | ${markdownText(expected)} | ${markdownText(received)} | ${finding.count} |`
      }),
    ),
    ...table(['operation', 'answers', 'errors not met'], rows),
    ...(script.length === 0 ? [] : [...script.map((one) => `- ${markdownText(playedText(one))}`), '']),
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
