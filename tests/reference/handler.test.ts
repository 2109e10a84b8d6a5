import addFormatsModule from 'ajv-formats'
import { request, Agent } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import {
  createReference,
  needsSocket,
  startReference,
  unreadMsOf,
  type ReferenceOptions,
} from '../../reference/server.ts'
import { target, send, withReference, type Server } from './client.ts'
import { SignJWT } from 'jose'
import { publishedSecret, verify } from '../../reference/world/keys.ts'
import { readFileSync } from 'node:fs'
import { pdfText } from '../../reference/operations/pdf.ts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { jsonInstance } from '../../reference/operations/chat.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { readingsInProgress } from '../../reference/world/world.ts'
import { createSwitches } from '../../reference/switches/switches.ts'

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
    'only has an effect on a socket',
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

test('what is not HTTP comes in place of the answer', async () => {
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

const sign = (secret: string, expiresAt: number, algorithm = 'HS256') =>
  new SignJWT({ account: 'main', permissions: ['*'] })
    .setProtectedHeader({ alg: algorithm })
    .setExpirationTime(expiresAt)
    .sign(new TextEncoder().encode(secret))

const inAnHour = () => Math.floor(Date.now() / 1000) + 3600

test('the keys of the target file are what they are declared to be', async () => {
  expect(await verify(target.keys.full)).toMatchObject({ account: 'main', permissions: ['*'] })
  expect(await verify(target.keys.restricted)).toMatchObject({ account: 'main', permissions: [] })
  expect(await verify(target.keys.expired)).toBe('expired')
})

test('a key needs the published secret, the one algorithm and a time left', async () => {
  expect(await verify(await sign(publishedSecret, inAnHour()))).toMatchObject({ account: 'main' })
  expect(await verify(await sign(`${publishedSecret}!`, inAnHour()))).toBe('invalid')
  expect(await verify(await sign(publishedSecret, inAnHour(), 'HS512'))).toBe('invalid')
  expect(await verify(await sign(publishedSecret, 1_700_000_000))).toBe('expired')
})

test('a damaged key is not taken for the one that was checked before', async () => {
  const { full } = target.keys
  for (const damaged of [
    full.slice(0, -4),
    `${full}xxxx`,
    full.toUpperCase(),
    full.replace(/\.[^.]+$/, ''),
  ]) {
    expect(await verify(damaged)).toBe('invalid')
  }
})

const sample = (name: string) =>
  readFileSync(new URL(`../../fixtures/pdf/${name}.pdf`, import.meta.url))

test('the extractor finds the sentences of the good PDF', async () => {
  expect(await pdfText(sample('good'))).toEqual([
    'Tea leaves unfold slowly in hot water.\nThis sentence proves that text was extracted.',
  ])
})

test('the extractor itself refuses the corrupted and the encrypted PDF', async () => {
  expect(await pdfText(sample('corrupted'))).toBe('corrupted')
  expect(await pdfText(sample('encrypted'))).toBe('encrypted')
})

const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void

const schemas: readonly object[] = [
  { type: 'string', minLength: 5 },
  { type: 'integer', minimum: 7, maximum: 9 },
  { type: ['null', 'string'] },
  { type: 'array', items: { type: 'boolean' }, minItems: 3 },
  { enum: ['tea', 'coffee'] },
  { const: { a: [1] } },
  {
    type: 'object',
    properties: { name: { type: 'string' }, parts: { type: 'array', items: { type: 'number' } } },
    required: ['name', 'parts'],
    additionalProperties: false,
  },
]

// One instance for all: it compiles what says what a schema is.
const ajv = new Ajv2020({ strict: false })
addFormats(ajv)

test.each(schemas)('what stands for %j fits it', (schema) => {
  const value = jsonInstance(schema)
  expect(ajv.validate(schema, value), `${JSON.stringify(value)}: ${ajv.errorsText()}`).toBe(true)
})

const { application, slowApplication } = target.resources
const idOf = async (server: Server, operation: string, change = {}) =>
  String((await send(server, operation, change)).json.id)

/** Creations on an application: declared ones, and one that was just made. */
const applications: Readonly<Record<string, (server: Server) => Promise<string>>> = {
  plain: async () => application.id,
  slow: async () => slowApplication.id,
  created: (server) => idOf(server, 'applications.create'),
}

interface Watched {
  /** Makes another job; gives the status of the answer. */
  create(): Promise<number>
  /** Reads the job; gives its status. */
  read(): Promise<string>
}

/** A job of an application, watched in virtual time. */
function withJob(
  of: keyof typeof applications,
  options: ReferenceOptions,
  look: (job: Watched) => Promise<void>,
) {
  return withReference({ jobMs: 100, slowJobMs: 100, ...options }, async (server) => {
    const params = { application_id: await applications[of]!(server) }
    const job_id = await idOf(server, 'jobs.create', { params })
    await look({
      create: async () => (await send(server, 'jobs.create', { params })).status,
      read: async () =>
        String((await send(server, 'jobs.retrieve', { params: { job_id } })).json.status),
    })
  })
}

for (const of of Object.keys(applications)) {
  test(`a job of the ${of} application lasts until it was read in progress a few times, long after its time`, () =>
    withJob(of, {}, async ({ create, read }) => {
      await pause(10_000)
      expect(await create()).toBe(409)
      for (let reading = 0; reading < readingsInProgress; reading++)
        expect(await read()).toBe('in_progress')
      expect(await read()).toBe('completed')
      expect(await create()).toBe(202)
    }))

  test(`a job of the ${of} application that nobody reads ends after half a minute`, () =>
    withJob(of, {}, async ({ create, read }) => {
      await pause(29_000)
      expect(await create()).toBe(409)
      await pause(1000)
      expect(await create()).toBe(202)
      expect(await read()).toBe('completed')
    }))
}

test('readings alone end no job before its time', () =>
  withJob('plain', {}, async ({ create, read }) => {
    for (let reading = 0; reading < 2 * readingsInProgress; reading++)
      expect(await read()).toBe('in_progress')
    expect(await create()).toBe(409)
    await pause(100)
    expect(await read()).toBe('completed')
  }))

test('a job that takes more than half a minute takes that', () =>
  withJob('plain', { jobMs: 60_000 }, async ({ create }) => {
    await pause(59_000)
    expect(await create()).toBe(409)
    await pause(1000)
    expect(await create()).toBe(202)
  }))

test('a job whose creation may be lost waits less', () =>
  expect(unreadMsOf(createSwitches([], ['connection/closed-unannounced']))).toBe(3000))
