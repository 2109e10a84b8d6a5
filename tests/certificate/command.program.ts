/** The commands as somebody types them: words and exit codes. */
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ownVersion, suiteFacts } from '../../certificate/suite-facts.ts'
import { folder, ids, readReport } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import { wholeReport } from './signed.ts'

const fixture = new URL('../../fixtures/reference.target.json', import.meta.url).pathname

test('keygen, a run, sign and verify, from the first word to the last', async () => {
  const cwd = folder()
  const at = (name: string) => join(cwd, name)
  const run = (args: string, env = {}) => conform(args.split(' '), { cwd, env })
  const key = await run('keygen')
  expect(key).toMatchObject({ code: 0, stderr: '' })
  const [, id] = /^key id: {6}(sha256:[0-9a-f]{64})$/m.exec(key.stdout)!

  const judged = await run('--report json --report har')
  expect(judged).toMatchObject({ code: 0, stderr: '' })
  expect(judged.stdout).toMatch(/^Conformant: all \d+ musts that apply passed/m)
  expect(judged.stdout).toMatch(/repeat with --seed \d+/)
  const report = readReport(cwd)
  expect(report.verdicts).toEqual({ exact: 'conformant', family: 'conformant' })
  expect(ids(report, 'not-exercised')).toEqual([])
  expect(ids(report, 'not-applicable')).toEqual(['pdf.parse/4xx-removed'])

  const sign = 'sign conform-report.json --private-key conform-key.pem'
  expect(await run(sign)).toMatchObject({ code: 0, stderr: '' })
  const bundle = `${sign} --bundle service.zip --har conform-report.har`
  expect(await run(`${bundle} --target ${fixture}`)).toMatchObject({ code: 0, stderr: '' })
  expect((await run(bundle)).stderr).toMatch(/no --target is not the target file of the report/)

  const verify = `verify service.zip --key-id ${id} --require conformant`
  const verified = await run(verify)
  expect(verified).toMatchObject({ code: 0, stderr: '' })
  expect(verified.stdout.split('\n').slice(0, 2)).toEqual([
    `Valid: conformant, signed by the key of --key-id ${id}`,
    'verdict by exact names: conformant',
  ])
  const told = await run(`${verify} --json`)
  expect(JSON.parse(told.stdout)).toMatchObject({
    accepted: true,
    signedBy: [{ keyId: id, known: '--key-id' }],
  })
  expect(
    readFileSync(at('service.zip')).includes(JSON.parse(readFileSync(fixture, 'utf8')).keys.full),
  ).toBe(false)

  // Exit 1: it was looked at, and is not what was asked for.
  const unknown = `sha256:${'0'.repeat(64)}`
  expect(await run(`verify conform-certificate.json --key-id ${unknown}`)).toMatchObject({
    code: 1,
    stderr: '',
  })
  writeFileSync(at('cut.zip'), readFileSync(at('service.zip')).subarray(0, 999))
  expect(await run('verify cut.zip')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^not valid: it is not a bundle/),
  })
  expect(await run('verify conform-report.json --json')).toMatchObject({ code: 1, stderr: '' })
  // Exit 2: it could not be looked at.
  const mistakes: [string, RegExp][] = [
    ['verify nowhere.zip', /nowhere\.zip: does not exist/],
    ['verify', /missing required argument 'file'/],
    ['verify service.zip --key-id me', /sha256: and 64 hexadecimal digits/],
    ['verify service.zip --require passing', /conformant/],
    ['verify service.zip --public-key conform-key.pem', /is a private key; give the public one/],
    ['verify conform-certificate.json --report nowhere.json', /nowhere\.json: does not exist/],
    ['verify service.zip --unknown', /unknown option/],
    [`${sign} --valid-days 401`, /from 1 to 400/],
    [`${sign} --out conform-report.json`, /would overwrite conform-report\.json/],
  ]
  await Promise.all(
    mistakes.map(async ([args, message]) => {
      const { code, stdout, stderr } = await run(args)
      expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' })
      expect(stderr).toMatch(message)
    }),
  )
  chmodSync(at('conform-key.pem'), 0o644)
  expect(await run(sign)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/mode 644\); chmod 600 it first/),
  })
})

test('a passphrase is taken from CONFORM_KEY_PASSPHRASE, and shown nowhere', async () => {
  const cwd = folder()
  const env = { CONFORM_KEY_PASSPHRASE: 'correct horse battery' }
  const made = await conform(['keygen'], { cwd, env })
  expect(made.code).toBe(0)
  expect(made.stdout + made.stderr).not.toContain('horse')
  expect(readFileSync(join(cwd, 'conform-key.pem'), 'utf8')).toMatch(
    /^-----BEGIN ENCRYPTED PRIVATE KEY-----/,
  )
  expect(statSync(join(cwd, 'conform-key.pem')).mode & 0o777).toBe(0o600)
  const now = new Date().toISOString()
  const whole = wholeReport((report) => (report.run.startedAt = now))
  writeFileSync(join(cwd, 'conform-report.json'), JSON.stringify(whole))
  const sign = ['sign', 'conform-report.json', '--private-key', 'conform-key.pem']
  expect(await conform(sign, { cwd })).toMatchObject({
    code: 2,
    stderr:
      'conform: conform-key.pem: has a passphrase; set CONFORM_KEY_PASSPHRASE, or sign on a terminal\n',
  })
  const wrong = await conform(sign, { cwd, env: { CONFORM_KEY_PASSPHRASE: 'staple' } })
  expect(wrong).toMatchObject({
    code: 2,
    stderr: 'conform: conform-key.pem: the passphrase does not open it\n',
  })
  expect(await conform(sign, { cwd, env })).toMatchObject({ code: 0, stderr: '' })
})

test('a release whose requirements no later version would know is refused', () => {
  const { published } = suiteFacts()
  const script = fileURLToPath(new URL('../../scripts/published-version.js', import.meta.url))
  const check = () =>
    execFileSync(process.execPath, [script, '--check'], { stdio: 'pipe', encoding: 'utf8' })
  if (published.some(({ version }) => version === ownVersion().version)) expect(check()).toBe('')
  else
    expect(check).toThrow(
      /is not in certificate\/published-versions\.json; npm run published adds it/,
    )
})
