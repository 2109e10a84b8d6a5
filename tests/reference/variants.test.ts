import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startReference, variants } from '../../reference/server.ts'
import { get, send, target, type Reply } from './client.ts'
import { isRefused, provoke, refusalRows } from './refusal-rows.ts'

const { resources, keys } = target
const unknown = '11111111-2222-4333-8444-555555555555'
const refused = (server: Server) => send(server, 'files.list', { key: 'no-jwt' })
const job = (server: Server) => send(server, 'jobs.retrieve')
const created = (server: Server) => send(server, 'jobs.create')
const uploaded = (server: Server) => send(server, 'files.upload')
const isPage = ({ status, type }: Reply, asked: number) => status === asked && type === 'text/html'
const wrongKey = { key: 'no-jwt' }

async function ended(server: Server, application_id = resources.failingApplication.id): Promise<Reply> {
  const { id } = (await send(server, 'jobs.create', { params: { application_id } })).json
  const read = () => send(server, 'jobs.retrieve', { params: { job_id: id } })
  const end = Date.now() + 2000
  let last = await read()
  while (last.json.status === 'in_progress' && Date.now() < end) last = await read()
  return last
}

/** Headers of an answer as they came over the wire. */
function rawHeaders(
  server: Server,
  path: string,
  headers: Record<string, string> = {},
  agent?: Agent,
): Promise<Record<string, unknown>> {
  const authorization = `Bearer ${keys.full}`
  return new Promise((resolve, reject) => {
    const sent = request(`${server}${path}`, { headers: { authorization, ...headers }, agent }, (answer) => {
      answer.resume()
      resolve(answer.headers)
    })
    sent.on('error', reject).end()
  })
}

async function fails(server: Server, rounds: number): Promise<number> {
  let throttled = 0
  for (let i = 0; i < rounds; i++) if ([429, 503].includes((await get(server, '/v1/files')).status)) throttled += 1
  return throttled
}

const errors = async (server: Server) => (await refused(server)).json.errors

