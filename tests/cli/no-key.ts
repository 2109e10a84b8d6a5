import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect } from 'vitest'
import { formatNames } from '../../reporters/index.ts'
import { encodings, readings, runIn } from '../redact/encodings.ts'
import { folder, targetFile } from './conform.ts'
import { listen } from '../wire/servers.ts'
import { conform } from './in-process.ts'

/** A target that tells everybody the key that it was sent: in the body and headers of its answers, in every encoding. */
async function echoTarget() {
  /** Every Authorization value that was received. */
  const seen = new Set<string>()
  const ways = Object.entries(encodings)
  let answers = 0
  const server = createServer((request, response) => {
    const credential = request.headers.authorization ?? ''
    seen.add(credential)
    const key = credential.replace(/^Bearer /, '')
    const [name, encode] = ways[answers++ % ways.length]!
    // By reads a run asks whether its key is accepted still: answered 401 three times in a row, it would end.
    const statuses = request.method === 'GET' ? [400, 200, 404, 409] : [400, 200, 401, 404, 409]
    const status = statuses[answers % statuses.length]!
    const told = {
      id: key,
      tpe: key,
      errors: [{ description: `${name}: ${encode(key)}`, key, extras: { credential } }],
      extras: { [key]: key },
    }
    const text = answers % 3 === 0 ? `<p>${credential} ${encode(key)}</p>` : JSON.stringify(told)
    response.writeHead(status, {
      'content-type': answers % 3 === 0 ? 'text/html' : 'application/json',
      'x-echo': encode(key).replaceAll(/[^\x21-\x7e]/g, ''),
      'www-authenticate': `Bearer error="${key}"`,
      location: `/v1/${encodeURIComponent(key)}`,
    })
    request.resume().on('end', () => response.end(text))
  })
  const { url } = await listen(server)
  return { url, seen }
}

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
    env: { ...env, GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: join(cwd, 'summary.md') },
  })
  expect(code, stderr).toBe(1)
  for (const key of [keys.full, keys.expired, keys.restricted, keys.scenario])
    expect(seen).toContain(`Bearer ${key}`)

  const written = readdirSync(cwd).filter((name) => !/^(target\.json|restricted\.key)$/.test(name))
  expect(written.length).toBeGreaterThanOrEqual(formatNames.length)
  expect(written).toContain('summary.md')
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
