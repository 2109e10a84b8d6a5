import { setTimeout as pause } from 'node:timers/promises'
import { get, play, send, settleMs, target, type Reply, type Server, type Story } from './client.ts'
import { connectionEffects } from './connection-effects.ts'
import { jobEffects } from './job-effects.ts'
import { isRefused } from './refusals.ts'

const { resources } = target
const unknown = '11111111-2222-4333-8444-555555555555'
const refused = (server: Server) => send(server, 'files.list', { key: 'no-jwt' })
const job = (server: Server) => send(server, 'jobs.retrieve')
const created = (server: Server) => send(server, 'jobs.create')
const uploaded = (server: Server) => send(server, 'files.upload')
const isPage = ({ status, type }: Reply, asked: number) => status === asked && type === 'text/html'
const mib = 1024 * 1024
const wrongKey = { key: 'no-jwt' }

async function fails(server: Server, rounds: number): Promise<number> {
  let throttled = 0
  for (let i = 0; i < rounds; i++)
    if ([429, 503].includes((await get(server, '/v1/files')).status)) throttled += 1
  return throttled
}

/** Whether some of the requests that are granted otherwise are refused with that status, but not many. */
async function metNowAndThen(server: Server, status: number): Promise<boolean> {
  const answers: number[] = []
  for (let i = 0; i < 60; i++) answers.push((await send(server, 'translate.run')).status)
  return answers.includes(status) && answers.filter((each) => each === 200).length > 50
}

const belowZero = (server: Server) =>
  send(server, 'completion.create', { merge: { max_tokens: -1 } })

/** Whether each use is refused with 404 at first, and granted once it has settled. */
async function settles(uses: () => readonly Promise<Reply>[]): Promise<boolean> {
  const early = await Promise.all(uses())
  await pause(settleMs + 40)
  const late = await Promise.all(uses())
  return early.every(({ status }) => status === 404) && late.every(({ status }) => status < 300)
}

const errors = async (server: Server) => (await refused(server)).json.errors

