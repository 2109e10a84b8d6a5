import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { folder, ids, readReport, referenceKey, row, targetFile } from './conform.ts'
import { conform } from './in-process.ts'
import { reference } from './reference.ts'

const run = promisify(execFile)

test('a port where nobody listens cannot be judged', async () => {
  const closed = await reference()
  await closed.close()
  const cwd = folder()
  const { code, stdout, ms } = await conform([closed.url, '--report', 'json'], {
    cwd,
    env: { CONFORM_API_KEY: referenceKey },
  })
  expect(code).toBe(3)
  expect(stdout).toMatch(/^Not judged\nexit 3: http:\S+ cannot be judged: connection refused/m)
  // It asks again for three seconds; with the patience of every other request it would take minutes.
  expect(ms).toBeLessThan(30_000)
  expect(readReport(cwd)).toMatchObject({ verdict: 'not-judged', run: { interrupted: false } })
})

test('without a key only what needs none is sent, and nothing is judged', async () => {
  const { url } = await reference()
  const cwd = folder()
  const { code, stdout } = await conform(
    [url, '--runs', '1', '--report', 'json', '--report', 'har'],
    { cwd },
  )
  expect(code).toBe(3)
  expect(stdout).toMatch(/no key/)
  const report = readReport(cwd)
  expect(report.verdict).toBe('not-judged')
  expect([...ids(report, 'passed'), ...ids(report, 'failed')]).toEqual([])
})

test('a key that is not accepted is no verdict on the target', async () => {
  const { url } = await reference()
  const wrong = `${referenceKey.slice(0, -6)}AAAAAA`
  const { code, stdout } = await conform([url, '--only', 'files.list/*', '--runs', '1'], {
    env: { CONFORM_API_KEY: wrong },
  })
  expect(stdout).toMatch(/^Not judged$/m)
  expect(stdout).toMatch(
    /the key is not accepted: every request with it was answered 401 BadToken, so the service has read it: it may have expired; give one that is valid/,
  )
  expect(stdout).not.toMatch(/✗|Likely/)
  expect(code).toBe(3)
})

test('--key is taken, and warned of', async () => {
  const { url } = await reference()
  const { code, stdout, stderr } = await conform([
    url,
    '-k',
    referenceKey,
    '--only',
    'files.list/2xx-*',
  ])
  expect(stderr).toMatch(/^conform: warning: --key: other users of this machine can see it/)
  expect(stdout + stderr).not.toContain(referenceKey)
  expect(code).toBe(0)
})

const broken = 'jobs.create/404-unknown-application'

test('a broken target: exit 1, the evidence in three lines, and commands that show it again', async () => {
  const { url } = await reference({ defects: [`${broken}#tpe`] })
  const cwd = folder()
  const target = targetFile(cwd, url)
  const { code, stdout } = await conform(
    ['-t', target, '--only', broken, '--seed', '421', '--report', 'json'],
    { cwd },
  )
  expect(code).toBe(1)
  expect(stdout).toMatch(new RegExp(`✗ ${broken} +must +§4.2`))
  expect(stdout).toMatch(
    /^ +sent +POST http\S+\/v1\/applications\/\S+\/jobs with a valid request, but an unknown/m,
  )
  expect(stdout).toMatch(/^ +expected +404 ResourceNotFound/m)
  expect(stdout).toMatch(/^ +received +404 NotFound .*another code name of the 404 row of §7\.2/m)
  expect(stdout).toMatch(/1 failure is only a family name|only.*family name/)
  const [failure] = row(readReport(cwd), broken).failures

  // What a report tells a reader to run is run, as it stands.
  const again = stdout.match(/^ +again\n +(conform .*)$/m)?.[1]
  expect(again).toBe(failure?.rerun)
  const words = again?.split(' ').slice(1) ?? []
  expect(words).toEqual(['--target', target, '--only', broken, '--seed', '421'])
  const second = await conform([...words, '--report', 'json'], { cwd })
  expect(second.code).toBe(1)
  expect(row(readReport(cwd), broken).failures[0]?.message).toBe(failure?.message)

  const curl = stdout.match(/^ +curl\n +(curl .*)$/m)?.[1] ?? ''
  expect(curl).toContain('$CONFORM_API_KEY')
  const answer = await run('bash', ['-c', `${curl} -s`], {
    env: { ...process.env, CONFORM_API_KEY: referenceKey },
  })
  expect(answer.stdout).toContain('"tpe":"NotFound"')
})

