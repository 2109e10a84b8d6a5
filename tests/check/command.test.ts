/** `conform check`: what it decides and writes, and what the target file says of a recording. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readReport } from '../../harness/report/json-file.ts'
import { formatNames } from '../../reporters/index.ts'
import { folder } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import { check, envelope, failedIds, granted, har, rowOf, type Told } from './recording.ts'

const dir = folder()
const at = (name: string) => join(dir, name)
function place(name: string, content: object | string): string {
  writeFileSync(at(name), typeof content === 'string' ? content : JSON.stringify(content))
  return at(name)
}

async function run(told: Told[], ...args: string[]) {
  const file = place('traffic.har', har(...told))
  return { ...(await conform(['check', file, ...args])), file }
}

const pdf = granted['pdf.parse/200-text']!
const bad: Told = { ...pdf, answers: {} }
const refused: Told = { ...pdf, status: 404, answers: envelope('NotFound') }

test('check ends with 0 where nothing failed, with 1 where a must did, with 3 where nothing was judged', async () => {
  const passed = await run([pdf, { to: 'https://example.org/' }])
  expect(passed).toMatchObject({ code: 0, stderr: '' })
  expect(passed.stdout).toMatch(
    /^a recording can show at most \d+ of \d+ requirements\n1 of 2 entries judged\n[^]*Incomplete: /,
  )
  const failed = await run([bad])
  expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('content is missing') })
  const said = 'exit 3: nothing was judged: the recording'
  const empty = await run([])
  expect(empty.stdout).toContain(`${said} has no answered request to an operation`)
  expect((await run([refused])).stdout).toContain(`${said} contains no successful response`)
})

test('a recording of months is reported in hours', async () => {
  const { log } = har(pdf, pdf)
  Object.assign(log.entries[1]!, { startedDateTime: '2026-06-26T18:57:00.000Z' })
  const { stdout } = await conform(['check', place('long.har', { log })])
  expect(stdout).toContain('requests in 2814 h 57 min; recorded traffic')
})

test('--strict, --tpe and --baseline decide as in a run', async () => {
  const code = async (...given: Parameters<typeof run>) => (await run(...given)).code
  const unlabelled = [{ ...pdf, type: 'text/plain' }]
  expect([await code(unlabelled), await code(unlabelled, '--strict')]).toEqual([0, 1])
  expect(await code([bad], '--tpe', 'family')).toBe(1)
  const baseline = place('baseline.json', { expected: [{ id: 'pdf.parse/200-text' }] })
  expect(await code([bad], '--baseline', baseline)).toBe(0)
  expect(await code([pdf], '--baseline', baseline)).toBe(1)
})

test('check says first how much a recording of that target can show', async () => {
  const shown = async (...args: string[]) =>
    Number(/^a recording can show at most (\d+) of/.exec((await run([pdf], ...args)).stdout)![1])
  const less = place('less.json', { operations: { 'vision.analyze': 'not-served' } })
  const all = await shown()
  expect(all).toBeGreaterThan(17)
  expect(await shown('--target', less)).toBeLessThan(all)
  const translation = {
    body: { text: 'tea', source: 'en', target: 'de' },
    fields: { text: '/text' },
  }
  const more = place('more.json', { operations: { 'translate.run': translation } })
  expect(await shown('--target', more)).toBeGreaterThan(all)
})

test.each([
  ['--base-url example.com', /^conform: the base URL must be an http or https URL like/],
  ['--target none.json', /^conform: none\.json: does not exist$/],
  ['--report har=traffic.har', /would overwrite the recording; give another file$/],
])('check %s is refused in one sentence', async (args, sentence) => {
  place('traffic.har', har(pdf))
  const ended = await conform(`check traffic.har ${args}`, { cwd: dir })
  expect(ended).toMatchObject({ code: 2, stdout: '' })
  expect(ended.stderr.trimEnd()).toMatch(sentence)
})

test('check writes every format; one on stdout leaves the rest to stderr', async () => {
  const reports = formatNames.flatMap((name) => ['--report', `${name}=${at(`report.${name}`)}`])
  expect(await run([bad, pdf], ...reports)).toMatchObject({ code: 1 })
  const texts = formatNames.map((name) => readFileSync(at(`report.${name}`), 'utf8'))
  for (const text of texts) expect(text.length).toBeGreaterThan(200)
  expect(texts.join()).not.toContain('Requests of the run itself')
  const written = readReport(at('report.json')).report
  expect(written).toMatchObject({ verdict: 'non-conformant', run: { requests: 2 } })
  const { stdout, stderr } = await run([bad], '--report', 'json=-')
  expect(JSON.parse(stdout)).toMatchObject({ format: 'conformance-report/1' })
  expect(stderr).toMatch(/^non-conformant: /im)
})

test('check warns of a baseline that is a report of another target', async () => {
  await run([bad], '--report', `json=${at('other.json')}`)
  const { report } = readReport(at('other.json'))
  place('other.json', { ...report, target: { ...report.target, baseUrl: 'https://x.example' } })
  const { code, stderr } = await run([bad], '--baseline', at('other.json'))
  expect(code).toBe(0)
  expect(stderr).toMatch(
    /^conform: warning: .*other\.json is a report of another target \(.*https:\/\/x\.example\)/,
  )
})

test('the command that shows a failure again names the same files', async () => {
  const target = place('a target.json', { name: 'Staging' })
  const again = ['--report', `json=${at('again.json')}`]
  const { file } = await run([bad], '--target', target, '--tpe', 'family', ...again)
  const [failure] = rowOf(readReport(at('again.json')).report, 'pdf.parse/200-text').failures
  expect(failure?.rerun).toBe(`conform check ${file} --target '${target}' --tpe family`)
})

const broken = (to: string): Told => ({ ...bad, to })
const target = (file: object) => ({ target: place(`${crypto.randomUUID()}.json`, file) })
const outcomeOf = async (told: Told[], file: object, id: string) =>
  rowOf(await check(har(...told), target(file)), id)
const here = 'https://here.example.com/v1/tools/pdf-parser/f'
const there = 'https://there.example.com/eu/v1/tools/pdf-parser/f'

test('the base URL is the one given, else the target file’s, else where most operations are', async () => {
  const recorded = har(broken(here), broken(here), broken(there))
  const judged = async (options: Parameters<typeof check>[1]) => {
    const { target: found, run: facts } = await check(recorded, options)
    return `${facts.requests} to ${found.baseUrl}`
  }
  const file = target({ baseUrl: 'https://there.example.com/eu/' })
  expect(await judged({})).toBe('2 to https://here.example.com')
  expect(await judged(file)).toBe('1 to https://there.example.com/eu')
  const given = 'HTTPS://HERE.example.com:443/'
  expect(await judged({ ...file, baseUrl: given })).toBe('2 to https://here.example.com')
  const elsewhere = 'https://here.example.com/eu'
  expect(await judged({ baseUrl: elsewhere })).toBe(`0 to ${elsewhere}`)
})

test('what the target does not serve or cannot reach is not applicable, and not judged', async () => {
  const gone = { ...pdf, status: 404, answers: '<h1>Gone', type: 'text/html' }
  const told = [gone, granted['files.list/2xx-accepted']!]
  for (const absence of ['not-served', 'removed']) {
    const file = { operations: { 'pdf.parse': absence } }
    const reason = `declared ${absence.replace('-', ' ')}`
    const parsed = await outcomeOf(told, file, 'pdf.parse/200-text')
    expect(parsed).toMatchObject({ outcome: 'not-applicable', reason })
    for (const id of ['envelope/shape', 'envelope/content-type'])
      expect((await outcomeOf(told, file, id)).outcome).toBe('not-exercised')
  }
  expect((await outcomeOf([gone], {}, 'envelope/shape')).outcome).toBe('failed')
  const overload = 'completion.create/500-model-overload'
  const file = { unreachable: { 'completion.create/500-*': 'no switch' } }
  expect(await outcomeOf([broken(here)], file, overload)).toMatchObject({
    outcome: 'not-applicable',
    reason: 'declared unreachable: no switch',
  })
})

test('a declared place of response_type is the one that is read', async () => {
  const id = 'medical.comprehend/200-entities'
  const medical = har({ ...granted[id]!, sends: { as: 'Entities' }, answers: {} })
  const own = { body: { content: 'a', as: 'Entities' }, fields: { response_type: '/as' } }
  const declared = target({ operations: { 'medical.comprehend': own } })
  expect(failedIds(await check(medical, declared))).toEqual([id])
  expect(failedIds(await check(medical))).toEqual([])
})

test('nothing is sent, so that keys and headers need not be available', async () => {
  const unset = { env: 'CHECK_NO_SUCH_VARIABLE' }
  const declared = target({
    ...{ name: 'Staging', headers: { 'x-tenant': unset } },
    keys: { full: unset, expired: { file: 'no-such-file' }, restricted: { command: ['no-such'] } },
    scenarios: { 'jobs.create/429-quota-exceeded': { headers: { 'x-simulate': unset } } },
  })
  expect(await check(har(broken(here)), declared)).toMatchObject({
    target: { name: 'Staging', baseUrl: 'https://here.example.com' },
    verdict: 'non-conformant',
  })
})
