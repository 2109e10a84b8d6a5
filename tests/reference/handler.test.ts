import { request, Agent } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { createReference, needsSocket, startReference } from '../../reference/server.ts'
import { target } from './client.ts'

const authorization = `Bearer ${target.keys.full}`
const files = 'http://anywhere.example/v1/files'

test('a reference answers in the same process, with a target object of its own', async () => {
  const reference = createReference()
  expect((await reference.handle(new Request(files, { headers: { authorization } }))).status).toBe(
    200,
  )
  expect((await reference.handle(new Request(files))).status).toBe(401)
  expect(reference.target).toMatchObject({ baseUrl: reference.url, resources: target.resources })
})

test('each answer is as late as asked for', async () => {
  const reference = createReference({ latency: 60 })
  const began = Date.now()
  await reference.handle(new Request(files))
  expect(Date.now() - began).toBeGreaterThanOrEqual(55)
})

test('what shows on a socket alone is refused without one', () => {
  expect(needsSocket('connection/chunked')).toBe(true)
  expect(needsSocket('files.retrieve/2xx-accepted#no-http')).toBe(true)
  expect(needsSocket('files.retrieve/2xx-accepted#no-answer')).toBe(false)
  expect(() => createReference({ variants: ['connection/closed'] })).toThrow(
    'shows on a socket alone',
  )
})

test('silence lasts as long as asked for, and ends without an answer', async () => {
  const reference = createReference({
    defects: ['files.retrieve/2xx-accepted#no-answer'],
    silenceMs: 50,
  })
  const began = Date.now()
  const asked = new Request(`${files}/${target.resources.file}`, { headers: { authorization } })
  await expect(reference.handle(asked)).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(Date.now() - began).toBeGreaterThanOrEqual(45)
})

test('what is no HTTP stands where the answer should', async () => {
  const server = await startReference({ defects: ['files.retrieve/2xx-accepted#no-http'] })
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.write(
    `GET /v1/files/${target.resources.file} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`,
  )
  let text = ''
  for await (const piece of socket) text += String(piece)
  expect(text).toBe('220 tea.example ESMTP\r\n')
  await server.close()
})

interface Asked {
  readonly method: string
  readonly path: string
  readonly type?: string
  readonly body?: string
}

function statusOver(
  agent: Agent,
  url: string,
  { method, path, type, body }: Asked,
): Promise<number | undefined> {
  const headers = { authorization, ...(type === undefined ? {} : { 'content-type': type }) }
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, agent, headers }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode))
    })
    sent.on('error', reject).end(body)
  })
}

test('a connection that a refusal spoiled answers its next request wrongly, and that one alone', async () => {
  const defect = 'completion.create/400-wrong-content-type#spoils-connection'
  const { url, close } = await startReference({ defects: [defect] })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const refused = { method: 'POST', path: '/v1/completion', type: 'text/plain', body: '{}' }
  const asked = [
    refused,
    { method: 'GET', path: '/v1/files' },
    { method: 'GET', path: '/v1/files' },
  ]
  const statuses: (number | undefined)[] = []
  for (const each of asked) statuses.push(await statusOver(agent, url, each))
  expect(statuses).toEqual([400, 400, 200])
  agent.destroy()
  await close()
})
