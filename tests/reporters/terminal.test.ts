import type { Report } from '../../harness/report/report-schema.ts'
import pc from 'picocolors'
import { expect, test } from 'vitest'
import { renderTerminal } from '../../reporters/terminal.ts'
import { leftOut, targetReason, undeclaredReason } from '../../harness/report/reason.ts'
import { failed, failure, missed, report, result } from '../gates/results.ts'
import { knowsLinks } from '../../library/output/say.ts'
import { terminalLink } from '../../reporters/terminal/lines.ts'
import { hostile, unsafe } from './hostile.ts'
import { fails, mixed, reportOfText, sampleFailure, sampleReport } from './sample-report.ts'
import { inTerminal } from './shown.ts'
import { operations } from '../../catalogue/operations.ts'
import { nextSteps } from '../../reporters/view/next-steps.ts'

const all = (report: Report) => inTerminal(report, { isVerbose: true })
const lines = (report: Report) => inTerminal(report).trimEnd().split('\n')

const expired = undeclaredReason([['keys.expired']], '{"keys": {"expired": {"env": "OLD"}}}')
const simulated = undeclaredReason(
  [['scenarios.a.b/429-quota-exceeded']],
  '{"scenarios": {"a.b/429-quota-exceeded": {"headers": {"x-simulate": "quota"}}}}',
)
const dead = targetReason('https://example.com', 'connection refused')
const working = operations.map(({ id }) => result(`${id}/2xx-accepted`))
const broken = operations.map(({ id }) =>
  failed(`${id}/401-missing-credentials`, {
    exchange: {
      ...failure().exchange!,
      response: { status: 500, headers: {}, body: '{"tpe":"InternalError"}' },
    },
  }),
)
const statuses = (status: number) => [{ status, times: 40 }]
const half = operations.slice(0, 10).map(({ id }) => ({ operation: id, answered: '404' }))
const eight = Array.from({ length: 8 }, (_, at) =>
  failed(`a.b/${at}`, { expected: `400 BadRequest ${at} ${'long '.repeat(80)}` }),
)
const huge = failed('a.b/1', {
  exchange: { ...failure().exchange!, curl: `curl -d '${'x'.repeat(300_000)}'` },
})

/** A run as a stranger meets it: how long its screen may be, its first line, and what to do next. */
const situations: readonly (readonly [string, Report, number, string, readonly string[]])[] = [
  ['conformant', report(working), 15, 'Example  https://example.com', []],
  [
    'down',
    report([missed('a.b/1', dead)], { statuses: [] }, { notJudged: dead.reason }),
    15,
    'Example  https://example.com',
    ['Start the server or correct the address (https://example.com), and run again'],
  ],
  [
    'key rejected',
    report(
      [result('envelope/shape'), missed('a.b/1', expired)],
      { statuses: statuses(401) },
      { notJudged: 'the key is not accepted' },
    ),
    15,
    'Example  https://example.com',
    ['Give a key that the server accepts, and run again'],
  ],
  [
    '500 everywhere',
    report(broken, { statuses: statuses(500), hints: ['every path gets the same error'] }),
    25,
    'Example  https://example.com',
    ['Every path gets the same error', 'Run only what failed'],
  ],
  [
    'half-built',
    report([...working.slice(10), failed('a.b/1'), missed('a.b/2', expired)], { absent: half }),
    40,
    'Example  https://example.com',
    [
      'Build the 10 missing operations (answered 404), or declare what you do not offer:',
      'Fix a.b/1',
      'To test 1 more requirement, declare keys.expired (+1); this writes the file:',
      'Run only what failed',
    ],
  ],
  [
    'eight failures',
    report([...working, ...eight]),
    40,
    'Example  https://example.com',
    ['Fix a.b/0 first, then 7 more', 'Run only what failed'],
  ],
  [
    'a huge body',
    report([...working, huge]),
    40,
    'Example  https://example.com',
    ['Fix a.b/1', 'Run only what failed'],
  ],
  [
    'recommendations after untested required checks',
    report([
      ...working,
      missed('a.b/1', expired),
      { ...failed('a.b/2'), level: 'should' as const },
    ]),
    40,
    'Example  https://example.com',
    [
      'To test 1 more requirement, declare keys.expired (+1); this writes the file:',
      'Fix a.b/2',
      'Run only what failed',
    ],
  ],
  [
    'nothing but scenarios left to declare',
    report([...working, missed('a.b/429-quota-exceeded', simulated)]),
    25,
    'Example  https://example.com',
    ['To test 1 more requirement, declare a scenario for */429-quota-exceeded (+1), for example:'],
  ],
  [
    'not served but answering',
    report(working, { notServed: [{ operation: 'vision.analyze', answered: '200' }] }),
    15,
    'Example  https://example.com',
    [expect.stringMatching(/^Declared not served, but answering: vision\.analyze \(200\)/)],
  ],
  [
    'interrupted',
    report([...working, failed('a.b/1'), missed('a.b/2', leftOut('interrupted'))], {
      interrupted: true,
    }),
    40,
    'Interrupted: only what was tested before the interrupt is judged',
    ['Fix a.b/1', 'Run what failed and what was not tested'],
  ],
]

