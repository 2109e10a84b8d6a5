import shape from '../../schemas/job.schema.json' with { type: 'json' }
import { setTimeout as pause } from 'node:timers/promises'
import { send, settleMs, target, type Reply, type Server, type Story } from './client.ts'

const { resources } = target
const job = (server: Server) => send(server, 'jobs.retrieve')
const created = (server: Server) => send(server, 'jobs.create')

async function readUntilEnded(server: Server, job_id: string): Promise<Reply> {
  const read = () => send(server, 'jobs.retrieve', { params: { job_id } })
  const end = Date.now() + 2000
  let last = await read()
  while (last.json.status === 'in_progress' && Date.now() < end) {
    await pause(5)
    last = await read()
  }
  return last
}

async function ended(
  server: Server,
  application_id = resources.failingApplication.id,
): Promise<Reply> {
  return readUntilEnded(
    server,
    (await send(server, 'jobs.create', { params: { application_id } })).json.id,
  )
}

async function readsLaterBy(server: Server, ms: number): Promise<boolean> {
  const { id, created_at: at } = (await created(server)).json
  const read = await send(server, 'jobs.retrieve', { params: { job_id: id } })
  return Date.parse(read.json.created_at) - Date.parse(at) === ms
}

async function answersTo(server: Server, ...texts: string[]): Promise<string> {
  const bodies = texts.map((text) => ({ inputs: [{ id: 'topic', value: [text] }] }))
  const answers = await Promise.all(bodies.map((body) => send(server, 'jobs.create', { body })))
  return answers.map(({ status }) => status).join()
}

/** Effects of the variants about jobs, seen from outside. */
export const jobEffects: Readonly<Record<string, Story>> = {
  'jobs/no-optional-members': async (server) =>
    Object.keys((await job(server)).json).length === shape.required.length,
  'jobs/all-members': async (server) => {
    const { completed_at: at, data, error } = (await ended(server)).json
    return typeof at === 'string' && typeof data === 'object' && typeof error === 'string'
  },
  'jobs/updated-before-created': async (server) => {
    const { updated_at: updated, created_at: at } = (await job(server)).json
    return Date.parse(updated) < Date.parse(at)
  },
  'jobs/updated-when-created': async (server) => {
    const { updated_at: updated, created_at: at } = (await job(server)).json
    return updated === at
  },
  'jobs/updated-at-moves': async (server) => {
    const { id } = (await ended(server)).json
    const read = async () =>
      (await send(server, 'jobs.retrieve', { params: { job_id: id } })).json.updated_at as string
    const first = await read()
    await pause(10)
    return (await read()) > first
  },
  'jobs/born-completed': async (server) => (await created(server)).json.status === 'completed',
  'jobs/born-failed': async (server) => (await created(server)).json.status === 'failed',
  'jobs/instant': async (server) => {
    const { id, status } = (await created(server)).json
    const read = await send(server, 'jobs.retrieve', { params: { job_id: id } })
    return status === 'in_progress' && read.json.status === 'completed'
  },
  'jobs/fail-now-and-then': async (server) => {
    await send(server, 'jobs.create', { params: { application_id: resources.otherApplication.id } })
    await send(server, 'jobs.create', { params: { application_id: resources.slowApplication.id } })
    return (await ended(server, resources.application.id)).json.status === 'failed'
  },
  'jobs/readable-late': async (server) => {
    const { id } = (await created(server)).json
    const read = async () =>
      (await send(server, 'jobs.retrieve', { params: { job_id: id } })).status
    const atOnce = await read()
    await pause(settleMs + 40)
    return atOnce === 404 && (await read()) === 200
  },
  'jobs/texts-limited': async (server) =>
    (await answersTo(server, 'tea'.repeat(200), 'a\u0001b', 'a\nb')) === '400,400,202',
  'jobs/values-limited': async (server) => (await answersTo(server, 'coffee', 'tea')) === '400,202',
  'jobs/others-now-and-then': async (server) => {
    const statuses: number[] = []
    for (let i = 0; i < 7; i++) {
      const { status, json } = await created(server)
      statuses.push(status)
      if (status === 202) await readUntilEnded(server, json.id)
    }
    return statuses.join() === '202,202,202,202,202,202,409'
  },
  'dates/two-readings': (server) => readsLaterBy(server, 600),
  'dates/two-readings-earlier': (server) => readsLaterBy(server, -600),
}
