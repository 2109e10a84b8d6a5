import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, request, RetryAgent } from 'undici'
import { expect, onTestFinished, test, vi } from 'vitest'
import { targetFile } from '../../reference/server.ts'
import {
  conformProcess,
  folder,
  readReport,
  referenceKey,
  type Running,
  start,
} from '../cli/conform.ts'
import { setTimeout as pause } from 'node:timers/promises'
import type { ClientReport } from '../../traffic/client/client-report.ts'

/** `conform serve --judge-client` as client developers use it: their client is pointed at it, then it is interrupted. */

const { application } = targetFile['resources'] as {
  application: { id: string; inputs: unknown[] }
}
const authorization = `Bearer ${referenceKey}`

async function readyServer({ child, firstLine }: Running) {
  onTestFinished(() => void child.kill('SIGKILL'))
  return JSON.parse(await firstLine) as { url: string; target: string }
}

async function judgedServer(args: readonly string[], cwd: string) {
  const server = start(['serve', '--judge-client', ...args], { cwd })
  const { url } = await readyServer(server)
  return { url, server }
}

test('a client that keeps the interface and waits, by fetch and by an HTTP library, ends with 0', async () => {
  const cwd = folder()
  writeFileSync(
    join(cwd, 'script.json'),
    JSON.stringify({ 'files.list': [{ status: 429, retryAfter: 1 }, 503, 'pass'] }),
  )
  const { server, url } = await judgedServer(
    ['--script', 'script.json', '--report', 'json', '--report', 'junit'],
    cwd,
  )

  const dispatcher = new RetryAgent(new Agent(), { minTimeout: 60, statusCodes: [429, 503] })
  const listed = await request(`${url}/v1/files`, {
    dispatcher,
    headers: { authorization },
    query: { file_types: 'pdf,txt' },
  })
  expect(listed.statusCode).toBe(200)
  await listed.body.dump()
  const headers = { authorization, 'content-type': 'application/json' }
  const body = JSON.stringify({ inputs: application.inputs })
  const made = await fetch(`${url}/v1/applications/${application.id}/jobs`, {
    method: 'POST',
    headers,
    body,
  })
  let job = (await made.json()) as { id: string; status: string }
  while (job.status === 'in_progress') {
    await pause(25)
    job = (await (
      await fetch(`${url}/v1/applications/jobs/${job.id}`, { headers })
    ).json()) as typeof job
  }

  server.child.kill('SIGTERM')
  const { code, stdout, stderr } = await server.ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(
    /\n {2}files\.list was answered 429 QuotaExceeded, Retry-After 1: the client came back after \d{3,4} ms\n/,
  )
  expect(stdout).toMatch(/\nexit 0: every request kept the interface\n$/)
  const report = readReport(cwd) as unknown as ClientReport
  expect(report.operations.map(({ operation }) => operation)).toEqual([
    'jobs.create',
    'jobs.retrieve',
    'files.list',
  ])
  expect(report.script).toMatchObject([{ isTooSoon: false }, { isTooSoon: false }])
})

test('a client that does not is told so at once, and ends with 1', async () => {
  const cwd = folder()
  writeFileSync(join(cwd, 'script.json'), '{"*": [{"status": 503, "retryAfter": 30}]}')
  const { server, url } = await judgedServer(
    ['--script', 'script.json', '--report', 'markdown'],
    cwd,
  )
  const headers = { authorization: `Bearer ${referenceKey}` }
  const body = JSON.stringify({ inputs: application.inputs })
  for (const _ of [1, 2]) await (await fetch(`${url}/v1/files`, { headers })).text()
  // fetch labels a text as text/plain.
  await (
    await fetch(`${url}/v1/applications/${application.id}/jobs`, { method: 'POST', headers, body })
  ).text()
  server.child.kill('SIGINT')
  const { code, stdout } = await server.ended
  expect(code).toBe(1)
  const markdown = readFileSync(join(cwd, 'conform-report.md'), 'utf8')
  for (const fault of [/a pause of 30 s/, /application\/json \(§4\)\n +received +text\/plain/])
    expect(stdout).toMatch(fault)
  expect(markdown).toContain('application/json (§4) | text/plain;charset=UTF-8 | 1 |')
  expect(stdout + markdown).not.toContain(referenceKey.slice(-20))
})

