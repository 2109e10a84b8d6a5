/** Each command that prints what a stranger wrote, held against the parsers of pipelines' runners. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from './conform.ts'
import { entry } from '../check/har.ts'
import { failed, report, result } from '../gates/results.ts'
import { hostile, runnerCommands } from '../reporters/hostile.ts'
import { commandsIn } from '../reporters/runners.ts'
import { conform } from './in-process.ts'

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
const second = write('second.json', {
  ...strangers('2026-04-01T00:00:00Z'),
  suite: { ...strangers('').suite, version: attack },
})
const answers = { http_status_code: 404, tpe: attack, errors: [] }
const told = { to: '/v1/files', status: 400, answers, authorization: attack }
const traffic = write('traffic.har', {
  log: {
    version: '1.2',
    creator: {},
    entries: [entry({ to: '/v1/files' }), entry(told), entry({ ...told, to: `/v1/${attack}` })],
  },
})
const broken = write('broken.json', { [attack]: attack, unreachable: { [attack]: attack } })

test.each([
  ['check', traffic],
  ['compare', first, second],
  ['compare', first, second, '--report', 'json=-'],
  ['compare', first, second, '--report', 'markdown=-'],
  ['verify', first],
  ['--target', broken],
  ['http://127.0.0.1:1', '--only', attack],
  ['list', attack],
  ['explain', attack],
])('%s prints no command', async (...args) => {
  const { stdout, stderr, code } = await conform(args, { cwd: dir })
  expect(stdout.length + stderr.length).toBeGreaterThan(20)
  expect(code).toBeLessThan(3)
  expect(commandsIn(stdout)).toEqual([])
  expect(commandsIn(stderr)).toEqual([])
})