test.each(situations)(
  '%s: one screen, its first line, what to do next',
  (_, of, most, first, next) => {
    const text = inTerminal(of, { width: 80 }).trimEnd().split('\n')
    const rows = text.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 80)), 0)
    expect(rows).toBeLessThanOrEqual(most)
    expect(text[0]).toBe(first)
    expect(nextSteps(of).map((step) => step.text)).toEqual(next)
    expect(text.join('\n')).toMatch(/\nexit \d: [^]*$/)
    expect(inTerminal(of).trimEnd().split('\n').length).toBeLessThanOrEqual(most)
  },
)

test('what is declared not served and answers is beside the verdict', () => {
  const [, of] = situations.find(([name]) => name === 'not served but answering')!
  expect(lines(of).at(-2)).toMatch(
    /^Conformant: .*; declared not served but answering: vision\.analyze \(200\)$/,
  )
})

test('a failure is named once, and the rest is counted', () => {
  const text = inTerminal(report([...working, ...eight]))
  expect(text.match(/^✗ /gm)).toHaveLength(5)
  expect(text.match(/a\.b\/3/g)).toHaveLength(1)
  expect(text).toContain('\nand 3 more failures: --verbose or --report html\n')
  expect(text.match(/^ {4}curl /gm)).toHaveLength(1)
})

test('a group is shown by its simplest example', () => {
  const big = (id: string, size: number) => {
    const { exchange } = failure()
    const request = { ...exchange!.request, body: 'x'.repeat(size) }
    return failed(id, { exchange: { ...exchange!, request } })
  }
  const text = inTerminal(
    report([big('a.b/400-x', 9000), big('c.d/400-x', 3), big('e.f/400-x', 50)]),
  )
  expect(text).toMatch(/^✗ c\.d\/400-x /m)
})

test('shows a failure as evidence: sent, expected, received, again, curl', () => {
  const report = sampleReport({
    end: (at) => (at === 8 ? { outcome: 'failed', failures: [sampleFailure('<id>')] } : {}),
  })
  const text = lines(report)
  const at = text.findIndex((line) => line.startsWith('✗ '))
  expect(text[at]).toBe('✗ pdf.parse/401-invalid-key  must  §5, §7.1')
  expect(text.slice(at + 2, at + 9)).toEqual([
    '    sent      POST /v1/applications/a-1/jobs with a valid body',
    '    expected  404 ResourceNotFound',
    '    received  404 NotFound',
    '    again',
    '      conform https://staging.example.com --only pdf.parse/401-invalid-key --seed 421',
    '    curl',
    `      ${sampleFailure('').exchange!.curl}`,
  ])
})

test('only the words stand out in which expected and received differ', () => {
  const response = { status: 400, headers: {}, body: '{"tpe":"badrequest"}' }
  const row = failed('a.b/1', {
    ...{
      expected: '400 BadRequest (§7.2)',
      actual: '400 badrequest "no (BadRequest)"',
      asked: ['400', 'BadRequest'],
    },
    exchange: { ...sampleFailure('').exchange!, response },
  })
  const text = renderTerminal(report([row]), pc.createColors(true))
  const standOut = (word: string, code: number) =>
    `\u001b[1m\u001b[${code}m${word}\u001b[39m\u001b[22m`
  expect(text).toContain(`400 ${standOut('BadRequest', 32)} (§7.2)\n`)
  expect(text).toContain(`400 ${standOut('badrequest', 31)} "no (BadRequest)"\n`)
})

test('groups what was not exercised by its reason, with counts and the first ids', () => {
  const report = sampleReport({ end: mixed })
  const text = all(report)
  const missed = report.summary.must.notExercised + report.summary.should.notExercised
  expect(text).toContain(
    `Not tested: ${missed}\n  ${missed}  declare /scenarios/<id> in the target file\n`,
  )
  expect(text).toContain('Not applicable: ')
})

test('answers that repeat the path of their request are one reason; of one path alone it is shown', () => {
  const said = (path: string): string =>
    `answered 404 with a page: Cannot POST ${path}, and so was the same request with the full key`
  const shown = (...paths: string[]): string =>
    all(report([failed('a.b/0'), ...paths.map((path, at) => missed(`a.b/${at + 1}`, said(path)))]))
  const two = shown('/v1/files', '/v1/tools/a-b')
  expect(two).toContain(`Not tested: 2\n  2  ${said('<path>')}\n`)
  const one = shown('/v1/files', '/v1/files')
  expect(one).toContain(`Not tested: 2\n  2  ${said('/v1/files')}\n`)
})

