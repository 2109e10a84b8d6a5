import { writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from './conform.ts'
import { conform } from './in-process.ts'
import { listen } from '../wire/servers.ts'

interface Asked {
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

/** A server that answers everything 400, and tells what it was asked. */
async function refusing(): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    asked.push({ url: request.url!, headers: request.headers })
    response.statusCode = 400
    request
      .resume()
      .on('end', () => response.end(JSON.stringify({ tpe: 'BadRequest', errors: [], extras: {} })))
  })
  const { url } = await listen(server)
  return { url, asked }
}

test('--header and the query of the target file go with every request, and secrets among them are shown nowhere', async () => {
  const { url, asked } = await refusing()
  const path = join(folder(), 'target.json')
  const query = { 'api-version': '2', sub_key: { env: 'SUBSCRIPTION' }, file_types: 'all' }
  writeFileSync(
    path,
    JSON.stringify({ query, headers: { 'x-tenant': 'of the file', cookie: 'sid=of-the-session' } }),
  )
  const only = '--only files.list/2xx-* --only files.retrieve/2xx-*'
  const given = ['X-Tenant: given', 'x-api-key: env:GATEWAY_KEY', 'x-token: literal-token']
  const args = [
    ...`${url} --target ${path} ${only} --verbose --report json=-`.split(' '),
    ...given.flatMap((header) => ['--header', header]),
  ]
  const env = {
    CONFORM_API_KEY: 'the-full-key',
    SUBSCRIPTION: 'of-the-subscription',
    GATEWAY_KEY: 'of-the-gateway',
  }
  const { stdout, stderr, code } = await conform(args, { env })
  expect(code, stderr).toBe(1)
  expect(asked.length).toBeGreaterThan(1)
  for (const one of asked) {
    expect(one.headers).toMatchObject({
      'x-tenant': 'given',
      'x-api-key': 'of-the-gateway',
      'x-token': 'literal-token',
    })
    const sent = new URL(one.url, url).searchParams
    expect([sent.get('api-version'), sent.get('sub_key')]).toEqual(['2', 'of-the-subscription'])
  }
  for (const secret of ['of-the-subscription', 'of-the-gateway', 'literal-token', 'of-the-session'])
    expect(stdout + stderr).not.toContain(secret)
  expect(stderr).toContain('warning: --header x-token is visible to other users')
  const again =
    "--header 'X-Tenant: given' --header 'x-api-key: env:GATEWAY_KEY' --header 'x-token: [redacted]'"
  expect(stderr).toContain(`${again} --failed`)
  expect(stdout).toContain(`${again} --only files.list/2xx-accepted`)
  // The shell fills it in again.
  expect(stderr).toContain(
    `--path-as-is "${url}/v1/files?api-version=2&sub_key=$SUBSCRIPTION&file_types=all"`,
  )
})

test.each([
  [['--header', 'nothing'], "'name: value'"],
  [['--header', 'authorization: Bearer x'], 'CONFORM_API_KEY'],
  [['--header', 'content-length: 4'], 'is set by the suite itself'],
  [
    ['--header', 'x-a: env:NOT_SET_AT_ALL'],
    '--header x-a: the environment variable NOT_SET_AT_ALL is not set',
  ],
])('%j is refused in one sentence', async (args, sentence) => {
  const { code, stderr } = await conform(['http://127.0.0.1:1', ...args])
  expect(code).toBe(2)
  expect(stderr).toContain(sentence)
})
