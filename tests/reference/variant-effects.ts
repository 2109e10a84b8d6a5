import { setTimeout as pause } from 'node:timers/promises'
import {
  type Change,
  get,
  send,
  settleMs,
  target,
  type Reply,
  type Server,
  type Story,
} from './client.ts'
import { connectionEffects } from './connection-effects.ts'
import { jobEffects } from './job-effects.ts'

const { resources } = target
const file_id = '11111111-2222-4333-8444-555555555555'
const asking =
  (operation: string, change?: Change) =>
  (server: Server): Promise<Reply> =>
    send(server, operation, change)
const job = asking('jobs.retrieve')
const created = asking('jobs.create')
const uploaded = asking('files.upload')
const refused = asking('files.list', { key: 'no-jwt' })
const belowZero = asking('completion.create', { merge: { max_tokens: -1 } })
const isPage = ({ status, type }: Reply, asked: number) => status === asked && type === 'text/html'
const mib = 1024 * 1024
const wrongKey = { key: 'no-jwt' }

async function times(count: number, ask: () => Promise<Reply>): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) statuses.push((await ask()).status)
  return statuses
}

/** Whether some of the requests that are granted otherwise are refused with that status, but not many. */
async function metNowAndThen(server: Server, status: number): Promise<boolean> {
  const answers = await times(60, () => send(server, 'translate.run'))
  return answers.includes(status) && answers.filter((each) => each === 200).length > 50
}

/** Whether each use is refused with 404 at first, and granted once it has settled. */
async function settles(uses: () => readonly Promise<Reply>[]): Promise<boolean> {
  const early = await Promise.all(uses())
  await pause(settleMs + 40)
  const late = await Promise.all(uses())
  return early.every(({ status }) => status === 404) && late.every(({ status }) => status < 300)
}

const named = <Given, Made>(
  prefix: string,
  all: Record<string, Given>,
  make: (given: Given) => Made,
): Record<string, Made> =>
  Object.fromEntries(Object.entries(all).map(([name, given]) => [prefix + name, make(given)]))

/** What one answer shows with these variants. */
const shownBy = (
  ask: (server: Server) => Promise<Reply>,
  shows: Record<string, (reply: Reply) => boolean>,
) =>
  named(
    '',
    shows,
    (isShown): Story =>
      async (server) =>
        isShown(await ask(server)),
  )

