import { formatNames } from '../../reporters/index.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { conformProcess, type Ended, folder, readReport, targetFile } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import { heavyBodies, oddBodies, oddStatuses, transportFaults } from './behaviours.ts'
import { hostileKey } from './judge-hostile.ts'
import { startRaw } from '../support/raw-server.ts'
import { commandsIn, unsafe } from '../reporters/hostile.ts'

const all = { ...heavyBodies, ...oddBodies, ...oddStatuses, ...transportFaults }

async function judge(
  run: typeof conform,
  name: string,
  limits: object,
  ...args: string[]
): Promise<Ended & { dir: string }> {
  const server = await startRaw(all[name]!.answer)
  onTestFinished(() => server.close())
  const dir = folder()
  const target = targetFile(dir, server.url, (file) => {
    file.keys.full = hostileKey
    file.limits = { ...file.limits, ...limits }
  })
  const reports = formatNames.flatMap((format) => [
    '--report',
    `${format}=conform-report.${format}`,
  ])
  const ended = await run(
    ['--target', target, '--depth', 'quick', '--seed', '1', ...reports, ...args],
    { cwd: dir },
  )
  return { ...ended, dir }
}

/** A log gets a line on how far the run is after 10 s, and nothing else. */
const withoutProgress = (stderr: string): string =>
  stderr.replace(/^conform: \d+ of \d+ judged.*\n/gm, '')

/** With the limits that stand where none are given, and in a process of its own: others are judged meanwhile. */
async function proveSilence(): Promise<void> {
  const { code, stdout, stderr, dir } = await judge(conformProcess, 'silence after the request', {})
  expect(code).toBe(3)
  expect(withoutProgress(stderr)).toBe('')
  expect(stdout).toContain('cannot be judged: no answer within 10,000 ms')
  const { verdict, run } = readReport(dir)
  expect(verdict).toBe('not-judged')
  expect(run.requests).toBe(1)
}

async function proveBears(
  run: typeof conform,
  name: string,
  ...selection: string[]
): Promise<void> {
  const { code, stdout, stderr, dir } = await judge(run, name, { jobTimeoutMs: 1000 }, ...selection)
  expect({ name, code, rest: withoutProgress(stderr) }).toEqual({ name, code: 1, rest: '' })
  const files = formatNames.map((format) =>
    readFileSync(join(dir, `conform-report.${format}`), 'utf8'),
  )
  expect(commandsIn(stdout)).toEqual([])
  for (const text of [stdout, ...files]) {
    expect(text).not.toMatch(unsafe)
    expect(text).not.toContain(hostileKey.slice(-40))
  }
}

test('the whole command line gives up a silent target after 10 s, and bears hostile text, an echoed key and heavy bodies', async () => {
  // A server that is odd everywhere is odd to each way of asking; `misbehaviours` looks at more.
  const ways = [
    'jobs.*',
    'files.list/*',
    'files.upload/2*',
    'pdf.parse/2*',
    'chat.create/2*',
    'envelope/*',
  ]
  const some = [...ways.flatMap((pattern) => ['--only', pattern]), '--skip', 'jobs.create/409-*']
  await Promise.all([
    proveSilence(),
    proveBears(conform, 'an echo of the key', ...some),
    proveBears(conform, 'hostile text in every string', ...some),
    proveBears(conformProcess, 'a compressed bomb', '--only', 'files.retrieve/*'),
  ])
})
