import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { document } from '../openapi/fits.ts'
import { freePort } from '../support/raw-server.ts'

/** Not among our own packages: with 90 MB it would be the largest of them. `npx` keeps it for the next time. */
const prism = '@stoplight/prism-cli@5.14.2'
const file = fileURLToPath(new URL('../../schemas/openapi.json', import.meta.url))

/** Its base URL, when it listens. */
async function startPrism(): Promise<string> {
  const port = await freePort()
  const args = ['--yes', prism, 'mock', '--host', '127.0.0.1', '--port', String(port), file]
  const child = spawn('npx', args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void process.kill(-child.pid!))
  let told = ''
  await new Promise<void>((resolve, reject) => {
    const hear = (piece: Buffer): void => {
      told += piece.toString()
      if (told.includes('Prism is listening')) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('exit', () => reject(new Error(told)))
  })
  return `http://127.0.0.1:${port}`
}

/** The request of each operation's example in the document, and the success that it shows. */
function everyOperation(key: string) {
  return Object.entries<object>(document.paths).flatMap(([template, item]) =>
    Object.entries<any>(item).map(([method, { operationId, requestBody, responses }]) => {
      const status = Object.keys(responses).find((one) => one.startsWith('2'))!
      const { example } = responses[status].content['application/json']
      const body = requestBody?.content['application/json']?.example
      const upload = requestBody && { 'content-type': 'text/plain' }
      const id = '0f8fad5b-d9cb-469f-a165-70867728950e'
      const request = {
        method: method.toUpperCase(),
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${key}`,
          ...(body ? { 'content-type': 'application/json' } : upload),
        },
        ...(requestBody && { body: body ? JSON.stringify(body) : 'tea' }),
      }
      return {
        id: operationId as string,
        path: template.replaceAll(/\{\w+\}/g, id),
        status: Number(status.replace('XX', '00')),
        example: example as unknown,
        request,
      }
    }),
  )
}

test('Prism mocks every operation of the OpenAPI document by its example', async () => {
  const baseUrl = await startPrism()
  for (const { id, path, status, example, request } of everyOperation('any-key')) {
    const response = await fetch(baseUrl + path, request)
    expect([id, response.status, await response.json()]).toEqual([id, status, example])
  }
  const { path, request } = everyOperation('any-key')[0]!
  const refused = await fetch(baseUrl + path, { ...request, body: '{}' })
  expect([refused.status, await refused.json()]).toEqual([
    400,
    { tpe: 'InvalidContentType', errors: [], extras: {} },
  ])
  const unknown = await fetch(baseUrl + path, {
    ...request,
    headers: { 'content-type': 'application/json' },
  })
  expect([unknown.status, await unknown.json()]).toMatchObject([401, { tpe: 'BadCredentials' }])
})
