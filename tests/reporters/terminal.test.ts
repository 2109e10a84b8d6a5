import type { LeftOutBy, Report } from '../../harness/report/report-schema.ts'
import pc from 'picocolors'
import { expect, test } from 'vitest'
import { renderTerminal } from '../../reporters/terminal.ts'
import { leftOut, targetReason, undeclaredReason } from '../../harness/report/reason.ts'
import { failed, missed, notApplicable, report, result } from '../gates/results.ts'
import { knowsLinks } from '../../library/output/say.ts'
import { terminalLink } from '../../reporters/terminal/lines.ts'
import { hostile, unsafe } from './hostile.ts'
import { fails, mixed, reportOfText, sampleFailure, sampleReport } from './sample-report.ts'
import { inTerminal } from './shown.ts'

const lines = (report: Report) => inTerminal(report).trimEnd().split('\n')

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

test('ends with the seed, the verdict in one sentence, and why it exits as it does', () => {
  const report = sampleReport({ end: mixed })
  const { must } = report.summary
  expect(lines(report)).toContain('3012 requests in 48.2 s; seed 421: repeat with --seed 421')
  expect(lines(report).slice(-2)).toEqual([
    expect.stringMatching(
      `^Non-conformant: ${must.failed} required checks failed, ${must.passed} passed, ${must.notExercised} not tested`,
    ),
    `exit 1: ${must.failed} required checks failed`,
  ])
})

test('is short where all passes', () => {
  const text = lines(sampleReport())
  expect(text.length).toBeLessThan(13)
  expect(text.at(-1)).toBe('exit 0: no required check failed')
  expect(text.at(-2)).toMatch(/^Conformant: \d+ required checks passed$/)
})

test('groups what was not exercised by its reason, with counts and the first ids', () => {
  const report = sampleReport({ end: mixed })
  const text = inTerminal(report)
  const all = report.summary.must.notExercised + report.summary.should.notExercised
  expect(text).toContain(
    `Not tested: ${all}\n  ${all}  declare /scenarios/<id> in the target file\n`,
  )
  expect(text).toMatch(/, and \d+ more\n/)
  expect(text).toContain('Not applicable: ')
})

test('answers that repeat the path of their request are one reason; of one path alone it is shown', () => {
  const said = (path: string): string =>
    `answered 404 with a page: Cannot POST ${path}, and so was the same request with the full key`
  const shown = (...paths: string[]): string =>
    inTerminal(
      report([failed('a.b/0'), ...paths.map((path, at) => missed(`a.b/${at + 1}`, said(path)))]),
    )
  const two = shown('/v1/files', '/v1/tools/a-b')
  expect(two).toContain(`Not tested: 2\n  2  ${said('<path>')}\n`)
  const one = shown('/v1/files', '/v1/files')
  expect(one).toContain(`Not tested: 2\n  2  ${said('/v1/files')}\n`)
})

test('a reason that names one of those that share it is one reason', () => {
  const reason =
    'the target stopped answering; under way when it stopped: POST /v1/a (a.b/1), POST /v1/a (a.b/2)'
  const rows = ['1', '2', '3'].map((at) => missed(`a.b/${at}`, reason))
  const text = inTerminal(report([failed('a.b/4'), ...rows]))
  expect(text).toContain(`Not tested: 3\n  3  ${reason}\n`)
})

test('says what the curl line needs besides', () => {
  const row = failed('jobs.create/409', { takes: 'job-in-progress' })
  expect(inTerminal(report([row]))).toMatch(
    /^ {4}note {6}one request alone does not show this: a job of the application must be in progress\. /m,
  )
})

test('names a report that is written, or the option that writes it', () => {
  const rows = Array.from({ length: 14 }, (_, at) => missed(`a.b/${at}`, `reason ${at}`))
  const created = [{ operation: 'graphs.create', id: 'g-1' }]
  const of = report([failed('c.d/1', {}, {}, {}), ...rows], { created })
  const none = inTerminal(of)
  expect(none).toContain('created: 1 object (1 by graphs.create); --report json names them\n')
  expect(none).toContain('  and 2 more, for 2 other reasons: --report json (or html) lists them\n')
  expect(none).toContain('    and 2 more failures of it: --report json (or html) lists them\n')
  const written = inTerminal(of, { written: [{ format: 'json', path: 'r.json' }] })
  expect(written).toContain('; the JSON report names them\n')
  expect(written).toContain('  and 2 more, for 2 other reasons: see the reports\n')
})

test('counts in a table', () => {
  const report = sampleReport({ end: mixed })
  const row = lines(report).find((line) => line.startsWith('  must '))!
  expect(row.trim().split(/\s+/)).toEqual([
    'must',
    '(required)',
    ...Object.values(report.summary.must).map(String),
  ])
})

