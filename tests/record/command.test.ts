/** `conform record` as a user runs it: a client library is pointed at it, then it is interrupted. */
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import createClient from 'openapi-fetch'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../wire/servers.ts'
import { reference } from '../cli/reference.ts'
import { folder, ids, readReport, referenceKey, start } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'

/** Paths that the client of this test asks for; its types are those of tests/openapi. */
interface Paths {
  '/v1/files': {
    get: { responses: { 200: { content: { 'application/json': { data: unknown[] } } } } }
  }
  '/v1/files/{file_id}': {
    get: {
      parameters: { path: { file_id: string } }
      responses: { 404: { content: { 'application/json': unknown } } }
    }
  }
}

test('a client goes on as before; findings are told at once, and the recording holds no key', async () => {
  const answers = http.createServer(({ url, headers }, response) => {
    response.setHeader('content-type', 'application/json')
    // Nobody knows yet that this is a key.
    if (url === '/v1/login') response.end(JSON.stringify({ token: referenceKey }))
    else if (headers.authorization !== `Bearer ${referenceKey}`) response.writeHead(401).end('{}')
    else if (url === '/v1/files')
      response.end(JSON.stringify({ data: [{ id: 'f' }], echo: headers.authorization }))
    else response.writeHead(404).end('{"http_status_code": 404}')
  })
  const { url: target } = await listen(answers)
  const cwd = folder()
  const run = start(['record', target, '--out', 'out/traffic.har', '--report', 'json'], { cwd })
  onTestFinished(() => void run.child.kill('SIGKILL'))
  const { url } = JSON.parse(await run.firstLine) as { url: string }
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  let out = ''
  const told = new Promise<void>((resolve) => {
    run.child.stdout!.on(
      'data',
      (piece: string) => (out += piece).includes('tpe is missing') && resolve(),
    )
  })

  await (await fetch(`${url}/v1/login`)).text()
  const client = createClient<Paths>({
    baseUrl: url,
    headers: { authorization: `Bearer ${referenceKey}` },
  })
  const listed = await client.GET('/v1/files')
  expect(listed.data?.data.length).toBeGreaterThan(0)
  const path = { file_id: '00000000-0000-4000-8000-000000000000' }
  expect((await client.GET('/v1/files/{file_id}', { params: { path } })).response.status).toBe(404)
  // It is told while the recording goes on.
  await told
  expect(out).toMatch(
    /✗ envelope\/shape\n {4}sent .*\(exchange 2\)\n {4}expected .*\n {4}received {2}404, but tpe is missing/,
  )

  run.child.kill('SIGTERM')
  const { code, stdout, stderr } = await run.ended
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  expect(stdout).toContain('\n3 exchanges in out/traffic.har\n')
  const recorded = readFileSync(join(cwd, 'out/traffic.har'), 'utf8')
  for (const text of [recorded, stdout, readFileSync(join(cwd, 'conform-report.json'), 'utf8')]) {
    expect(text).not.toContain(referenceKey.slice(-20))
  }
  // The recording is judged as it was when it was made.
  const report = readReport(cwd)
  const again = await conform(['check', 'out/traffic.har', '--report', 'json=again.json'], { cwd })
  expect(again.code).toBe(1)
  for (const outcome of ['passed', 'failed'] as const) {
    expect(ids(readReport(cwd, 'again.json'), outcome)).toEqual(ids(report, outcome))
  }
})

test('what cannot be done is said before anything is recorded', async () => {
  const { url } = await reference()
  const { port } = new URL(url)
  const cwd = folder()
  const taken = `conform: --port ${port}: cannot be used (EADDRINUSE); give another, or 0 for any\n`
  for (const [args, said] of [
    [[url, '--port', port], taken],
    [['ftp://x'], 'http'],
    [[url, '--out', cwd], cwd],
  ] as const) {
    const { code, stdout, stderr } = await conform(['record', ...args], { cwd })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(said)
  }
})
