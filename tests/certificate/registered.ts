import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildRegister } from '../../certificate/register/build.ts'
import { decide } from '../../harness/report/exit-code.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { summarize, bothVerdicts } from '../../harness/report/verdict.ts'
import { failure } from '../gates/results.ts'
import { folder } from '../cli/conform.ts'
import { signer, suite, wholeReport } from './signed.ts'

export const builtAt = new Date('2026-04-01T06:00:00Z')
export const hostile = '<img src=x onerror=alert(1)> "&\u202e\u0007'

/** A folder of certificates by one certifier, and what building a register of it gives. */
export function register() {
  const at = folder()
  const certificates = join(at, 'certificates')
  mkdirSync(certificates)
  const certifier = signer()
  const put = (name: string, value: unknown) =>
    writeFileSync(join(certificates, name), JSON.stringify(value))
  put('trusted-keys.json', [{ id: certifier.id, name: 'Example Labs' }])
  return {
    at,
    certificates,
    certifier,
    put,
    out: join(at, 'site'),
    /** Adds a certificate for that report; gives its id. */
    async add(file: string, of: Report, { validDays = 180, by = certifier, bundled = false } = {}) {
      by.put('report.json', of)
      const target = join(certificates, file)
      const partial = { partial: true, validDays }
      await (bundled
        ? by.bundle({ ...partial, bundle: target })
        : by.sign({ ...partial, out: target }))
      copyFileSync(target, by.file('last'))
      return by.verify('last').result.certificate!
    },
    build: (now = builtAt, keyIds: readonly string[] = []) =>
      buildRegister(certificates, join(at, 'site'), { keyIds, now, suite }),
  }
}

/** A whole report of the service of that name. */
export function reportOf(
  name: string,
  host: string,
  change: (report: Report) => void = () => undefined,
): Report {
  return wholeReport((whole) => {
    Object.assign(whole.target, { name, baseUrl: `https://${host}` })
    change(whole)
  })
}

/** One `must` fails. */
export function failing(whole: Report): void {
  const row = whole.requirements.find(({ id }) => id === 'jobs.create/404-unknown-application')!
  Object.assign(row, { outcome: 'failed', failures: [failure()] })
  whole.verdicts = bothVerdicts(whole.requirements, whole.run)
  whole.verdict = whole.verdicts[whole.run.tpe]
  whole.summary = summarize(whole.requirements, whole.run.tpe)
  whole.exit = decide(whole)
}

/** One of each kind: valid, partial, failing, expired, revoked, and one whose name is hostile. */
export async function sampleRegister() {
  const made = register()
  await made.add('tea.zip', reportOf('Example', 'example.com'), { bundled: true })
  await made.add(
    'partial.json',
    reportOf('Partial', 'partial.example', (whole) => (whole.run.insecure = true)),
  )
  await made.add('failing.json', reportOf('Failing', 'failing.example', failing))
  await made.add('old.json', reportOf('Expired', 'old.example'), { validDays: 10 })
  const revoked = await made.add('revoked-one.json', reportOf('Revoked', 'revoked.example'))
  await made.add('hostile.json', reportOf(hostile, 'hostile.example'))
  made.put('revoked.json', [
    { id: revoked, day: '2026-03-20', reason: 'the server was exchanged for the run' },
  ])
  return made
}