/** Effects of each variant, seen from outside. */
export const effects: Readonly<Record<string, Story>> = {
  'json/additional-members': async (server) =>
    'x_trace' in (await refused(server)).json && 'x_trace' in (await job(server)).json,
  'json/members-reversed': async (server) =>
    Object.keys((await refused(server)).json).at(-1) === 'tpe',
  'json/spread': async (server) => /^\s+\{\s+"/.test((await job(server)).text),
  'envelope/no-errors': async (server) => (await errors(server)).length === 0,
  'envelope/bare-errors': async (server) => Object.keys((await errors(server))[0]).length === 0,
  'envelope/without-key': async (server) => !('key' in (await errors(server))[0]),
  'envelope/without-description': async (server) => !('description' in (await errors(server))[0]),
  'envelope/without-item-extras': async (server) => !('extras' in (await errors(server))[0]),
  'envelope/unlisted-keys': async (server) => (await errors(server))[0].key === 'error.own.4711',
  'envelope/keys-of-kind': async (server) =>
    (await play(server, 'general/409-conflict')).json.errors[0].key ===
    'fail.badRequest.invalidParameters',
  'envelope/several-errors': async (server) => (await errors(server)).length === 3,
  'envelope/full-extras': async (server) => 'tags' in (await refused(server)).json.extras,
  'envelope/other-language': async (server) =>
    (await errors(server))[0].description.includes('refusée'),
  'headers/charset': async (server) =>
    (await job(server)).type === 'application/json; charset=utf-8',
  'headers/odd-content-type': async (server) =>
    (await job(server)).type === 'Application/JSON;charset="UTF-8"',
  'headers/many': async (server) => (await job(server)).headers.get('x-request-id') === '42',
  ...connectionEffects,
  'keys/told-by-parts': async (server) =>
    (await send(server, 'files.list', { key: 'not.a.jwt' })).json.tpe === 'BadToken' &&
    (await refused(server)).json.tpe === 'BadCredentials',
  'successes/no-content': async (server) => (await get(server, '/v1/files')).status === 204,
  'successes/plain-text': async (server) => (await get(server, '/v1/files')).type === 'text/plain',
  'successes/empty': async (server) => (await get(server, '/v1/files')).text === '',
  'successes/other-2xx': async (server) => (await get(server, '/v1/files')).status === 203,
  'successes/json-scalar': async (server) => (await get(server, '/v1/files')).json === 17,
  'successes/accepted-creations': async (server) => (await uploaded(server)).status === 202,
  'successes/no-content-creations': async (server) => (await uploaded(server)).status === 204,
  'answers/large': async (server) =>
    (await get(server, '/v1/files')).text.length > 3 * mib &&
    (await job(server)).text.length > 2 * mib,
  'answers/huge': async (server) => (await get(server, '/v1/files')).text.length > 8 * mib,
  'lists/bare-array': async (server) => Array.isArray((await get(server, '/v1/files')).json),
  ...Object.fromEntries(
    ['404', '405', 'page-404'].map((name) => [
      `aliases/${name}`,
      async (server: Server) => {
        const aliases = [
          await send(server, 'chat.create', { path: '/v1/chat' }),
          await send(server, 'vision.analyze', { path: '/v1/vision' }),
        ]
        const asked = Number(name.slice(-3))
        return (
          aliases.every(({ status }) => status === asked) &&
          (await send(server, 'chat.create')).status === 200
        )
      },
    ]),
  ),
  'names/optional': async (server) => {
    const answers = ['graphs.create', 'applications.create'].flatMap((operation) =>
      [{ name: undefined }, { name: undefined }].map((merge) => send(server, operation, { merge })),
    )
    return (await Promise.all(answers)).every(({ status }) => status < 300)
  },
  'order/body-first': async (server) =>
    (await send(server, 'pdf.parse', { ...wrongKey, body: {} })).status === 400,
  'order/existence-first': async (server) =>
    (await send(server, 'pdf.parse', { ...wrongKey, params: { file_id: unknown } })).status === 404,
  'order/existence-before-body': async (server) =>
    (await send(server, 'pdf.parse', { body: {}, params: { file_id: unknown } })).status === 404,
  'order/state-first': async (server) => {
    await created(server)
    return (await send(server, 'jobs.create', { body: {} })).status === 409
  },
  'order/rights-last': async (server) =>
    (await send(server, 'pdf.parse', { key: target.keys.restricted, params: { file_id: unknown } }))
      .status === 404,
  ...jobEffects,
  'uuids/upper-case': async (server) => (await job(server)).json.id === resources.job.toUpperCase(),
  'uuids/upper-case-in-creation': async (server) => !/[a-f]/.test((await created(server)).json.id),
  'uuids/upper-case-in-retrieval': async (server) =>
    (await job(server)).json.id === resources.job.toUpperCase(),
  'dates/offset': async (server) => (await job(server)).json.created_at.endsWith('+05:30'),
  'dates/negative-offset': async (server) => (await job(server)).json.created_at.endsWith('-03:30'),
  'dates/unknown-offset': async (server) => (await job(server)).json.created_at.endsWith('-00:00'),
  'dates/long-fraction': async (server) => /\.\d{9}Z$/.test((await job(server)).json.created_at),
  'dates/short-fraction': async (server) => /\.\dZ$/.test((await job(server)).json.created_at),
  'dates/whole-seconds': async (server) => /:\d\dZ$/.test((await job(server)).json.created_at),
  'dates/lower-case': async (server) => /t.*z$/.test((await job(server)).json.created_at),
  'dates/coarser-in-retrieval': async (server) =>
    /:\d\dZ$/.test((await job(server)).json.created_at),
  'clock/hours-behind': async (server) =>
    Date.parse((await created(server)).json.created_at) < Date.now() - 3_600_000,
  'clock/hours-ahead': async (server) =>
    Date.parse((await created(server)).json.created_at) > Date.now() + 3_600_000,
  'ids/numeric': async (server) => /^\d+$/.test((await uploaded(server)).json.id),
  'ids/json-number': async (server) => typeof (await uploaded(server)).json.id === 'number',
  'ids/int64': async (server) => Number((await uploaded(server)).json.id) > Number.MAX_SAFE_INTEGER,
  'ids/long': async (server) => (await uploaded(server)).json.id.startsWith('file_'),
  'ids/upper-case': async (server) => !/[a-f]/.test((await uploaded(server)).json.id),
  'requests/unknown-members-rejected': async (server) =>
    (await send(server, 'completion.create', { merge: { tea: true } })).status === 400 &&
    (await send(server, 'completion.create')).status === 200,
  'requests/nulls-rejected': async (server) =>
    (await send(server, 'completion.create', { merge: { temperature: null } })).status === 400,
  'generation/empty': async (server) => (await send(server, 'translate.run')).json.text === '',
  'generation/blocked-now-and-then': async (server) => {
    const answers: number[] = []
    for (let i = 0; i < 40; i++) answers.push((await send(server, 'translate.run')).status)
    return answers.filter((status) => status === 400).length === 2
  },
  'generation/input-blocked-now-and-then': (server) => metNowAndThen(server, 400),
  'generation/model-fails-now-and-then': (server) => metNowAndThen(server, 500),
  'generation/provider-blocked-now-and-then': (server) => metNowAndThen(server, 400),
  'requests/values-coerced': async (server) =>
    (await send(server, 'completion.create', { merge: { temperature: '0.5' } })).status === 200 &&
    (await send(server, 'chat.create', { merge: { messages: { role: 'user', content: 'Tea?' } } }))
      .status === 200 &&
    (await send(server, 'jobs.create', { body: { inputs: { id: 'topic', value: 'tea' } } }))
      .status === 202,
  'generation/varying': async (server) =>
    (await send(server, 'translate.run')).text !== (await send(server, 'translate.run')).text,
  'models/other-statuses': async (server) =>
    (await send(server, 'chat.create', { merge: { model: 'm-silent' } })).status === 400,
  'tokens/below-zero-granted': async (server) => (await belowZero(server)).status === 200,
  'tokens/below-zero-bad-request': async (server) =>
    isRefused(await belowZero(server), ['400 BadRequest']),
  'settling/uploads': async (server) => {
    const file_id = (await uploaded(server)).json.id
    const uses = () => [
      send(server, 'files.retrieve', { params: { file_id } }),
      send(server, 'graphs.add-file', { merge: { file_id } }),
    ]
    return settles(uses)
  },
  'settling/graphs': async (server) => {
    const graph_id = (await send(server, 'graphs.create')).json.id
    return settles(() => [send(server, 'graphs.query', { params: { graph_id } })])
  },
  'settling/applications': async (server) => {
    const application_id = (await send(server, 'applications.create')).json.id
    return settles(() => [send(server, 'jobs.create', { params: { application_id } })])
  },
  'graphs/empty-not-queried': async (server) => {
    const graph_id = (await send(server, 'graphs.create')).json.id
    const empty = await send(server, 'graphs.query', { params: { graph_id } })
    await send(server, 'graphs.add-file', { params: { graph_id } })
    return (
      empty.status === 422 &&
      (await send(server, 'graphs.query', { params: { graph_id } })).status === 200
    )
  },
  'applications/inputs-demanded': async (server) => {
    const application_id = (await send(server, 'applications.create')).json.id
    return (await send(server, 'jobs.create', { params: { application_id } })).status === 400
  },
  'slow/refusals': async (server) => {
    const began = Date.now()
    await send(server, 'completion.create', { merge: { prompt: '' } })
    return Date.now() - began > 0.9 * settleMs
  },
  'processing/slow': async (server) =>
    [await send(server, 'graphs.add-file'), await send(server, 'graphs.add-file')].every(
      ({ status }) => status === 200,
    ),
  'files/known-by-content': async (server) => {
    const [one, same] = [await uploaded(server), await uploaded(server)].map(
      ({ json }): string => json.id,
    )
    const other = await send(server, 'files.upload', {
      raw: { text: 'Oolong', contentType: 'text/plain' },
    })
    return one === same && other.json.id !== one
  },
  'files/unique-names': async (server) =>
    (await uploaded(server)).status === 200 && (await uploaded(server)).status === 409,
  'files/refused-twice': async (server) => {
    const [one, same] = [await uploaded(server), await uploaded(server)]
    return one.status === 200 && same.status === 409
  },
  'throttled/429': async (server) => (await fails(server, 200)) === 2,
  'throttled/429-seconds': async (server) => (await fails(server, 200)) === 2,
  'throttled/429-date': async (server) => (await fails(server, 200)) === 2,
  'throttled/503': async (server) => (await fails(server, 200)) === 2,
  'throttled/503-seconds': async (server) => (await fails(server, 200)) === 2,
  'spellings/served': async (server) => (await get(server, '/V1/files')).status === 200,
  'spellings/redirected': async (server) => (await get(server, '/v1/files/')).status === 308,
  'spellings/page': async (server) => isPage(await get(server, '//v1/files'), 200),
  'spellings/refused': async (server) => isPage(await get(server, '/v1/files;x'), 400),
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
