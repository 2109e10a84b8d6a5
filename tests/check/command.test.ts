import { formatNames } from '../../reporters/index.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import { readReport } from '../../harness/report/json-file.ts'
import { conform } from '../cli/in-process.ts'
import { envelope, granted, har, type Told } from './har.ts'
import { inFile } from './recording.ts'

const dir = folder()
const at = (name: string) => join(dir, name)

async function check(told: Told[], ...args: string[]) {
  const file = inFile(JSON.stringify(har(...told)))
  return { ...(await conform(['check', file, ...args])), file }
}

const pdf = granted['pdf.parse/200-text']!
const bad: Told = { ...pdf, answers: {} }
const unlabelled: Told = { ...pdf, type: 'text/plain' }

test('0 where nothing failed, 1 where a must did, 3 where nothing was judged', async () => {
  expect(await check([pdf, { to: 'https://example.org/' }])).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(
      /^a recording can show at most \d+ of \d+ requirements\n1 of 2 entries judged; ignored: 1 to addresses not under https:\/\/api\.example\.com\/base\/v1\/\n[^]*Incomplete: /,
    ),
  })
  expect(await check([bad])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('content is missing'),
  })
  const said = 'exit 3: nothing was judged: the recording'
  expect((await check([])).stdout).toContain(`${said} has no answered request to an operation`)
  const refused = { ...pdf, status: 404, answers: envelope('NotFound') }
  expect((await check([refused])).stdout).toContain(`${said} contains no successful response`)
  // A must that a recording breaks gives 1, however little else it shows.
  expect((await check([{ ...refused, answers: {} }])).stdout).toMatch(
    /^exit 1: \d required checks? failed$/m,
  )
})

test('a recording of months is reported in days', async () => {
  const { log } = har(pdf, pdf)
  const late = { ...log.entries[1], startedDateTime: '2026-06-26T18:57:00.000Z' }
  const file = inFile(JSON.stringify({ log: { entries: [log.entries[0], late] } }))
  const { stdout } = await conform(['check', file])
  expect(stdout).toContain('requests in 117 days 6 h; recorded traffic')
})

test('--strict, --tpe and --baseline decide as in a run', async () => {
  expect((await check([unlabelled])).code).toBe(0)
  expect((await check([unlabelled], '--strict')).code).toBe(1)
  expect((await check([bad], '--tpe', 'family')).code).toBe(1)
  writeFileSync(at('baseline.json'), '{"expected": [{"id": "pdf.parse/200-text"}]}')
  expect((await check([bad], '--baseline', at('baseline.json'))).code).toBe(0)
  expect((await check([pdf], '--baseline', at('baseline.json'))).code).toBe(1)
})

test('says first how much a recording of that target can show', async () => {
  const shown = async (...args: string[]) =>
    Number(/^a recording can show at most (\d+) of/.exec((await check([pdf], ...args)).stdout)![1])
  writeFileSync(at('less.json'), '{"operations": {"vision.analyze": "not-served"}}')
  const all = await shown()
  expect(all).toBeGreaterThan(17)
  expect(await shown('--target', at('less.json'))).toBe(all - 1)
})

test('a mistake of the user is one sentence', async () => {
  const wrong = async (...args: string[]) => {
    const { code, stdout, stderr } = await check([pdf], ...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^conform: .*\n$/)
    return stderr.slice('conform: '.length, -1)
  }
  expect(await wrong('--base-url', 'example.com')).toMatch(
    /^--base-url: must be an http or https URL like/,
  )
  expect(await wrong('--target', at('none.json'))).toBe(`${at('none.json')}: does not exist`)
  expect(await wrong('--baseline', at('none.json'))).toBe(`${at('none.json')}: does not exist`)
  expect(await wrong('--report', 'pdf')).toMatch(/pdf is not a format/)
  writeFileSync(at('file'), '')
  expect(await wrong('--report', `json=${at('file/x.json')}`)).toMatch(
    /cannot be written \((ENOTDIR|EEXIST)\)$/,
  )
})

test('the recording is not overwritten, and a report of another target is warned of', async () => {
  const { file } = await check([bad], '--report', `json=${at('other.json')}`)
  const own = await conform(['check', file, '--report', `har=${file}`])
  expect(own.code).toBe(2)
  expect(own.stderr).toMatch(/would overwrite the recording; give another file\n$/)
  const { report } = readReport(at('other.json'))
  writeFileSync(
    at('other.json'),
    JSON.stringify({ ...report, target: { ...report.target, baseUrl: 'https://x.example' } }),
  )
  const { code, stderr } = await check([bad], '--baseline', at('other.json'))
  expect(stderr).toMatch(
    /^conform: warning: .*other\.json is a report of another target \(.*https:\/\/x\.example\)/,
  )
  expect(code).toBe(0)
})

test('writes every format, and a report on stdout leaves the rest to stderr', async () => {
  const { code } = await check(
    [bad, pdf],
    ...formatNames.flatMap((name) => ['--report', `${name}=${at(`report.${name}`)}`]),
  )
  expect(code).toBe(1)
  for (const name of formatNames)
    expect(readFileSync(at(`report.${name}`), 'utf8').length).toBeGreaterThan(200)
  expect(readReport(at('report.json')).report).toMatchObject({
    verdict: 'non-conformant',
    run: { requests: 2 },
  })
  expect(readFileSync(at('report.html'), 'utf8')).not.toContain('Requests of the run itself')
  const { stdout, stderr } = await check([bad], '--report', 'json=-')
  expect(JSON.parse(stdout)).toMatchObject({ format: 'conformance-report/1' })
  expect(stderr).toMatch(/^non-conformant: /im)
})

test('the command that shows a failure again names the same files', async () => {
  writeFileSync(at('a target.json'), '{"name": "Staging"}')
  const { file } = await check(
    [bad],
    '--target',
    at('a target.json'),
    '--tpe',
    'family',
    '--report',
    `json=${at('again.json')}`,
  )
  const { requirements } = readReport(at('again.json')).report
  expect(requirements.find(({ id }) => id === 'pdf.parse/200-text')?.failures[0]?.rerun).toBe(
    `conform check ${file} --target '${at('a target.json')}' --tpe family`,
  )
})