/** A program that asks for the files by what its environment says, leaves a child behind, and ends with that code. */
const client = (code: number) => `
  const { CONFORM_URL, CONFORM_TARGET, CONFORM_API_KEY } = process.env
  const { spawn } = await import('node:child_process')
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  child.unref()
  const headers = { authorization: 'Bearer ' + CONFORM_API_KEY }
  const { status } = await fetch(CONFORM_URL + '/v1/files', { headers })
  const { keys } = JSON.parse((await import('node:fs')).readFileSync(CONFORM_TARGET, 'utf8'))
  console.log('\\n' + JSON.stringify({ status, same: keys.full === CONFORM_API_KEY, child: child.pid }))
  process.exit(${code})
`
const words = (code: number) => ['--', process.execPath, '--input-type=module', '-e', client(code)]
const seenBy = (stdout: string) =>
  JSON.parse(/^\{"status".*$/m.exec(stdout)![0]) as { status: number; same: boolean; child: number }

test('serve runs a command when it is ready, and ends with it and its children, by the worse of both codes', async () => {
  for (const [args, code] of [
    [['serve'], 0],
    [['serve', '--judge-client'], 7],
  ] as const) {
    const { stdout, ...ended } = await conformProcess([...args, ...words(code)])
    expect(ended).toMatchObject({ code, stderr: '' })
    const { child, ...seen } = seenBy(stdout)
    expect(seen).toEqual({ status: 200, same: true })
    // Whoever inherits it takes note of its end, sooner or later.
    await vi.waitFor(() => expect(() => process.kill(child, 0)).toThrow('ESRCH'), 20_000)
    if (code > 0) expect(stdout).toMatch(/\nexit 0: .*\nexit 7: .* ended with 7\n$/)
  }
  const idle = await conformProcess(['serve', '--judge-client', '--', process.execPath, '-e', ''])
  expect(idle).toMatchObject({ code: 3 })
  expect(await conformProcess(['serve', '--judge-client', '--', 'no-such-program'])).toMatchObject({
    code: 2,
    stderr: 'conform: -- no-such-program: cannot be run (ENOENT)\n',
  })
})

test('record runs a command when it is ready, and judges it', async () => {
  const { url, target } = await readyServer(start(['serve']))
  const cwd = folder()
  const record = ['record', url, '-t', target]
  const { code, stdout } = await conformProcess([...record, ...words(0)], { cwd })
  expect({ code, ...seenBy(stdout) }).toMatchObject({ code: 0, status: 200, same: true })
  expect(stdout).toContain('\n1 exchange in traffic.har\n')
  expect(stdout).toContain('\nthe client: every request kept the interface\n')
  const fetched = `fetch(process.env.CONFORM_URL + '/v1/files', { headers: { authorization: 'x' } })`
  const bad = ['--', process.execPath, '-e', fetched]
  expect((await conformProcess([...record, '--judge-client', ...bad], { cwd })).code).toBe(1)
})

test('a signal ends the command too, and a page of another origin may ask the server', async () => {
  const loop =
    'console.log(JSON.stringify({ url: process.env.CONFORM_URL })); setInterval(() => {}, 1000)'
  const run = start(['serve', '--judge-client', '--', process.execPath, '-e', loop])
  const { url } = await readyServer(run)
  const headers = { origin: 'http://page.example', 'access-control-request-method': 'POST' }
  const preflight = await fetch(`${url}/v1/files`, { method: 'OPTIONS', headers })
  expect(preflight.status).toBe(204)
  const { headers: answered } = await fetch(`${url}/v1/files`, { headers: { authorization } })
  expect(answered.get('access-control-allow-origin')).toBe('*')
  run.child.kill('SIGTERM')
  const { code, stdout } = await run.ended
  expect(code).toBe(143)
  expect(stdout).toContain('\n1 request to 1 operation\n')
})
