import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { send, target, type Reply, type Server, type Story } from './client.ts'
import { isRefused } from './refusal-rows.ts'

const { resources } = target
const { application, otherApplication, slowApplication, failingApplication } = resources
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const dateTime = /^\d{4}-(0\d|1[0-2])-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i
const statuses = ['in_progress', 'failed', 'completed']

const tone = [{ id: 'tone', value: ['calm'] }]
const withTopic = (text: string) => ({ inputs: [{ id: 'topic', value: [text] }] })
const create = (server: Server, { id } = application, change: object = {}) =>
  send(server, 'jobs.create', { params: { application_id: id }, ...change })
const read = (server: Server, id: string) =>
  send(server, 'jobs.retrieve', { params: { job_id: id } })

/** Reads a job until it has ended; the last reading if it has not within two seconds. */
async function ended(server: Server, id: string): Promise<Reply> {
  const end = Date.now() + 2000
  let last = await read(server, id)
  while (last.json?.status === 'in_progress' && Date.now() < end) {
    await pause(5)
    last = await read(server, id)
  }
  return last
}

const isCreation = (answer: Reply) => answer.status === 202
const busy = (answer: Reply | undefined) =>
  answer !== undefined && isRefused(answer, ['409 BadRequest'])

function isCreated(answer: Reply): boolean {
  const { id, status, created_at: at } = answer.json ?? {}
  return isCreation(answer) && uuid.test(id) && statuses.includes(status) && dateTime.test(at)
}

const optional = (value: unknown, holds: (value: any) => boolean) =>
  value === undefined || holds(value)

function isJob(answer: Reply): boolean {
  const { id, status, application_id: of, created_at: at, ...rest } = answer.json ?? {}
  return (
    answer.status === 200 &&
    uuid.test(id) &&
    statuses.includes(status) &&
    typeof of === 'string' &&
    dateTime.test(at) &&
    optional(rest.updated_at, (value) => dateTime.test(value)) &&
    optional(rest.completed_at, (value) => dateTime.test(value)) &&
    optional(
      rest.data,
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    ) &&
    optional(rest.error, (value) => typeof value === 'string')
  )
}

interface Life {
  readonly of: string
  readonly created: Reply
  readonly readings: readonly Reply[]
}

/** A job from its creation on: read at once, ended, and read again. */
async function live(server: Server, at = application): Promise<Life> {
  const created = await create(server, at)
  const { id } = created.json ?? {}
  return {
    of: at.id,
    created,
    readings: [await read(server, id), await ended(server, id), await read(server, id)],
  }
}

/** Jobs of all applications, and whether each of them is as it should be. */
async function allLives(server: Server, holds: (life: Life) => boolean): Promise<boolean> {
  const all = [application, otherApplication, slowApplication, failingApplication]
  return (await Promise.all(all.map((each) => live(server, each)))).every(holds)
}

const sameTime = (one: string, other: string) => Date.parse(one) === Date.parse(other)

/** Whether a creation is granted at once after each of those that are refused. */
async function staysFree(server: Server): Promise<boolean> {
  const malformed = { raw: { text: '{', contentType: 'application/json' } }
  const labelled = { headers: { 'content-type': 'text/plain' } }
  const { restricted } = target.keys
  for (const fault of [
    { body: {} },
    { body: { inputs: tone } },
    { key: 'no-jwt' },
    { key: restricted },
    labelled,
    malformed,
  ]) {
    await create(server, application, fault)
    const next = await create(server)
    if (!isCreation(next)) return false
    await ended(server, next.json.id)
  }
  await create(server, { ...application, id: randomUUID() })
  const last = await create(server)
  if (!isCreation(last)) return false
  await ended(server, last.json.id)
  // What a refusal begins later shows a moment after it.
  await create(server, application, { body: {} })
  await pause(700)
  return isCreation(await create(server))
}

/** Whether the application refuses others all the time that its job lasts. */
async function isBusyThroughout(server: Server): Promise<boolean> {
  const { id } = (await create(server, slowApplication)).json
  const attempt = (body: object) => create(server, slowApplication, { body })
  const early = [await create(server, slowApplication), await attempt(withTopic('coffee'))]
  await read(server, id)
  early.push(await create(server, slowApplication))
  await pause(150)
  const late = await create(server, slowApplication)
  const last = await read(server, id)
  return early.every(busy) && busy(late) && last.json.status === 'in_progress'
}

/** Whether the failing application takes one job after the other. */
async function isCreatedAgain(server: Server): Promise<boolean> {
  const { created } = await live(server, failingApplication)
  return isCreated(created) && isCreated(await create(server, failingApplication))
}

/** An application that was not there when the server began. */
async function createdApplication(server: Server): Promise<typeof application> {
  const name = `Tea ${process.pid} ${performance.now()}`
  return {
    id: (await send(server, 'applications.create', { merge: { name } })).json.id,
    inputs: [],
  }
}