/** What each variant changes, seen from outside. */
const effects: Readonly<Record<string, (server: Server) => Promise<boolean>>> = {
  'json/additional-members': async (server) =>
    'x_trace' in (await refused(server)).json && 'x_trace' in (await job(server)).json,
  'json/members-reversed': async (server) => Object.keys((await refused(server)).json).at(-1) === 'tpe',
  'json/spread': async (server) => /^\s+\{\s+"/.test((await job(server)).text),
  'envelope/no-errors': async (server) => (await errors(server)).length === 0,
  'envelope/bare-errors': async (server) => Object.keys((await errors(server))[0]).length === 0,
  'envelope/without-key': async (server) => !('key' in (await errors(server))[0]),
  'envelope/without-description': async (server) => !('description' in (await errors(server))[0]),
  'envelope/without-item-extras': async (server) => !('extras' in (await errors(server))[0]),
  'envelope/unlisted-keys': async (server) => (await errors(server))[0].key === 'error.own.4711',
  'envelope/several-errors': async (server) => (await errors(server)).length === 3,
  'envelope/full-extras': async (server) => 'tags' in (await refused(server)).json.extras,
  'envelope/other-language': async (server) => (await errors(server))[0].description.includes('refusée'),
  'headers/charset': async (server) => (await job(server)).type === 'application/json; charset=utf-8',
  'headers/odd-content-type': async (server) => (await job(server)).type === 'Application/JSON;charset="UTF-8"',
  'headers/many': async (server) => (await job(server)).headers.get('x-request-id') === '42',
  'connection/chunked': async (server) => (await rawHeaders(server, '/v1/files'))['transfer-encoding'] === 'chunked',
  'connection/closed': async (server) => (await rawHeaders(server, '/v1/files'))['connection'] === 'close',
  'connection/closed-unannounced': async (server) => {
    const socket = connect(Number(new URL(server).port), '127.0.0.1')
    socket.write('GET /v1/files HTTP/1.1\r\nhost: x\r\n\r\n')
    let text = ''
    for await (const piece of socket) text += String(piece)
    return text.includes('401') && !/connection: close/i.test(text)
  },
  'connection/reset-when-reused': async (server) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = () =>
      rawHeaders(server, '/v1/files', {}, agent).then(
        () => 1,
        () => 0,
      )
    let answered = 0
    for (let i = 0; i < 60; i++) answered += await ask()
    agent.destroy()
    return answered < 60 && answered > 50
  },
  'connection/short-lived': async (server) => (await get(server, '/v1/files')).status === 200,
  ...Object.fromEntries(
    ['gzip', 'deflate', 'br'].map((coding) => [
      `compressed/${coding}`,
      async (server: Server) =>
        (await rawHeaders(server, '/v1/files', { 'accept-encoding': coding }))['content-encoding'] === coding &&
        (await rawHeaders(server, '/v1/files'))['content-encoding'] === undefined &&
        (await job(server)).json.status === 'completed',
    ]),
  ),
  'successes/no-content': async (server) => (await get(server, '/v1/files')).status === 204,
  'successes/plain-text': async (server) => (await get(server, '/v1/files')).type === 'text/plain',
  'successes/empty': async (server) => (await get(server, '/v1/files')).text === '',
  'successes/other-2xx': async (server) => (await get(server, '/v1/files')).status === 203,
  'successes/json-scalar': async (server) => (await get(server, '/v1/files')).json === 17,
  'order/body-first': async (server) => (await send(server, 'pdf.parse', { ...wrongKey, body: {} })).status === 400,
  'order/existence-first': async (server) =>
    (await send(server, 'pdf.parse', { ...wrongKey, params: { file_id: unknown } })).status === 404,
  'order/existence-before-body': async (server) =>
    (await send(server, 'pdf.parse', { body: {}, params: { file_id: unknown } })).status === 404,
  'order/state-first': async (server) => {
    await created(server)
    return (await send(server, 'jobs.create', { body: {} })).status === 409
  },
  'order/rights-last': async (server) =>
    (await send(server, 'pdf.parse', { key: keys.restricted, params: { file_id: unknown } })).status === 404,
  'jobs/no-optional-members': async (server) => Object.keys((await job(server)).json).length === 4,
  'jobs/all-members': async (server) => {
    const { completed_at: at, data, error } = (await ended(server)).json
    return typeof at === 'string' && typeof data === 'object' && typeof error === 'string'
  },
  'jobs/updated-before-created': async (server) => {
    const { updated_at: updated, created_at: at } = (await job(server)).json
    return Date.parse(updated) < Date.parse(at)
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
    const read = async () => (await send(server, 'jobs.retrieve', { params: { job_id: id } })).status
    const atOnce = await read()
    await pause(450)
    return atOnce === 404 && (await read()) === 200
  },
  'jobs/texts-limited': async (server) => {
    const texts = ['tea'.repeat(200), 'a\u0001b', 'a\nb']
    const bodies = texts.map((text) => ({ inputs: [{ id: 'topic', value: [text] }] }))
    const answers = await Promise.all(bodies.map((body) => send(server, 'jobs.create', { body })))
    return answers.map(({ status }) => status).join() === '400,400,202'
  },
  'uuids/upper-case': async (server) => (await job(server)).json.id === resources.job.toUpperCase(),
  'uuids/upper-case-in-creation': async (server) => !/[a-f]/.test((await created(server)).json.id),
  'uuids/upper-case-in-retrieval': async (server) => (await job(server)).json.id === resources.job.toUpperCase(),
  'dates/offset': async (server) => (await job(server)).json.created_at.endsWith('+05:30'),
  'dates/unknown-offset': async (server) => (await job(server)).json.created_at.endsWith('-00:00'),
  'dates/long-fraction': async (server) => /\.\d{9}Z$/.test((await job(server)).json.created_at),
  'dates/short-fraction': async (server) => /\.\dZ$/.test((await job(server)).json.created_at),
  'dates/whole-seconds': async (server) => /:\d\dZ$/.test((await job(server)).json.created_at),
  'dates/lower-case': async (server) => /t.*z$/.test((await job(server)).json.created_at),
  'dates/coarser-in-retrieval': async (server) => /:\d\dZ$/.test((await job(server)).json.created_at),
  'clock/hours-behind': async (server) => Date.parse((await created(server)).json.created_at) < Date.now() - 3_600_000,
  'clock/hours-ahead': async (server) => Date.parse((await created(server)).json.created_at) > Date.now() + 3_600_000,
  'ids/numeric': async (server) => /^\d+$/.test((await uploaded(server)).json.id),
  'ids/json-number': async (server) => typeof (await uploaded(server)).json.id === 'number',
  'ids/long': async (server) => (await uploaded(server)).json.id.startsWith('file_'),
  'ids/upper-case': async (server) => !/[a-f]/.test((await uploaded(server)).json.id),
  'requests/unknown-members-rejected': async (server) =>
    (await send(server, 'completion.create', { merge: { tea: true } })).status === 400 &&
    (await send(server, 'completion.create')).status === 200,
  'requests/nulls-rejected': async (server) =>
    (await send(server, 'completion.create', { merge: { temperature: null } })).status === 400,
  'generation/empty': async (server) => (await send(server, 'translate.run')).json.text === '',
  'generation/varying': async (server) =>
    (await send(server, 'translate.run')).text !== (await send(server, 'translate.run')).text,
  'models/other-statuses': async (server) =>
    (await send(server, 'chat.create', { merge: { model: 'm-silent' } })).status === 400,
  'processing/slow': async (server) =>
    [await send(server, 'graphs.add-file'), await send(server, 'graphs.add-file')].every(
      ({ status }) => status === 200,
    ),
  'files/known-by-content': async (server) => {
    const [one, same] = [await uploaded(server), await uploaded(server)].map(({ json }): string => json.id)
    const other = await send(server, 'files.upload', { raw: { text: 'Oolong', contentType: 'text/plain' } })
    return one === same && other.json.id !== one
  },
  'throttled/429': async (server) => (await fails(server, 200)) === 2,
  'throttled/429-seconds': async (server) => (await fails(server, 200)) === 2,
  'throttled/429-date': async (server) => (await fails(server, 200)) === 2,
  'throttled/503': async (server) => (await fails(server, 200)) === 2,
  'throttled/503-seconds': async (server) => (await fails(server, 200)) === 2,
  'unknown-path/400': async (server) => (await get(server, '/v1/tea')).status === 400,
  'unknown-path/401': async (server) => (await get(server, '/v1/tea')).status === 401,
  'unknown-path/403': async (server) => (await get(server, '/v1/tea')).status === 403,
  'methods/400': async (server) => (await get(server, '/v1/translate')).status === 400,
  'methods/405': async (server) => (await get(server, '/v1/translate')).status === 405,
  'methods/lists': async (server) => (await get(server, '/v1/applications')).status === 200,
  'pdf-removed': async (server) => (await send(server, 'pdf.parse')).status === 410,
  'pdf-removed-404': async (server) => (await send(server, 'pdf.parse')).status === 404,
  'pdf-removed-page-404': async (server) => isPage(await send(server, 'pdf.parse'), 404),
  'pdf-removed-page-410': async (server) => isPage(await send(server, 'pdf.parse'), 410),
}

const spelled = variants.filter((variant) => !variant.includes('='))
const alternatives = variants.filter((variant) => variant.includes('='))

async function on(variant: string, look: (server: Server) => Promise<boolean>): Promise<boolean> {
  const { server, close } = await startReference({ variants: [variant] })
  try {
    return await look(server)
  } finally {
    await close()
  }
}

test('every variant is looked at here', () => {
  expect(Object.keys(effects).sort()).toEqual([...spelled].sort())
})

test.each(spelled)('%s', async (variant) => {
  expect(await on(variant, effects[variant] ?? (() => Promise.resolve(false)))).toBe(true)
})

test.each(alternatives)('%s', async (variant) => {
  const [name = '', pair = ''] = variant.split('=')
  const id = name.replace(/@.*/, '')
  const rows = refusalRows.filter(([of]) => of === id || (id.startsWith('*/') && of.endsWith(id.slice(1))))
  const seen = await on(variant, async (server) => {
    const answers = await Promise.all(rows.map((row) => provoke(server, row)))
    return answers.some((answer) => isRefused(answer, [pair.replace('-', ' ')]))
  })
  expect(seen).toBe(true)
})
