import { writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type RunArguments, runOptions } from '../../cli/run/arguments.ts'
import { shellWord } from '../../harness/shell-word.ts'
import { har } from '../check/recording.ts'
import { failed, report, result } from '../gates/results.ts'
import { commandsIn, hostile, runnerCommands } from '../reporters/hostile.ts'
import { listen } from '../wire/servers.ts'
import { folder } from './conform.ts'
import { conform } from './in-process.ts'
import { expectNoKey } from './no-key.ts'

test('no key is in any report or on the terminal, though the target repeats it', () =>
  expectNoKey('--only files.retrieve/* --only envelope/*'))

test.each([
  ['DB_PASSWORD=hunter2 node server.js', 'DB_PASSWORD=[redacted] node server.js'],
  ['node server.js --api-key=hunter2', 'node server.js --api-key=[redacted]'],
  [
    "node server.js --api-key 'hunter 2' --port 80",
    'node server.js --api-key [redacted] --port 80',
  ],
  ['docker run -e API_KEY=hunter2 image', 'docker run -e API_KEY=[redacted] image'],
  ['node server.js --tls-key key.pem --verbose', 'node server.js --tls-key key.pem --verbose'],
  ['node server.js --token "$TOKEN"', 'node server.js --token "$TOKEN"'],
  ['DB=postgres://me:hunter2@db/x npm start', 'DB=postgres://me:[redacted]@db/x npm start'],
  ['DB=postgres://me:$PW@db:80/x npm start', 'DB=postgres://me:$PW@db:80/x npm start'],
])('the command that starts a server is repeated without its secrets: %s', (start, shown) => {
  const options = { start, header: {}, only: [], skip: [] } as unknown as RunArguments
  expect(runOptions(options, 'http://x.example').rerun).toContain(shellWord(shown))
})

test('--header and the query of the target file go with every request, and no secret among them is shown', async () => {
  const asked: { url: string; headers: IncomingHttpHeaders }[] = []
  const server = createServer((request, response) => {
    asked.push({ url: request.url!, headers: request.headers })
    const refusal = JSON.stringify({ tpe: 'BadRequest', errors: [], extras: {} })
    request.resume().on('end', () => response.writeHead(400).end(refusal))
  })
  const { url } = await listen(server)
  const path = join(folder(), 'target.json')
  const query = { 'api-version': '2', sub_key: { env: 'SUBSCRIPTION' }, file_types: 'all' }
  const headers = { 'x-tenant': 'of the file', cookie: 'sid=of-the-session' }
  writeFileSync(path, JSON.stringify({ query, headers }))
  const only = '--only files.list/2xx-* --only files.retrieve/2xx-*'
  // The later of two headers with the same name is sent.
  const given =
    'x-tenant: first|X-Tenant: given|x-api-key: env:GATEWAY_KEY|x-token: literal-token'.split('|')
  const args = [
    ...`${url} --target ${path} ${only} --verbose --report json=-`.split(' '),
    ...given.flatMap((header) => ['--header', header]),
  ]
  const [SUBSCRIPTION, GATEWAY_KEY] = ['of-the-subscription', 'of-the-gateway']
  const env = { CONFORM_API_KEY: 'the-full-key', SUBSCRIPTION, GATEWAY_KEY }
  const { stdout, stderr, code } = await conform(args, { env })
  expect(code, stderr).toBe(1)
  expect(asked.length).toBeGreaterThan(1)
  for (const one of asked) {
    const keys = { 'x-api-key': GATEWAY_KEY, 'x-token': 'literal-token' }
    expect(one.headers).toMatchObject({ 'x-tenant': 'given', ...keys })
    const sent = new URL(one.url, url).searchParams
    expect([sent.get('api-version'), sent.get('sub_key')]).toEqual(['2', SUBSCRIPTION])
  }
  for (const secret of [SUBSCRIPTION, GATEWAY_KEY, 'literal-token', 'of-the-session'])
    expect(stdout + stderr).not.toContain(secret)
  const again =
    "--header 'x-tenant: given' --header 'x-api-key: env:GATEWAY_KEY' --header 'x-token: [redacted]'"
  expect(stderr).toContain(`${again} --failed`)
  expect(stdout).toContain(`${again} --only files.list/2xx-accepted`)
  // The shell fills it in again.
  expect(stderr).toContain(
    `--path-as-is "${url}/v1/files?api-version=2&sub_key=$SUBSCRIPTION&file_types=all"`,
  )
})

const dir = folder()
function write(name: string, value: unknown): string {
  const path = join(dir, name)
  writeFileSync(path, JSON.stringify(value))
  return path
}

const attack = `\n${runnerCommands.join('\n')}\n${hostile}`
const others = { actual: attack, expected: attack, message: attack, rerun: attack }
const row = failed('jobs.create/202-created', {}, others)
const named = { name: attack, baseUrl: attack, digest: `sha256:${'0'.repeat(64)}` }
const strangers = (startedAt: string) => ({
  ...report([row, result('files.list/2xx-accepted')], { startedAt }),
  target: named,
})
const first = write('first.json', strangers('2026-03-01T00:00:00Z'))
const later = strangers('2026-04-01T00:00:00Z')
const second = write('second.json', { ...later, suite: { ...later.suite, version: attack } })
const answers = { http_status_code: 404, tpe: attack, errors: [] }
const told = { to: '/v1/files', status: 400, answers, authorization: attack }
const recorded = har({ to: '/v1/files' }, told, { ...told, to: `/v1/${attack}` })
const traffic = write('traffic.har', recorded)
const broken = write('broken.json', { [attack]: attack, unreachable: { [attack]: attack } })

test.each([
  ['check', traffic],
  ['compare', first, second],
  ['compare', first, second, '--report', 'json=-'],
  ['compare', first, second, '--report', 'markdown=-'],
  ['verify', first],
  ['--target', broken],
  ['http://127.0.0.1:1', '--only', attack],
  ['explain', attack],
])('conform %s prints no command of a pipeline, whatever a stranger wrote', async (...args) => {
  const { stdout, stderr, code } = await conform(args, { cwd: dir })
  expect(stdout.length + stderr.length).toBeGreaterThan(20)
  expect(code).toBeLessThan(3)
  expect(commandsIn(stdout)).toEqual([])
  expect(commandsIn(stderr)).toEqual([])
})