test('a reason that names one of those that share it is one reason', () => {
  const reason =
    'the target stopped answering; under way when it stopped: POST /v1/a (a.b/1), POST /v1/a (a.b/2)'
  const rows = ['1', '2', '3'].map((at) => missed(`a.b/${at}`, reason))
  const text = all(report([failed('a.b/4'), ...rows]))
  expect(text).toContain(`Not tested: 3\n  3  ${reason}\n`)
})

test('says what the curl line needs besides', () => {
  const row = failed('jobs.create/409', { takes: 'job-in-progress' })
  expect(inTerminal(report([row]))).toMatch(
    /^ {4}note {6}one request alone does not reproduce this: a job of the application must be running\. /m,
  )
})

test('counts in a table', () => {
  const report = sampleReport({ end: mixed })
  const row = all(report)
    .split('\n')
    .find((line) => line.startsWith('  must '))!
  expect(row.trim().split(/\s+/)).toEqual([
    'must',
    '(required)',
    ...Object.values(report.summary.must).map(String),
  ])
})

test('the heads of the table stand over their columns, also in colour on a terminal of 80 columns', () => {
  const text = renderTerminal(sampleReport({ end: mixed }), pc.createColors(true), {
    width: 80,
    isVerbose: true,
  })
  const shown = text.replaceAll(/\u001b\[\d+m/g, '').split('\n')
  const heads = shown.flatMap((line, at) => (line.endsWith('n/a') ? [at] : []))
  expect(heads).toHaveLength(1)
  for (const at of heads) expect(shown[at]).toHaveLength(shown[at + 1]!.length)
})

test('names expected failures once and stale entries with the reason', () => {
  const report = sampleReport({
    end: (at) => (at === 8 || at === 9 ? fails()!(at) : {}),
    run: {
      baseline: {
        file: 'expected.json',
        expected: ['pdf.parse/401-invalid-key'],
        stale: [{ id: 'pdf.parse/404-unknown', why: 'it passed' }],
        notExercised: ['files.list/401-expired-key'],
        reasons: [
          { id: 'pdf.parse/401-invalid-key', reason: 'the old <gateway>' },
          { id: 'files.list/401-expired-key', reason: 'no such key yet' },
        ],
      },
    },
  })
  const text = inTerminal(report)
  expect(text).toContain('failed as expected  pdf.parse/401-invalid-key: the old <gateway>')
  expect(text).toContain('not tested          files.list/401-expired-key: no such key yet')
  expect(text.match(/^✗ .*/gm)).toEqual(['✗ pdf.parse/401-expired-key  must  §5'])
  expect(text).toContain('failed as expected  pdf.parse/401-invalid-key')
  expect(text).toContain('stale entry         pdf.parse/404-unknown: it passed')
  expect(text).toContain('not tested          files.list/401-expired-key')
})

test('no text of a target reaches the terminal as a control', () => {
  const text = inTerminal(reportOfText(hostile, 60))
  expect(text).not.toMatch(unsafe)
  expect(text).toContain('\\x1b[2J')
  expect(text).toContain('\\u202e')
  expect(text.split('\n').filter((line) => line.startsWith('::'))).toEqual([])
})

test('colours only where they are enabled', () => {
  expect(renderTerminal(sampleReport({ end: mixed }), pc.createColors(true))).toMatch(/\u001b\[31m/)
})

test('is broken to the width of a terminal: what follows is indented, what is copied stays whole', () => {
  const of = sampleReport({ end: mixed })
  const wide = inTerminal(of)
  for (const width of [60, 80, 120]) {
    const text = inTerminal(of, { width })
    const long = text.split('\n').filter((line) => line.length > width)
    expect(long.filter((line) => !/^ {4,6}(?:conform|curl) /.test(line))).toEqual([])
    expect(text.replaceAll(/\s+/g, ' ')).toBe(wide.replaceAll(/\s+/g, ' '))
  }
  const narrow = inTerminal(of, { width: 50 })
  expect(narrow).toContain(
    '    sent      POST /v1/applications/a-1/jobs with\n              a valid body\n    expected  404',
  )
})

test('paths are links in a terminal that knows them, and in no other', () => {
  const of = report([failed('a.b/1')])
  const written = [{ format: 'html', path: '/tmp/r.html' }]
  const text = inTerminal(of, { written, link: terminalLink, width: 80 })
  expect(text).toContain('report \u001b]8;;file:///tmp/r.html\u0007/tmp/r.html\u001b]8;;\u0007\n')
  expect(inTerminal(of, { written })).not.toContain('\u001b')
  const terminal = { isTTY: true }
  expect(knowsLinks(terminal, { TERM_PROGRAM: 'vscode' })).toBe(true)
  expect(knowsLinks(terminal, { VTE_VERSION: '7600' })).toBe(true)
  for (const env of [{}, { TERM_PROGRAM: 'vscode', TMUX: 'x' }, { WT_SESSION: '1', TERM: 'dumb' }])
    expect(knowsLinks(terminal, env)).toBe(false)
  expect(knowsLinks({}, { TERM_PROGRAM: 'vscode' })).toBe(false)
})
