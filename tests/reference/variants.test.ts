import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startReference, variants } from '../../reference/server.ts'
import { get, send, target, type Reply } from './client.ts'
import { isRefused, provoke, refusalRows } from './refusal-rows.ts'

const { resources, keys } = target
const unknown = '11111111-2222-4333-8444-555555555555'
const refused = (url: string) => send(url, 'files.list', { key: 'no-jwt' })
const job = (url: string) => send(url, 'jobs.retrieve')
const created = (url: string) => send(url, 'jobs.create')
const uploaded = (url: string) => send(url, 'files.upload')
const isPage = ({ status, type }: Reply, asked: number) => status === asked && type === 'text/html'
const wrongKey = { key: 'no-jwt' }

async function ended(url: string, application_id = resources.failingApplication.id): Promise<Reply> {
  const { id } = (await send(url, 'jobs.create', { params: { application_id } })).json
  const read = () => send(url, 'jobs.retrieve', { params: { job_id: id } })
  const end = Date.now() + 2000
  let last = await read()
  while (last.json.status === 'in_progress' && Date.now() < end) last = await read()
  return last
}

/** Headers of an answer as they came over the wire. */
function rawHeaders(
  url: string,
  path: string,
  headers: Record<string, string> = {},
  agent?: Agent,
): Promise<Record<string, unknown>> {
  const authorization = `Bearer ${keys.full}`
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { headers: { authorization, ...headers }, agent }, (answer) => {
      answer.resume()
      resolve(answer.headers)
    })
    sent.on('error', reject).end()
  })
}

async function fails(url: string, rounds: number): Promise<number> {
  let throttled = 0
  for (let i = 0; i < rounds; i++) if ([429, 503].includes((await get(url, '/v1/files')).status)) throttled += 1
  return throttled
}

const errors = async (url: string) => (await refused(url)).json.errors

