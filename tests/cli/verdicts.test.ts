import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { folder, ids, readReport, referenceKey, row, targetFile } from './conform.ts'
import { conform } from './in-process.ts'
import { judged, reference } from './reference.ts'

const run = promisify(execFile)
const withKey = { env: { CONFORM_API_KEY: referenceKey } }

test('a port where nobody listens cannot be judged', async () => {
  const closed = await reference()
  await closed.close()
  const cwd = folder()
  const { code, stdout, ms } = await conform(`${closed.url} --report json`, { cwd, ...withKey })
  expect(code).toBe(3)
  expect(stdout).toMatch(/^Not judged\nexit 3: http:\S+ cannot be judged: connection refused/m)
  // It asks again for three seconds; with the patience of every other request it would take minutes.
  expect(ms).toBeLessThan(30_000)
  expect(readReport(cwd)).toMatchObject({ verdict: 'not-judged', run: { interrupted: false } })
})

test('without a key only what needs none is sent, and nothing is judged', async () => {
  const { url } = await reference()
  const cwd = folder()
  const { code, stdout } = await conform(`${url} --runs 1 --report json --report har`, { cwd })
  expect(code).toBe(3)
  expect(stdout).toMatch(/no key/)
  const report = readReport(cwd)
  expect(report.verdict).toBe('not-judged')
  expect([...ids(report, 'passed'), ...ids(report, 'failed')]).toEqual([])
})

test('a key that is not accepted is no verdict on the target', async () => {
  const { url } = await reference()
  const wrong = `${referenceKey.slice(0, -6)}AAAAAA`
  const { code, stdout } = await conform(`${url} --only files.list/* --runs 1`, {
    env: { CONFORM_API_KEY: wrong },
  })
  expect(stdout).toMatch(/^Not judged$/m)
  expect(stdout).toMatch(
    /the key is not accepted: every request with it returned 401 BadToken, so the service has read it; it may have expired/,
  )
  expect(stdout).not.toMatch(/✗|Likely/)
  expect(code).toBe(3)
})

test('--key is taken, and warned of', async () => {
  const { url } = await reference()
  const args = `${url} -k ${referenceKey} --only files.list/2xx-accepted`
  const { code, stdout, stderr } = await conform(args)
  expect(stderr).toMatch(/^conform: warning: --key is visible to other users/)
  expect(stdout + stderr).not.toContain(referenceKey)
  expect(code).toBe(0)
})

const broken = 'jobs.create/404-unknown-application'
const otherName = { defects: [`${broken}#tpe`] }

test('a broken target: exit 1, the evidence in three lines, and commands that show it again', async () => {
  const { code, cwd, report, stdout, target } = await judged(
    `--only ${broken} --seed 421`,
    otherName,
  )
  expect(code).toBe(1)
  expect(stdout).toMatch(new RegExp(`✗ ${broken} +must +§4.2`))
  expect(stdout).toMatch(
    /^ +sent +POST http\S+\/v1\/applications\/\S+\/jobs with a valid request, but an unknown/m,
  )
  expect(stdout).toMatch(/^ +expected +404 ResourceNotFound/m)
  expect(stdout).toMatch(/^ +received +404 NotFound .*"NotFound" is a code name of 404 in §7\.2/m)
  expect(stdout).toMatch(/^ +note +only the code name differs: passes with --tpe family$/m)
  const [failure] = row(report, broken).failures

  // What a report tells a reader to run is run, as it is.
  const again = stdout.match(/^ +again\n +(conform .*)$/m)?.[1]
  expect(again).toBe(failure?.rerun)
  expect(again).toBe(`conform --target ${target} --only ${broken} --seed 421`)
  const second = await conform(`${again?.slice('conform '.length)} --report json`, { cwd })
  expect(second.code).toBe(1)
  expect(row(readReport(cwd), broken).failures[0]?.message).toBe(failure?.message)

  const curl = stdout.match(/^ +curl\n +(curl .*)$/m)?.[1] ?? ''
  expect(curl).toContain('$CONFORM_API_KEY')
  const answer = await run('bash', ['-c', `${curl} -s`], {
    env: { ...process.env, ...withKey.env },
  })
  expect(answer.stdout).toContain('"tpe":"NotFound"')
})

