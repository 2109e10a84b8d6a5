import { count } from '../../harness/report/index.ts'
import { json } from '../../reporters/escape/json.ts'
import { markdownCode, markdownText } from '../../reporters/escape/markdown.ts'
import { terminalText } from '../../reporters/escape/terminal.ts'
import { junitText, type TestCase } from '../../reporters/junit.ts'
import { findingText } from '../../reporters/terminal/lines.ts'
import { preview } from '../../schemas/json.ts'
import type { Expected, MemberFault } from '../../traffic/client/request-faults.ts'
import type { ClientFault, ClientFinding, ClientReport } from '../../traffic/client/client-judge.ts'

/** The reports on a client, by the name that `--report` has for each. */
export const clientFormats: Readonly<
  Record<'json' | 'junit' | 'markdown', (report: ClientReport) => string>
> = {
  json: (report) => {
    const findings = report.findings.map((finding) => ({ ...finding, ...faultText(finding.fault) }))
    return `${json({ ...report, findings }, 2)}\n`
  },
  junit: renderJunit,
  markdown: renderMarkdown,
}

/** Text of a finding for a live log: the request, what the interface shows, what came. */
export function clientFindingText({
  fault,
  method,
  operation,
  path,
  request,
}: ClientFinding): string {
  const rows = { sent: `${method} ${path} (request ${request})`, ...faultText(fault) }
  return findingText(`${operation ?? 'no operation'}  ${fault.rule}`, rows)
}

/** The report for people; its last line says why the exit code is what it is. */
export function renderClient(report: ClientReport): string {
  const { exit, operations, requests, script, unused } = report
  const width = Math.max(0, ...operations.map(({ operation }) => operation.length))
  const used = operations.map(
    ({ answers, deprecated, operation }) =>
      `  ${operation.padEnd(width)}  ${responsesText(answers)}${deprecated ? '; deprecated (§9)' : ''}`,
  )
  const unmet = operations.flatMap(({ errors, operation }) => {
    const left = errors.filter(({ met }) => met === 0).map(conditionText)
    return left.length === 0 ? [] : [`  ${operation.padEnd(width)}  ${left.join(', ')}`]
  })
  const parts = [
    `${count(requests, 'request')} to ${count(operations.length, 'operation')}`,
    ...used,
    ...section(
      'Errors that the client did not meet; a header, or an answer of a --script, brings each about',
      unmet,
    ),
    ...section(
      'Script',
      script.map((one) => `  ${playedText(one)}`),
    ),
    ...section(
      'Operations that the client did not use',
      unused.length === 0 ? [] : [`  ${unused.join(', ')}`],
    ),
    '',
    `exit ${exit.code}: ${exit.because}`,
  ]
  return `${parts.map((line) => terminalText(line)).join('\n')}\n`
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines]
}

