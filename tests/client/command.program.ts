import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, request, RetryAgent } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { targetFile } from '../../reference/server.ts'
import { folder, readReport, referenceKey, start } from '../cli/conform.ts'
import { setTimeout as pause } from 'node:timers/promises'
import type { ClientReport } from '../../traffic/client/client-report.ts'

/** `conform serve --judge-client` as client developers use it: their client is pointed at it, then it is interrupted. */

const { application } = targetFile['resources'] as {
  application: { id: string; inputs: unknown[] }
}
const authorization = `Bearer ${referenceKey}`

async function judgedServer(args: readonly string[], cwd: string) {
  const server = start(['serve', '--judge-client', ...args], { cwd })
  onTestFinished(() => void server.child.kill('SIGKILL'))
  const { url } = JSON.parse(await server.firstLine) as { url: string; target: string }
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