test('the heads of the table stand over their columns, also in colour on a terminal of 80 columns', () => {
  const text = renderTerminal(sampleReport({ end: mixed }), pc.createColors(true), { width: 80 })
  const shown = text.replaceAll(/\u001b\[\d+m/g, '').split('\n')
  const heads = shown.flatMap((line, at) => (line.endsWith('n/a') ? [at] : []))
  expect(heads).toHaveLength(1)
  for (const at of heads) expect(shown[at]).toHaveLength(shown[at + 1]!.length)
})

test('never calls a run that judged nothing a pass', () => {
  const nothing = sampleReport({
    end: () => ({ outcome: 'not-exercised', reason: 'no key: none was given' }),
  })
  expect(nothing.verdict).toBe('not-judged')
  expect(inTerminal(nothing)).not.toContain('passed.')
  expect(lines(nothing).slice(-2)).toEqual([
    'Not judged',
    'exit 3: the target could not be judged (no key: none was given)',
  ])
})

test('says what the run left unsaid: interrupted, insecure, read only, throttled, family names', () => {
  const report = sampleReport({
    end: (at) => (at === 8 ? fails('404 NotFound', { onlyName: true })!(at) : {}),
    run: { interrupted: true, insecure: true, readOnly: true, throttled: 3 },
  })
  const text = inTerminal(report)
  for (const word of ['interrupted: ', 'insecure: ', 'read only: ', 'throttled: 3 answers'])
    expect(text).toContain(`\n${word}`)
  // What was not verified was accepted by no authority.
  const { target } = report
  const ofHttps = (run: object) =>
    inTerminal({
      ...report,
      target: { ...target, baseUrl: 'https://h' },
      run: { ...report.run, ...run },
    })
  expect(ofHttps({ ca: true })).not.toContain('own authority')
  expect(ofHttps({ ca: true, insecure: false })).toContain('\nown authority: ')
  expect(text).toContain('    note      only the code name differs: passes with --tpe family\n')
})

test('prints only the reason if nothing was judged', () => {
  const dead = targetReason('http://127.0.0.1:1', 'connection refused')
  const { reason } = dead
  const rows = [
    missed('a.b/1', dead),
    ...['2', '3', '4'].map((at) => missed(`a.b/${at}`, 'declare /x')),
  ]
  const text = inTerminal(report(rows, { requests: 1 }, { notJudged: reason }))
  expect(text).not.toMatch(/declare|Not tested|must/)
  expect(text.split('\n').length).toBeLessThan(8)
  expect(text).toContain(`\nexit 3: ${reason}\n`)
  const undeclared = inTerminal(report([missed('a.b/1', undeclaredReason([['/x']], '[]'))]))
  expect(undeclared).toContain('Not tested: 1\n')
})

test('counts what an option left out in one line, and the rest as what was selected', () => {
  const out = (id: string, by: LeftOutBy) => missed(id, leftOut(by))
  const rows = [
    failed('a.b/1'),
    result('a.b/2'),
    missed('a.b/3'),
    out('a.b/4', '--only'),
    out('a.b/5', '--only'),
  ]
  const text = inTerminal(
    report([...rows, out('a.b/6', '--read-only'), notApplicable('c.d/1')], { only: ['a.b/*'] }),
  )
  expect(text).toContain('Not tested: 1\n')
  expect(text).toContain('\nLeft out: 2 by --only, 1 by --read-only\n')
  expect(text).toMatch(/^ {2}must \(required\) +1 +1 +1 +0$/m)
  expect(text).toContain(
    '\nNon-conformant: 1 required check failed, 1 passed, 1 not tested\nexit 1: 1 required check failed\n',
  )
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
    expect(long.filter((line) => !/^ {6}(?:conform|curl) /.test(line))).toEqual([])
    expect(text.replaceAll(/\s+/g, ' ')).toBe(wide.replaceAll(/\s+/g, ' '))
  }
  const narrow = inTerminal(of, { width: 50 })
  expect(narrow).toContain(
    '    sent      POST /v1/applications/a-1/jobs with\n              a valid body\n    expected  404',
  )
})

test('ends with every failed id, the reports, and what to do next beside the verdict', () => {
  const run = { command: 'conform -t t.json' }
  const of = report([failed('a.b/1'), failed('a.b/2'), result('c.d/1')], run)
  const written = [
    { format: 'json', path: 'out/r 1.json' },
    { format: 'html', path: 'r.html' },
    { format: 'junit', path: '-' },
  ] as const
  const text = inTerminal(of, { written })
  expect(text).toContain('\nFailed: 2\n  must    a.b/1\n  must    a.b/2\n\n')
  expect(text).toContain('report out/r 1.json\nreport r.html\n')
  expect(text).toMatch(
    /\n\nNext\n {2}1\. Mend a\.b\/1, then 1 more\n {2}2\. Run again what failed\n {6}conform -t t\.json --failed 'out\/r 1\.json'\n\nNon-conformant: .*\nexit 1: .*\n$/,
  )
  expect(inTerminal(report([result('a.b/1')]), { written })).not.toContain('Next')
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