test('--tpe family accepts another name of the status', async () => {
  const { code, report } = await judged(`--only ${broken} --tpe family`, otherName)
  expect({ code, verdict: report.verdict }).toEqual({ code: 0, verdict: 'passing' })
  expect(row(report, broken)).toMatchObject({ outcome: 'passed', failures: [] })
})

test('a failed should decides under --strict only', async () => {
  const should = 'chat.create/400-malformed-response-format'
  const { url } = await reference({ defects: [should] })
  const args = `-t ${targetFile(folder(), url)} --only ${should} --runs 1`
  const lenient = await conform(args)
  expect(lenient.stdout).toMatch(new RegExp(`✗ ${should}`))
  expect(lenient.code).toBe(0)
  expect((await conform(`${args} --strict`)).code).toBe(1)
})

test('--require-exercised does not take silence for consent', async () => {
  const { url } = await reference()
  const args = `${url} --only files.list/* --runs 1`
  const lenient = await conform(args, withKey)
  expect(lenient.stdout).toMatch(/^Incomplete: /m)
  expect(lenient.code).toBe(0)
  expect((await conform(`${args} --require-exercised`, withKey)).code).toBe(1)
})

test('--only and --skip choose, and say so', async () => {
  const only = '--only files.retrieve/* --only translate.run/2xx-*'
  const { code, report } = await judged(`${only} --skip */401-* --runs 1`)
  expect(code).toBe(0)
  expect(report.verdict).toBe('passing')
  const passed = ids(report, 'passed')
  expect(passed).toContain('translate.run/2xx-accepted')
  const chosen = /^(files\.retrieve\/[^4]|files\.retrieve\/4(?!01)|translate\.run\/2xx-)/
  expect(passed.filter((id) => !chosen.test(id))).toEqual([])
  expect(row(report, 'files.retrieve/401-missing-credentials').reason).toBe('left out: --skip')
  expect(row(report, 'files.upload/2xx-accepted').reason).toBe('left out: --only')
})

test('--bail ends the run at the first must that fails, whatever follows it', async () => {
  const failing = 'files.upload/401-missing-credentials'
  const { url } = await reference({ defects: [failing] })
  const cwd = folder()
  const first = `-t ${targetFile(cwd, url)} --only files.* --concurrency 1 --runs 1`
  const { code } = await conform(`${first} --bail ${url} --report json`, { cwd })
  expect(code).toBe(1)
  const report = readReport(cwd)
  expect(report.verdict).toBe('non-conformant')
  expect(ids(report, 'failed')).toEqual([failing])
  const left = report.requirements.filter(
    ({ id, outcome }) => id.startsWith('files.') && outcome === 'not-exercised',
  )
  expect(new Set(left.map(({ reason }) => reason))).toEqual(new Set(['left out: --bail']))
})

test('--read-only creates nothing and generates nothing', async () => {
  const { code, cwd, report } = await judged('--read-only --depth quick --report har')
  expect(ids(report, 'failed')).toEqual([])
  expect(code).toBe(0)
  expect(report).toMatchObject({ verdict: 'passing', run: { readOnly: true, created: [] } })
  const { log } = readReport(cwd, 'conform-report.har') as unknown as {
    log: { entries: Record<string, any>[] }
  }
  const granted = log.entries.filter(
    ({ request, response }) => request.method === 'POST' && response.status < 300,
  )
  const effects = new Map<string, string>(catalogue.map(({ id, effect }) => [id, effect]))
  const asked = granted.map(({ _requirement }) => _requirement as string)
  expect(asked.filter((id) => effects.get(id) !== 'none')).toEqual([])
})
