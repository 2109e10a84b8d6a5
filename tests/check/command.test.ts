import { formatNames } from '../../reporters/index.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import { readReport } from '../../harness/report/json-file.ts'
import { conform } from '../cli/in-process.ts'
import { granted, har, type Told, entry, envelope } from './har.ts'
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
      /^1 of 2 entries judged; ignored: 1 to addresses not under https:\/\/api\.example\.com\/base\/v1\/\n[^]*Incomplete \(passing\): /,
    ),
  })
  expect(await check([bad])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('content is missing'),
  })
  expect(await check([])).toMatchObject({ code: 3, stdout: expect.stringMatching(/not.judged/i) })
})

test('--strict, --tpe and --baseline decide as in a run', async () => {
  expect((await check([unlabelled])).code).toBe(0)
  expect((await check([unlabelled], '--strict')).code).toBe(1)
  expect((await check([bad], '--tpe', 'family')).code).toBe(1)
  writeFileSync(at('baseline.json'), '{"expected": [{"id": "pdf.parse/200-text"}]}')
  expect((await check([bad], '--baseline', at('baseline.json'))).code).toBe(0)
  expect((await check([pdf], '--baseline', at('baseline.json'))).code).toBe(1)
})

test('a mistake of the user is one sentence', async () => {
  const wrong = async (...args: string[]) => {
    const { code, stdout, stderr } = await check([pdf], ...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^conform: .*\n$/)
    return stderr.slice('conform: '.length, -1)
  }
  expect(await wrong('--base-url', 'example.com')).toMatch(
    /^--base-url: has no scheme; did you mean https:\/\/example\.com\?$/,
  )
  expect(await wrong('--target', at('none.json'))).toBe(`${at('none.json')}: no such target file`)
  expect(await wrong('--baseline', at('none.json'))).toBe(`${at('none.json')}: does not exist`)
  expect(await wrong('--report', 'pdf')).toMatch(/pdf is not a format/)
  writeFileSync(at('file'), '')
  expect(await wrong('--report', `json=${at('file/x.json')}`)).toMatch(
    /cannot be written \((ENOTDIR|EEXIST)\)$/,
  )
})

test('a recording without bodies is said to be one, once', async () => {
  const bare: Told = { ...pdf, content: { text: undefined, size: 120 }, response: {} }
  const said = /^conform: warning: the recording holds no bodies of answers.*\n$/
  expect((await check([bare, { ...bare, status: 404 }])).stderr).toMatch(said)
  // One that has them all, or has nothing of the interface, is none.
  expect((await check([pdf, bare])).stderr).toBe('')
  expect((await check([{ to: 'https://example.org/', content: { text: undefined } }])).stderr).toBe(
    '',
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

/** `check --judge-client`: the requests of a recording, by the rules by which `serve --judge-client` judges those of a client. */

const authorization = 'Bearer nobody.may.see'
const json = { name: 'Content-Type', value: 'application/json' }

/** A HAR whose requests have these headers besides. */
function sentWith(headers: readonly { name: string; value: string }[], ...told: Told[]) {
  const entries = told.map(entry).map(({ request, ...rest }) => ({
    ...rest,
    request: { ...request, headers: [...request.headers, ...headers] },
  }))
  return { log: { ...har().log, entries } }
}

async function conformOn(recording: object, ...options: string[]) {
  const cwd = folder()
  writeFileSync(join(cwd, 'x.har'), JSON.stringify(recording))
  return conform(['check', 'x.har', ...options], { cwd })
}

async function judged(recording: object, ...options: string[]) {
  const { code, stderr, stdout } = await conformOn(recording, ...options)
  expect(stderr).toBe('')
  return {
    code,
    told: [...stdout.matchAll(/^[✗!] (.*)$/gm)].map(([, line]) => line),
    client: /^the client: (.*)$/m.exec(stdout)?.[1],
    last: stdout.trimEnd().split('\n').at(-1),
    stdout,
  }
}

const list = { to: '/v1/files', answers: [], authorization }
const medical: Told = {
  ...granted['medical.comprehend/200-entities']!,
  ...{ sends: { content: ['a'], response_type: 'Entities' }, authorization },
}

test('a request that does not keep the interface decides, if that is asked for', async () => {
  const recording = sentWith([json], list, medical)
  expect(await judged(recording, '--judge-client')).toMatchObject({
    code: 1,
    told: ['medical.comprehend  member'],
    last: 'exit 1: the client: 1 request did not keep the interface',
  })
  const junit = await conformOn(recording, '--judge-client', '--report', 'junit=-')
  expect(junit.stdout.match(/<error /g)).toHaveLength(1)
  expect(junit.stdout).toContain('expected /content is of type string (§2.8), received array')
  expect(await judged(recording)).toMatchObject({ code: 0, told: [], client: undefined })
})

test('a refusal by a server of that kind is a remark', async () => {
  const refused = { ...list, to: '/v1/translate', sends: { text: '' } }
  const answers = envelope('InvalidInputParameters')
  const recording = sentWith([json], list, { ...refused, status: 400, answers })
  expect(await judged(recording, '--judge-client')).toMatchObject({
    code: 0,
    told: ['translate.run  remark: refused'],
    client: 'no request was wrong by itself; 1 remark',
  })
})

test('what a recorder leaves out is no fault of the client', async () => {
  const { authorization: _, ...noKey } = list
  // No headers at all; keys removed everywhere; our own way to write a key.
  for (const recording of [
    har(noKey, granted['medical.comprehend/200-entities']!),
    sentWith([json], noKey, noKey),
    har({ ...list, authorization: 'Bearer $CONFORM_API_KEY' }),
  ])
    expect(await judged(recording, '--judge-client')).toMatchObject({
      ...{ code: 0, told: [], client: 'every request kept the interface' },
    })
  expect(await judged(sentWith([json], list, noKey), '--judge-client')).toMatchObject({
    ...{ code: 1, told: ['files.list  authorization'] },
  })
})

test('pauses are those between the times of the recording', async () => {
  const at = (ms: number) => ({
    startedDateTime: new Date(Date.UTC(2026, 0, 1) + ms).toISOString(),
  })
  const answers = envelope('QuotaExceeded')
  const limited = { ...entry({ ...list, status: 429, answers }), time: 10.4, ...at(0) }
  const recording = (after: number) => ({
    log: { ...har().log, entries: [limited, { ...entry(list), ...at(after) }] },
  })
  expect(await judged(recording(10), '--judge-client')).toMatchObject({
    ...{ code: 1, told: ['files.list  waiting'] },
  })
  expect(await judged(recording(200), '--judge-client')).toMatchObject({ code: 0, told: [] })
})
