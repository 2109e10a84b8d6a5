import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { formatNames } from '../../reporters/index.ts'
import { encodings, readings, runIn } from '../redact/encodings.ts'
import { folder, targetFile } from './conform.ts'
import { echoTarget } from './echo-target.ts'
import { conform } from './in-process.ts'

/** One key of each kind: a JWT, words with signs that every format escapes, letters. */
const keys = {
  full: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnktZnVsbCIsImV4cCI6NDEwMjQ0NDgwMH0.Qm9yZGVyLWNvbGxpZS1jYW5hcnktMDAx',
  expired: 'canary&expired<"quoted"/+\\key>\'s-0002',
  restricted: 'canaryRestrictedKeyOfManyLetters0003',
  scenario: 'canary-scenario-key_0004.of~signs!',
  header: 'canary-tenant-header-value-0005',
}

/** The part that must not show: the key without what every JWT begins with. */
const secret = (key: string): string => key.replace(/^eyJ[^.]+\./, '')

/** A run against a target that repeats whatever it gets: no key is in any report or on the terminal, plain or encoded. */
export async function expectNoKey(chosen: string): Promise<void> {
  const { url, seen } = await echoTarget()
  const cwd = folder()
  writeFileSync(join(cwd, 'restricted.key'), `${keys.restricted}\n`)
  const file = targetFile(cwd, url, (target) => {
    target.keys = { expired: { env: 'EXPIRED' }, restricted: { file: 'restricted.key' } }
    target.scenarios['files.retrieve/2xx-accepted'] = {
      key: { command: [process.execPath, '-p', 'process.env.FOURTH'] },
    }
    target.headers = { 'x-api-key': { env: 'TENANT' } }
    target.limits.jobTimeoutMs = 200
  })
  const env = {
    CONFORM_API_KEY: keys.full,
    EXPIRED: keys.expired,
    FOURTH: keys.scenario,
    TENANT: keys.header,
  }
  const reports = formatNames.map((name) => `--report ${name}`).join(' ')
  const args = `-t ${file} --depth quick --seed 1 ${chosen} ${reports}`.split(/ +/)
  // The command of the run is repeated in what it writes.
  const again = ['--header', `x-forwarded: ${keys.restricted}`]
  const { code, stdout, stderr } = await conform([...args, ...again], {
    cwd,
    env: { ...env, GITHUB_STEP_SUMMARY: join(cwd, 'summary.md') },
  })
  expect(code).toBe(1)
  for (const key of [keys.full, keys.expired, keys.restricted, keys.scenario])
    expect(seen).toContain(`Bearer ${key}`)

  const written = readdirSync(cwd).filter((name) => !/^(target\.json|restricted\.key)$/.test(name))
  expect(written.length).toBeGreaterThanOrEqual(formatNames.length)
  const outputs = written.map((name) => [name, readFileSync(join(cwd, name), 'utf8')] as const)
  for (const [name, text] of [...outputs, ['stdout', stdout], ['stderr', stderr]] as const) {
    // No key has a line end.
    const read = readings(text).join('\n')
    for (const key of Object.values(keys)) {
      for (const [way, encode] of Object.entries(encodings)) {
        expect(text.includes(encode(secret(key))), `${name} holds a key: ${way}`).toBe(false)
      }
      expect(runIn(read, secret(key)), name).toBeUndefined()
    }
  }
}