/** The stories of jobs. */
export const jobStories: Readonly<Record<string, Story>> = {
  'jobs.create/202-created': async (server) =>
    isCreated(await create(server)) &&
    isCreated(await create(server, otherApplication)) &&
    isCreated(await create(server, slowApplication, { body: withTopic('tea') })) &&
    (await isCreatedAgain(server)) &&
    isCreated(await create(server, await createdApplication(server), { body: { inputs: [] } })),
  'jobs.create/202-retrievable': async (server) =>
    (await read(server, (await create(server)).json.id)).status === 200,
  'jobs.create/202-required-inputs-only': async (server) =>
    isCreation(await create(server, application, { body: withTopic('tea') })),
  'jobs.create/202-any-text': async (server) => {
    const bodies = ['“茶”', '🫖', 'a\u0000b', 'a\\b', '', ' tea ', 'a\r\nb', '42', '__proto__'].map(
      (text) => ({
        body: { inputs: [...tone, ...withTopic(text).inputs] },
      }),
    )
    const answers = bodies.map((body) => create(server, application, body))
    return (await Promise.all(answers)).every(({ status }) => status < 500)
  },
  'jobs.create/409-job-in-progress': async (server) => {
    await create(server)
    if (!busy(await create(server))) return false
    for (const at of [otherApplication, failingApplication])
      if (!isCreation(await create(server, at)) || !busy(await create(server, at))) return false
    const made = await createdApplication(server)
    const beside = await Promise.all([create(server, made), create(server, made)])
    return beside.some(busy) && isBusyThroughout(server)
  },
  'jobs.create/409-released': async (server) => {
    const again = async (at: typeof application) => {
      const body = { inputs: at.inputs }
      await ended(server, (await create(server, at, { body })).json.id)
      return isCreation(await create(server, at, { body }))
    }
    for (let job = 0; job < 3; job++) await ended(server, (await create(server)).json.id)
    for (const at of [application, slowApplication, failingApplication])
      if (!(await again(at))) return false
    return again(await createdApplication(server))
  },
  'jobs.create/4xx-no-effect': staysFree,
  'jobs.create/409-per-application': async (server) => {
    await create(server, slowApplication)
    return isCreation(await create(server, otherApplication))
  },
  'jobs.create/409-atomic': async (server) => {
    const oneOf = async (at: typeof application) => {
      const topics = ['tea', 'coffee', 'tea', 'coffee', 'tea', 'coffee']
      const answers = await Promise.all(
        topics.map((topic) => create(server, at, { body: withTopic(topic) })),
      )
      return answers.filter(isCreation).length === 1
    }
    return (await oneOf(slowApplication)) && oneOf(application)
  },
  'jobs.retrieve/200-job': async (server) =>
    isJob(await read(server, resources.job)) &&
    allLives(server, ({ readings }) => readings.every(isJob)),
  'jobs.retrieve/200-identity': async (server) => {
    const own = ({ of, created, readings }: Life) =>
      readings.every(({ json }) => json.id === created.json.id && json.application_id === of)
    if (
      (await read(server, resources.job)).json.id !== resources.job ||
      !(await allLives(server, own))
    )
      return false
    const older = await live(server)
    const newer = await live(server)
    const again = (await read(server, older.created.json.id)).json
    return (
      older.created.json.id !== newer.created.json.id &&
      again.id === older.created.json.id &&
      again.data?.suggestion !== newer.readings.at(-1)?.json.data?.suggestion
    )
  },
  'jobs.retrieve/200-created-at': async (server) => {
    const own = ({ created, readings }: Life) =>
      readings.every(({ json }) => sameTime(json.created_at, created.json.created_at))
    if (!(await allLives(server, own))) return false
    const [older, newer] = [await live(server), await live(server)].map(
      ({ created }) => created.json,
    )
    const again = (await read(server, older.id)).json
    return (
      sameTime(again.created_at, older.created_at) &&
      Date.parse(newer.created_at) > Date.parse(older.created_at)
    )
  },
  'jobs.retrieve/200-consistent': (server) =>
    allLives(server, ({ readings }) =>
      readings.every(({ json: { status, created_at: from, completed_at: to, data, error } }) => {
        const isEarly = status === 'in_progress' && (to ?? data ?? error) !== undefined
        const isLong = Math.abs(Date.parse(from) - Date.now()) > 30 * 24 * 3_600_000
        return (
          !isEarly && !isLong && optional(to, (at) => Date.parse(at) >= Date.parse(from) - 1000)
        )
      }),
    ),
  'jobs.retrieve/200-outcome': async (server) => {
    const ends = async (at: typeof application) => {
      const last = await ended(server, (await create(server, at)).json.id)
      return ['completed', 'failed'].includes(last.json.status)
    }
    return (await ends(application)) && (await ends(slowApplication)) && ends(failingApplication)
  },
  'jobs.retrieve/200-failed': async (server) => {
    const { json } = await ended(server, (await create(server, failingApplication)).json.id)
    return json.status === 'failed' && optional(json.error, (error) => typeof error === 'string')
  },
  'jobs.retrieve/200-stable': async (server) => {
    const declared = [await read(server, resources.job), await read(server, resources.job)].map(
      ({ text }) => text,
    )
    const same = ({ readings }: Life) => readings[1]?.text === readings[2]?.text
    if (declared[0] !== declared[1] || !(await allLives(server, same))) return false
    // An older job, long after its end, while a newer one is in progress.
    const { id } = (await create(server, slowApplication)).json
    const end = await ended(server, id)
    await pause(300)
    await create(server, slowApplication)
    return (await read(server, id)).text === end.text
  },
}