/** Effects of each variant, seen from outside. */
export const effects: Readonly<Record<string, Story>> = {
  ...shownBy(refused, {
    'json/members-reversed': ({ json }) => Object.keys(json).at(-1) === 'tpe',
    'envelope/full-extras': ({ json }) => 'tags' in json.extras,
    ...named<(errors: any[]) => boolean, (reply: Reply) => boolean>(
      'envelope/',
      {
        'no-errors': ({ length }) => length === 0,
        'several-errors': ({ length }) => length === 3,
        'bare-errors': ([one]) => Object.keys(one).length === 0,
        'without-key': ([one]) => !('key' in one),
        'without-description': ([one]) => !('description' in one),
        'without-item-extras': ([one]) => !('extras' in one),
        'unlisted-keys': ([one]) => one.key === 'error.own.4711',
        'other-language': ([one]) => one.description.includes('refusée'),
      },
      (isShown) =>
        ({ json }) =>
          isShown(json.errors),
    ),
  }),
  ...shownBy(job, {
    'json/spread': ({ text }) => /^\s+\{\s+"/.test(text),
    'headers/charset': ({ type }) => type === 'application/json; charset=utf-8',
    'headers/odd-content-type': ({ type }) => type === 'Application/JSON;charset="UTF-8"',
    'headers/many': ({ headers }) => headers.get('x-request-id') === '42',
    'uuids/upper-case': ({ json }) => json.id === resources.job.toUpperCase(),
    'uuids/upper-case-in-retrieval': ({ json }) => json.id === resources.job.toUpperCase(),
    ...named(
      'dates/',
      {
        offset: /\+05:30$/,
        'negative-offset': /-03:30$/,
        'unknown-offset': /-00:00$/,
        'long-fraction': /\.\d{9}Z$/,
        'short-fraction': /\.\dZ$/,
        'whole-seconds': /:\d\dZ$/,
        'coarser-in-retrieval': /:\d\dZ$/,
        'lower-case': /t.*z$/,
      },
      (form) =>
        ({ json }: Reply) =>
          form.test(json.created_at),
    ),
  }),
  ...shownBy(created, {
    'uuids/upper-case-in-creation': ({ json }) => !/[a-f]/.test(json.id),
    'clock/hours-behind': ({ json }) => Date.parse(json.created_at) < Date.now() - 3_600_000,
    'clock/hours-ahead': ({ json }) => Date.parse(json.created_at) > Date.now() + 3_600_000,
  }),
  ...shownBy(uploaded, {
    'ids/numeric': ({ json }) => /^\d+$/.test(json.id),
    'ids/json-number': ({ json }) => typeof json.id === 'number',
    'ids/int64': ({ json }) => Number(json.id) > Number.MAX_SAFE_INTEGER,
    'ids/long': ({ json }) => json.id.startsWith('file_'),
    'ids/upper-case': ({ json }) => !/[a-f]/.test(json.id),
    'successes/accepted-creations': ({ status }) => status === 202,
    'successes/no-content-creations': ({ status }) => status === 204,
  }),
  ...shownBy((server) => get(server, '/v1/files'), {
    'successes/no-content': ({ status }) => status === 204,
    'successes/other-2xx': ({ status }) => status === 203,
    'successes/plain-text': ({ type }) => type === 'text/plain',
    'successes/empty': ({ text }) => text === '',
    'successes/json-scalar': ({ json }) => json === 17,
    'answers/huge': ({ text }) => text.length > 8 * mib,
    'lists/bare-array': ({ json }) => Array.isArray(json),
  }),
  ...shownBy(asking('pdf.parse'), {
    'pdf-removed': ({ status }) => status === 410,
    'pdf-removed-404': ({ status }) => status === 404,
    'pdf-removed-page-404': (reply) => isPage(reply, 404),
    'pdf-removed-page-410': (reply) => isPage(reply, 410),
  }),
  ...shownBy(belowZero, {
    'tokens/below-zero-granted': ({ status }) => status === 200,
    'tokens/below-zero-bad-request': ({ status, json }) =>
      `${status} ${json.tpe}` === '400 BadRequest',
  }),
  ...named<[path: string, status: number], Story>(
    '',
    {
      'spellings/served': ['/V1/files', 200],
      'spellings/redirected': ['/v1/files/', 308],
      'unknown-path/400': ['/v1/tea', 400],
      'unknown-path/401': ['/v1/tea', 401],
      'unknown-path/403': ['/v1/tea', 403],
      'methods/400': ['/v1/translate', 400],
      'methods/405': ['/v1/translate', 405],
      'methods/lists': ['/v1/applications', 200],
    },
    ([path, asked]) =>
      async (server) =>
        (await get(server, path)).status === asked,
  ),
  ...connectionEffects,
  ...jobEffects,
  'json/additional-members': async (server) =>
    'x_trace' in (await refused(server)).json && 'x_trace' in (await job(server)).json,
  'envelope/keys-of-kind': async (server) =>
    (await send(server, 'graphs.query', { headers: { 'if-match': '"0"' } })).json.errors[0].key ===
    'fail.badRequest.invalidParameters',
  'keys/told-by-parts': async (server) =>
    (await send(server, 'files.list', { key: 'not.a.jwt' })).json.tpe === 'BadToken' &&
    (await refused(server)).json.tpe === 'BadCredentials',
  'answers/large': async (server) =>
    (await get(server, '/v1/files')).text.length > 3 * mib &&
    (await job(server)).text.length > 2 * mib,
  ...named(
    'aliases/',
    { '404': 404, '405': 405, 'page-404': 404 },
    (asked) => async (server: Server) => {
      const answers = [
        await send(server, 'chat.create', { path: '/v1/chat' }),
        await send(server, 'vision.analyze', { path: '/v1/vision' }),
        await send(server, 'chat.create'),
      ]
      return answers.map(({ status }) => status).join() === `${asked},${asked},200`
    },
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
    (await send(server, 'pdf.parse', { ...wrongKey, params: { file_id } })).status === 404,
  'order/existence-before-body': async (server) =>
    (await send(server, 'pdf.parse', { body: {}, params: { file_id } })).status === 404,
  'order/state-first': async (server) => {
    await created(server)
    return (await send(server, 'jobs.create', { body: {} })).status === 409
  },
  'order/rights-last': async (server) =>
    (await send(server, 'pdf.parse', { key: target.keys.restricted, params: { file_id } }))
      .status === 404,
  'requests/unknown-members-rejected': async (server) =>
    (await send(server, 'completion.create', { merge: { tea: true } })).status === 400 &&
    (await send(server, 'completion.create')).status === 200,
  'requests/nulls-rejected': async (server) =>
    (await send(server, 'completion.create', { merge: { temperature: null } })).status === 400,
  'requests/values-coerced': async (server) => {
    const messages = { role: 'user', content: 'Tea?' }
    const inputs = { id: 'topic', value: 'tea' }
    return (
      (await send(server, 'completion.create', { merge: { temperature: '0.5' } })).status === 200 &&
      (await send(server, 'chat.create', { merge: { messages } })).status === 200 &&
      (await send(server, 'jobs.create', { body: { inputs } })).status === 202
    )
  },
  'generation/empty': async (server) => (await send(server, 'translate.run')).json.text === '',
  'generation/blocked-now-and-then': async (server) => {
    const answers = await times(40, () => send(server, 'translate.run'))
    return answers.filter((status) => status === 400).length === 2
  },
  'generation/input-blocked-now-and-then': (server) => metNowAndThen(server, 400),
  'generation/model-fails-now-and-then': (server) => metNowAndThen(server, 500),
  'generation/provider-blocked-now-and-then': (server) => metNowAndThen(server, 400),
  'generation/varying': async (server) =>
    (await send(server, 'translate.run')).text !== (await send(server, 'translate.run')).text,
  'models/other-statuses': async (server) =>
    (await send(server, 'chat.create', { merge: { model: 'm-silent' } })).status === 400,
  'settling/uploads': async (server) => {
    const { id } = (await uploaded(server)).json
    return settles(() => [
      send(server, 'files.retrieve', { params: { file_id: id } }),
      send(server, 'graphs.add-file', { merge: { file_id: id } }),
    ])
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
    const params = { graph_id: (await send(server, 'graphs.create')).json.id }
    const empty = await send(server, 'graphs.query', { params })
    await send(server, 'graphs.add-file', { params })
    return empty.status === 422 && (await send(server, 'graphs.query', { params })).status === 200
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
    (await times(2, () => send(server, 'graphs.add-file'))).join() === '200,200',
  'files/known-by-content': async (server) => {
    const raw = { text: 'Oolong', contentType: 'text/plain' }
    const [one, same, other] = [
      await uploaded(server),
      await uploaded(server),
      await send(server, 'files.upload', { raw }),
    ].map(({ json }): string => json.id)
    return one === same && other !== one
  },
  ...named(
    'files/',
    { 'unique-names': 409, 'refused-twice': 409 },
    (second) => async (server: Server) =>
      (await times(2, () => uploaded(server))).join() === `200,${second}`,
  ),
  ...named(
    'throttled/',
    { '429': 429, '429-seconds': 429, '429-date': 429, '503': 503, '503-seconds': 503 },
    (asked) => async (server: Server) => {
      const answers = await times(200, () => get(server, '/v1/files'))
      return answers.filter((status) => status === asked).length === 2
    },
  ),
  'spellings/page': async (server) => isPage(await get(server, '//v1/files'), 200),
  'spellings/refused': async (server) => isPage(await get(server, '/v1/files;x'), 400),
}
