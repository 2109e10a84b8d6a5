import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  createReference,
  needsSocket,
  type ReferenceOptions,
  unreadMsOf,
} from '../../reference/server.ts'
import { createSwitches } from '../../reference/switches.ts'
import { readingsInProgress } from '../../reference/world/world.ts'
import { send, type Server, target, withReference } from './client.ts'

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