/** A case for each operation; one that was not used is skipped. There is a failure or an error exactly if the exit code is not 0. */
function renderJunit(report: ClientReport): string {
  const { durationMs, exit, findings, operations, unused } = report
  const elsewhere = findings.some(({ operation }) => operation === null)
  const used = [
    ...operations.map(({ operation, requests }) => ({
      name: operation,
      note: `: ${count(requests, 'request')}`,
    })),
    ...(elsewhere ? [{ name: 'no operation', note: '' }] : []),
  ]
  const cases = used.map(({ name, note }): TestCase => {
    const own = findings.filter(({ operation }) => (operation ?? 'no operation') === name)
    const faults = own
      .map(({ fault }) => faultText(fault))
      .map(({ expected, received }) => `${expected}: ${received}`)
    const text = own.map(clientFindingText).join('')
    const found = { kind: 'failure', message: faults.join('; '), type: 'request', text } as const
    return { name: name + note, classname: 'client', ...(own.length > 0 && { found }) }
  })
  const skipped = { kind: 'skipped', message: 'the client did not use it' } as const
  const error = { kind: 'error', message: exit.because, type: 'run' } as const
  const all = [
    ...cases,
    ...unused.map((name): TestCase => ({ name, classname: 'client', found: skipped })),
    ...(exit.code === 3 ? [{ name: 'run', classname: 'run', found: error }] : []),
  ]
  const name = 'requests of the client'
  return junitText(name, report, [{ name, durationMs, cases: all }])
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
      ['request', 'interface', 'client', 'times'],
      findings.map((finding) => {
        const { expected, received } = faultText(finding.fault)
        return `| ${markdownCode(`${finding.method} ${finding.path}`)} | ${markdownText(expected)} | ${markdownText(received)} | ${finding.count} |`
      }),
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

/** A fault in words: what the interface shows, and what came. */
interface FaultText {
  readonly expected: string
  readonly received: string
}

type Rule = ClientFault['rule']
type Texts = { readonly [R in Rule]: (fault: Extract<ClientFault, { rule: R }>) => FaultText }

const bodies = {
  absent: ['a JSON object as the body', 'no body'],
  'not-json': ['JSON', 'a body that is no JSON'],
  'not-utf-8': ['JSON in UTF-8', 'a body that is not UTF-8'],
  unexpected: ['no body', 'a body'],
} as const

const credentials = {
  absent: 'no Authorization header',
  'other-scheme': 'an Authorization header of another scheme',
  'no-key': 'no key after Bearer, or the name of a value that is not set',
} as const

const texts: Texts = {
  path: ({ hint }) => ({
    expected: 'a path of the interface (§4)',
    received: `an unknown path${hint === undefined ? '' : `; did you mean ${hint}?`}`,
  }),
  method: ({ shown }) => ({ expected: `${shown.join(' or ')} (§4)`, received: 'another method' }),
  'path-parameter': ({ name, received }) => ({
    expected: `${name} is a uuid (§4.3)`,
    received: preview(received),
  }),
  query: ({ name, problem }) => ({
    expected: `${name} is one text: extensions without the dot, separated by commas (§2.8)`,
    received: problem === 'dot' ? 'an extension with a dot' : `${name} more than once`,
  }),
  authorization: ({ problem }) => ({
    expected: 'Authorization: Bearer <API_KEY> (§5)',
    received: credentials[problem],
  }),
  'content-type': ({ problem, received }) => ({
    expected:
      problem === 'form'
        ? 'the file as the body, labelled with its media type (§2.8)'
        : 'application/json (§4)',
    received: received ?? 'no Content-Type',
  }),
  'content-disposition': ({ received }) => ({
    expected: 'attachment; filename="..." (§2.8)',
    received,
  }),
  body: ({ problem }) => ({ expected: `${bodies[problem][0]} (§4)`, received: bodies[problem][1] }),
  member: memberText,
  'repeated-creation': ({ job }) => ({
    expected: 'one job in progress per application (§8)',
    received: `another creation, answered 409: job ${job} had not been seen to end`,
  }),
  waiting: ({ retryAfter, waitedMs }) => ({
    expected:
      retryAfter === undefined
        ? 'a pause before the next try (§7.2)'
        : `a pause of ${retryAfter} s (Retry-After)`,
    received:
      retryAfter === undefined
        ? `the next try after ${waitedMs} ms, twice in a row`
        : `the next try after ${waitedMs} ms`,
  }),
}

function faultText(fault: ClientFault): FaultText {
  return (texts[fault.rule] as (one: ClientFault) => FaultText)(fault)
}

function memberText({ at, expected, received, section }: MemberFault): FaultText {
  const name = at === '' ? 'the body' : at
  return {
    expected: `${name} is ${shapeText(expected)} (§${section})`,
    received: received === undefined ? `no ${name}` : `${received.kind} ${preview(received.value)}`,
  }
}

function shapeText(expected: Expected): string {
  if (expected === 'url') return 'a web address or a data URL'
  if ('values' in expected) return expected.values.join(' or ')
  if ('from' in expected) return `from ${expected.from} to ${expected.to}`
  return expected.kinds.length === 0 ? 'there' : `of type ${expected.kinds.join(' or ')}`
}

type Used = ClientReport['operations'][number]

function responsesText(responses: Used['answers']): string {
  return responses
    .map(({ count: times, status, tpe = '' }) => `${`${status} ${tpe}`.trim()} ×${times}`)
    .join(', ')
}

/** `429 QuotaExceeded`, and what brings it about. */
function conditionText({ simulate, status, tpe }: Used['errors'][number]): string {
  return `${status} ${tpe}${simulate === undefined ? '' : ` (x-simulate: ${simulate})`}`
}

function playedText({
  error: { retryAfter, status, tpe },
  isTooEarly,
  operation,
  waitedMs,
}: ClientReport['script'][number]): string {
  const asked = `${operation} was answered ${status} ${tpe}${retryAfter === undefined ? '' : `, Retry-After ${retryAfter}`}`
  if (waitedMs === undefined) return `${asked}: the client did not come back`
  return `${asked}: the client came back after ${waitedMs} ms${isTooEarly ? ', which is too early' : ''}`
}