test('--tpe family decides by families, and keeps what was only a family name', async () => {
  const { url } = await reference({ defects: [`${broken}#tpe`] })
  const cwd = folder()
  const args = ['-t', targetFile(cwd, url), '--only', broken, '--tpe', 'family', '--report', 'json']
  const { code } = await conform(args, { cwd })
  expect(code).toBe(0)
  const report = readReport(cwd)
  expect(report.verdicts).toEqual({ exact: 'non-conformant', family: 'passing' })
  expect(row(report, broken)).toMatchObject({ outcome: 'passed', failures: [{ familyOnly: true }] })
})

const should = 'chat.create/400-malformed-response-format'

test('a failed should decides under --strict only', async () => {
  const { url } = await reference({ defects: [should] })
  const args = ['-t', targetFile(folder(), url), '--only', should, '--runs', '1']
  const [lenient, strict] = await Promise.all([conform(args), conform([...args, '--strict'])])
  expect(lenient.stdout).toMatch(new RegExp(`✗ ${should}`))
  expect(lenient.code).toBe(0)
  expect(strict.code).toBe(1)
})

test('--require-exercised does not take silence for consent', async () => {
  const { url } = await reference()
  const settings = { env: { CONFORM_API_KEY: referenceKey } }
  const args = [url, '--only', 'files.list/*', '--runs', '1']
  const [lenient, strict] = await Promise.all([
    conform(args, settings),
    conform([...args, '--require-exercised'], settings),
  ])
  expect(lenient.stdout).toMatch(/^Incomplete \(passing\): /m)
  expect(lenient.code).toBe(0)
  expect(strict.code).toBe(1)
})

test('--only and --skip choose, and say so', async () => {
  const { url } = await reference()
  const cwd = folder()
  const args = [
    '-t',
    targetFile(cwd, url),
    '--only',
    'files.retrieve/*',
    '--only',
    'files.list/2xx-*',
  ]
  const { code } = await conform(
    [...args, '--skip', '*/401-*', '--runs', '1', '--report', 'json'],
    { cwd },
  )
  expect(code).toBe(0)
  const report = readReport(cwd)
  expect(report.verdict).toBe('passing')
  const judged = ids(report, 'passed')
  expect(judged).toContain('files.list/2xx-file-types')
  expect(
    judged.filter(
      (id) => !/^(files\.retrieve\/[^4]|files\.retrieve\/4(?!01)|files\.list\/2xx-)/.test(id),
    ),
  ).toEqual([])
  expect(row(report, 'files.retrieve/401-missing-credentials').reason).toBe('left out: --skip')
  expect(row(report, 'files.upload/2xx-accepted').reason).toBe('left out: --only')
})

test('--bail ends the run at the first must that fails, whatever follows it', async () => {
  const { url } = await reference({ defects: ['files.upload/401-missing-credentials'] })
  const cwd = folder()
  const args = [
    '-t',
    targetFile(cwd, url),
    '--only',
    'files.*',
    '--concurrency',
    '1',
    '--runs',
    '1',
    '--bail',
    url,
  ]
  const { code } = await conform([...args, '--report', 'json'], { cwd })
  expect(code).toBe(1)
  const report = readReport(cwd)
  expect(report.verdict).toBe('non-conformant')
  const failing = 'files.upload/401-missing-credentials'
  expect(ids(report, 'failed')).toEqual([failing])
  const chosen = report.requirements.filter(({ id }) => id.startsWith('files.'))
  const reasons = new Set(
    chosen.filter(({ outcome }) => outcome === 'not-exercised').map(({ reason }) => reason),
  )
  expect([...reasons]).toEqual(['left out: --bail'])
})

test('--read-only creates nothing and generates nothing', async () => {
  const { url } = await reference()
  const cwd = folder()
  const args = [
    '-t',
    targetFile(cwd, url),
    '--read-only',
    '--depth',
    'quick',
    '--report',
    'json',
    '--report',
    'har',
  ]
  const { code } = await conform(args, { cwd })
  const report = readReport(cwd)
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
  expect(
    granted
      .map(({ _requirement }) => _requirement as string)
      .filter((id) => effects.get(id) !== 'none'),
  ).toEqual([])
})
