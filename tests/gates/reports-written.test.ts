import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import { failureExchanges, writeReports } from '../../cli/output/write-reports.ts'
import { parseReportRequests, takesStdout } from '../../cli/output/report-requests.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { failed, failure, missed, report, result } from './results.ts'

test('a report goes to its usual file, to a path, or to stdout', () => {
  expect(parseReportRequests(['json', 'ctrf', 'html=a=b.html', 'junit=-'])).toEqual([
    { format: 'json', path: 'conform-report.json' },
    { format: 'ctrf', path: 'conform-report.ctrf.json' },
    { format: 'html', path: 'a=b.html' },
    { format: 'junit', path: '-' },
  ])
  expect(takesStdout(parseReportRequests(['json', 'junit=-']))).toBe(true)
  expect(takesStdout(parseReportRequests(['json']))).toBe(false)
})

test.each([
  [['jsno'], '--report jsno: jsno is not a format here; did you mean json?'],
  [['JSON=x'], 'JSON is not a format here'],
  [['json='], '--report json=: give a path after ='],
  [['json=-', 'html=-'], '--report html=-: stdout (-) is taken by --report json=-'],
  [['json=x', 'html=x'], '--report html=x: x is taken by --report json=x'],
])('%s is refused', (values, message) => {
  expect(() => parseReportRequests(values)).toThrow(message)
})

test.each(['har', 'har=x'])('a merge writes no HAR (%s)', async (format) => {
  const { code, stderr } = await conform(['merge', 'part.json', '--report', format])
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('merge writes no HAR') as string,
  })
})

test('a report that cannot be written is named, and the others are written', async () => {
  const at = folder()
  const whole = report([failed('a.b/1')])
  const requests = parseReportRequests([
    `json=${at}/none/r.json`,
    `junit=${at}/r.xml`,
    `json=${at}/r.json`,
  ])
  const { problems, report: written } = await writeReports(requests, {
    report: whole,
    exchanges: () => [],
  })
  expect(problems).toEqual([`--report json=${at}/none/r.json: cannot be written (ENOENT)`])
  expect(written).toEqual({ ...whole, exit: { code: 2, because: problems[0] } })
  expect(JSON.parse(readFileSync(join(at, 'r.json'), 'utf8'))).toEqual(written)
  expect(readFileSync(join(at, 'r.xml'), 'utf8')).toContain('<testsuite')
})

test('a page and a summary say next what the terminal says: the command of the run, and where its JSON is', async () => {
  const at = folder()
  const command = 'conform --target t.json'
  const cut = report([result('a.b/1'), missed('a.b/2', leftOut('interrupted'))], {
    interrupted: true,
    command,
  })
  const json = `${at}/r.json`
  const requests = parseReportRequests([`json=${json}`, `html=${at}/r.html`, `markdown=${at}/r.md`])
  await writeReports(requests, { report: cut, exchanges: () => [] })
  for (const file of ['r.html', 'r.md'])
    expect(readFileSync(join(at, file), 'utf8')).toContain(`${command} --untested ${json}`)
})

test('stdout gets the report and stays open', async () => {
  const stdout = new PassThrough()
  const whole = report([result('a.b/1')])
  const source = { report: whole, exchanges: () => [], stdout }
  expect((await writeReports(parseReportRequests(['json=-']), source)).problems).toEqual([])
  stdout.end('.')
  const written = await text(stdout)
  expect(JSON.parse(written.slice(0, -1))).toEqual(whole)
})

test('the exchanges of failures are those of the report, in order', () => {
  const silent = failure()
  delete silent.exchange
  const row = result('a.b/2', { outcome: 'failed', failures: [silent, failure()] })
  expect(
    failureExchanges(report([failed('a.b/1'), row])).map(({ n, requirement, role }) => [
      n,
      requirement,
      role,
    ]),
  ).toEqual([
    [0, 'a.b/1', 'probe'],
    [1, 'a.b/2', 'probe'],
  ])
})