/** What each variant changes, seen from outside. */
const effects: Readonly<Record<string, (url: string) => Promise<boolean>>> = {
  'json/additional-members': async (url) =>
    'x_trace' in (await refused(url)).json && 'x_trace' in (await job(url)).json,
  'json/members-reversed': async (url) => Object.keys((await refused(url)).json).at(-1) === 'tpe',
  'json/spread': async (url) => /^\s+\{\s+"/.test((await job(url)).text),
  'envelope/no-errors': async (url) => (await errors(url)).length === 0,
  'envelope/bare-errors': async (url) => Object.keys((await errors(url))[0]).length === 0,
  'envelope/without-key': async (url) => !('key' in (await errors(url))[0]),
  'envelope/without-description': async (url) => !('description' in (await errors(url))[0]),
  'envelope/without-item-extras': async (url) => !('extras' in (await errors(url))[0]),
  'envelope/unlisted-keys': async (url) => (await errors(url))[0].key === 'error.own.4711',
  'envelope/several-errors': async (url) => (await errors(url)).length === 3,
  'envelope/full-extras': async (url) => 'tags' in (await refused(url)).json.extras,
  'envelope/other-language': async (url) => (await errors(url))[0].description.includes('refusée'),
  'headers/charset': async (url) => (await job(url)).type === 'application/json; charset=utf-8',
  'headers/odd-content-type': async (url) => (await job(url)).type === 'Application/JSON;charset="UTF-8"',
  'headers/many': async (url) => (await job(url)).headers.get('x-request-id') === '42',
  'connection/chunked': async (url) => (await rawHeaders(url, '/v1/files'))['transfer-encoding'] === 'chunked',
  'connection/closed': async (url) => (await rawHeaders(url, '/v1/files'))['connection'] === 'close',
  'connection/closed-unannounced': async (url) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write('GET /v1/files HTTP/1.1\r\nhost: x\r\n\r\n')
    let text = ''
    for await (const piece of socket) text += String(piece)
    return text.includes('401') && !/connection: close/i.test(text)
  },
  'connection/reset-when-reused': async (url) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = () =>
      rawHeaders(url, '/v1/files', {}, agent).then(
        () => 1,
        () => 0,
      )
    let answered = 0
    for (let i = 0; i < 60; i++) answered += await ask()
    agent.destroy()
    return answered < 60 && answered > 50
  },
  'connection/short-lived': async (url) => (await get(url, '/v1/files')).status === 200,
  ...Object.fromEntries(
    ['gzip', 'deflate', 'br'].map((coding) => [
      `compressed/${coding}`,
      async (url: string) =>
        (await rawHeaders(url, '/v1/files', { 'accept-encoding': coding }))['content-encoding'] === coding &&
        (await rawHeaders(url, '/v1/files'))['content-encoding'] === undefined &&
        (await job(url)).json.status === 'completed',
    ]),
  ),
  'successes/no-content': async (url) => (await get(url, '/v1/files')).status === 204,
  'successes/plain-text': async (url) => (await get(url, '/v1/files')).type === 'text/plain',
  'successes/empty': async (url) => (await get(url, '/v1/files')).text === '',
  'successes/other-2xx': async (url) => (await get(url, '/v1/files')).status === 203,
  'successes/json-scalar': async (url) => (await get(url, '/v1/files')).json === 17,
  'order/body-first': async (url) => (await send(url, 'pdf.parse', { ...wrongKey, body: {} })).status === 400,
  'order/existence-first': async (url) =>
    (await send(url, 'pdf.parse', { ...wrongKey, params: { file_id: unknown } })).status === 404,
  'order/existence-before-body': async (url) =>
    (await send(url, 'pdf.parse', { body: {}, params: { file_id: unknown } })).status === 404,
  'order/state-first': async (url) => {
    await created(url)
    return (await send(url, 'jobs.create', { body: {} })).status === 409
  },
  'order/rights-last': async (url) =>
    (await send(url, 'pdf.parse', { key: keys.restricted, params: { file_id: unknown } })).status === 404,
  'jobs/no-optional-members': async (url) => Object.keys((await job(url)).json).length === 4,
  'jobs/all-members': async (url) => {
    const { completed_at: at, data, error } = (await ended(url)).json
    return typeof at === 'string' && typeof data === 'object' && typeof error === 'string'
  },
  'jobs/updated-before-created': async (url) => {
    const { updated_at: updated, created_at: at } = (await job(url)).json
    return Date.parse(updated) < Date.parse(at)
  },
  'jobs/born-completed': async (url) => (await created(url)).json.status === 'completed',
  'jobs/born-failed': async (url) => (await created(url)).json.status === 'failed',
  'jobs/instant': async (url) => {
    const { id, status } = (await created(url)).json
    const read = await send(url, 'jobs.retrieve', { params: { job_id: id } })
    return status === 'in_progress' && read.json.status === 'completed'
  },
  'jobs/fail-now-and-then': async (url) => {
    await send(url, 'jobs.create', { params: { application_id: resources.otherApplication.id } })
    await send(url, 'jobs.create', { params: { application_id: resources.slowApplication.id } })
    return (await ended(url, resources.application.id)).json.status === 'failed'
  },
  'jobs/readable-late': async (url) => {
    const { id } = (await created(url)).json
    const read = async () => (await send(url, 'jobs.retrieve', { params: { job_id: id } })).status
    const atOnce = await read()
    await pause(450)
    return atOnce === 404 && (await read()) === 200
  },
  'jobs/texts-limited': async (url) => {
    const texts = ['tea'.repeat(200), 'a\u0001b', 'a\nb']
    const bodies = texts.map((text) => ({ inputs: [{ id: 'topic', value: [text] }] }))
    const answers = await Promise.all(bodies.map((body) => send(url, 'jobs.create', { body })))
    return answers.map(({ status }) => status).join() === '400,400,202'
  },
  'uuids/upper-case': async (url) => (await job(url)).json.id === resources.job.toUpperCase(),
  'uuids/upper-case-in-creation': async (url) => !/[a-f]/.test((await created(url)).json.id),
  'uuids/upper-case-in-retrieval': async (url) => (await job(url)).json.id === resources.job.toUpperCase(),
  'dates/offset': async (url) => (await job(url)).json.created_at.endsWith('+05:30'),
  'dates/unknown-offset': async (url) => (await job(url)).json.created_at.endsWith('-00:00'),
  'dates/long-fraction': async (url) => /\.\d{9}Z$/.test((await job(url)).json.created_at),
  'dates/short-fraction': async (url) => /\.\dZ$/.test((await job(url)).json.created_at),
  'dates/whole-seconds': async (url) => /:\d\dZ$/.test((await job(url)).json.created_at),
  'dates/lower-case': async (url) => /t.*z$/.test((await job(url)).json.created_at),
  'dates/coarser-in-retrieval': async (url) => /:\d\dZ$/.test((await job(url)).json.created_at),
  'clock/hours-behind': async (url) => Date.parse((await created(url)).json.created_at) < Date.now() - 3_600_000,
  'clock/hours-ahead': async (url) => Date.parse((await created(url)).json.created_at) > Date.now() + 3_600_000,
  'ids/numeric': async (url) => /^\d+$/.test((await uploaded(url)).json.id),
  'ids/json-number': async (url) => typeof (await uploaded(url)).json.id === 'number',
  'ids/long': async (url) => (await uploaded(url)).json.id.startsWith('file_'),
  'ids/upper-case': async (url) => !/[a-f]/.test((await uploaded(url)).json.id),
  'requests/unknown-members-rejected': async (url) =>
    (await send(url, 'completion.create', { merge: { tea: true } })).status === 400 &&
    (await send(url, 'completion.create')).status === 200,
  'requests/nulls-rejected': async (url) =>
    (await send(url, 'completion.create', { merge: { temperature: null } })).status === 400,
  'generation/empty': async (url) => (await send(url, 'translate.run')).json.text === '',
  'generation/varying': async (url) =>
    (await send(url, 'translate.run')).text !== (await send(url, 'translate.run')).text,
  'models/other-statuses': async (url) =>
    (await send(url, 'chat.create', { merge: { model: 'm-silent' } })).status === 400,
  'processing/slow': async (url) =>
    [await send(url, 'graphs.add-file'), await send(url, 'graphs.add-file')].every(({ status }) => status === 200),
  'files/known-by-content': async (url) => {
    const [one, same] = [await uploaded(url), await uploaded(url)].map(({ json }): string => json.id)
    const other = await send(url, 'files.upload', { raw: { text: 'Oolong', contentType: 'text/plain' } })
    return one === same && other.json.id !== one
  },
  'throttled/429': async (url) => (await fails(url, 200)) === 2,
  'throttled/429-seconds': async (url) => (await fails(url, 200)) === 2,
  'throttled/429-date': async (url) => (await fails(url, 200)) === 2,
  'throttled/503': async (url) => (await fails(url, 200)) === 2,
  'throttled/503-seconds': async (url) => (await fails(url, 200)) === 2,
  'unknown-path/400': async (url) => (await get(url, '/v1/tea')).status === 400,
  'unknown-path/401': async (url) => (await get(url, '/v1/tea')).status === 401,
  'unknown-path/403': async (url) => (await get(url, '/v1/tea')).status === 403,
  'methods/400': async (url) => (await get(url, '/v1/translate')).status === 400,
  'methods/405': async (url) => (await get(url, '/v1/translate')).status === 405,
  'methods/lists': async (url) => (await get(url, '/v1/applications')).status === 200,
  'pdf-removed': async (url) => (await send(url, 'pdf.parse')).status === 410,
  'pdf-removed-404': async (url) => (await send(url, 'pdf.parse')).status === 404,
  'pdf-removed-page-404': async (url) => isPage(await send(url, 'pdf.parse'), 404),
  'pdf-removed-page-410': async (url) => isPage(await send(url, 'pdf.parse'), 410),
}

const spelled = variants.filter((variant) => !variant.includes('='))
const alternatives = variants.filter((variant) => variant.includes('='))

async function on(variant: string, look: (url: string) => Promise<boolean>): Promise<boolean> {
  const { url, close } = await startReference({ variants: [variant] })
  try {
    return await look(url)
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
  const seen = await on(variant, async (url) => {
    const answers = await Promise.all(rows.map((row) => provoke(url, row)))
    return answers.some((answer) => isRefused(answer, [pair.replace('-', ' ')]))
  })
  expect(seen).toBe(true)
})
