import { get, play, routes, send, target, type Reply } from './client.ts'
import { isRefused } from './refusal-rows.ts'

type Story = (url: string) => Promise<boolean>

const { resources } = target
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const dateTime = /^\d{4}-(0\d|1[0-2])-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i
const statuses = ['in_progress', 'failed', 'completed']

const create = (url: string, application: { id: string } = resources.application) =>
  send(url, 'jobs.create', { params: { application_id: application.id } })
const read = (url: string, id: string) => send(url, 'jobs.retrieve', { params: { job_id: id } })
const within = (ms: number) => {
  const end = Date.now() + ms
  return () => Date.now() < end
}

/** Reads a job until it has ended; the last reading where it has not within a second. */
async function ended(url: string, id: string): Promise<Reply> {
  const early = within(1000)
  let last = await read(url, id)
  while (last.json?.status === 'in_progress' && early()) last = await read(url, id)
  return last
}

function isCreated(answer: Reply): boolean {
  const { id, status, created_at: at } = answer.json ?? {}
  return answer.status === 202 && uuid.test(id) && statuses.includes(status) && dateTime.test(at)
}

const optional = (value: unknown, holds: (value: any) => boolean) => value === undefined || holds(value)

function isJob(answer: Reply): boolean {
  const { id, status, application_id: application, created_at: at, ...rest } = answer.json ?? {}
  return (
    answer.status === 200 &&
    uuid.test(id) &&
    statuses.includes(status) &&
    typeof application === 'string' &&
    dateTime.test(at) &&
    optional(rest.updated_at, (value) => dateTime.test(value)) &&
    optional(rest.completed_at, (value) => dateTime.test(value)) &&
    optional(rest.data, (value) => typeof value === 'object' && value !== null && !Array.isArray(value)) &&
    optional(rest.error, (value) => typeof value === 'string')
  )
}

const busy = (answer: Reply) => isRefused(answer, ['409 BadRequest'])
const isGranted = (answer: Reply) => answer.status < 300 && answer.json?.tpe === undefined
const granted = (operation: string) => async (url: string) => isGranted(await send(url, operation))
const content = (answer: Reply) => answer.json?.choices?.[0]?.message?.content
const isChat = (answer: Reply) => isGranted(answer) && typeof content(answer) === 'string'
const isEntity = (entity: any) =>
  typeof entity.category === 'string' && typeof entity.score === 'number' && Array.isArray(entity.traits)

/** Configurations at bounds, and one unit outside them (§2.7). */
const allowed = [{ max_snippets: 5 }, { max_snippets: 30 }, { search_weight: 0 }, { grounding_level: 1 }]
const refused = [{ max_snippets: 4 }, { search_weight: 101 }, { max_tokens: 'many' }, { keyword_threshold: -0.5 }]

function withConfig(operation: string, query_config: object): Record<string, unknown> {
  if (operation === 'graphs.query') return { query_config }
  return { tools: [{ type: 'graph', function: { graph_ids: [resources.graph], query_config } }] }
}

async function all(url: string, operation: string, configs: readonly object[], holds: (answer: Reply) => boolean) {
  const answers = configs.map((config) => send(url, operation, { merge: withConfig(operation, config) }))
  return (await Promise.all(answers)).every(holds)
}

const isNotFound = (answer: Reply) =>
  answer.status >= 400 && answer.status < 500 && typeof answer.json?.tpe === 'string'

/** The requirements that take more than one request, or are about granted ones. */
export const stories: Readonly<Record<string, Story>> = {
  'jobs.create/202-created': async (url) =>
    isCreated(await create(url)) && isCreated(await create(url, resources.otherApplication)),
  'jobs.create/202-retrievable': async (url) => (await read(url, (await create(url)).json.id)).status === 200,
  'jobs.create/202-any-text': async (url) => {
    const bodies = ['“茶”', '🫖', 'a\u0000b', 'a\\b'].map((text) => ({ inputs: [{ id: 'topic', value: [text] }] }))
    const answers = bodies.map((body) => send(url, 'jobs.create', { body }))
    return (await Promise.all(answers)).every(({ status }) => status < 500)
  },
  'jobs.create/409-job-in-progress': async (url) => {
    await create(url, resources.slowApplication)
    return busy(await create(url, resources.slowApplication))
  },
  'jobs.create/409-released': async (url) => {
    await ended(url, (await create(url, resources.slowApplication)).json.id)
    return (await create(url, resources.slowApplication)).status === 202
  },
  'jobs.create/409-per-application': async (url) => {
    await create(url, resources.slowApplication)
    return (await create(url, resources.otherApplication)).status === 202
  },
  'jobs.create/409-atomic': async (url) => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(url, resources.slowApplication)))
    return answers.filter((answer) => answer.status === 202).length === 1
  },
  'jobs.retrieve/200-job': async (url) => {
    const { id } = (await create(url)).json
    const slow = (await create(url, resources.slowApplication)).json.id
    const readings = [await read(url, id), await read(url, slow), await ended(url, id)]
    return readings.every(isJob) && failedOne(url, isJob)
  },
  'jobs.retrieve/200-identity': async (url) => {
    const { id } = (await create(url)).json
    const { json } = await read(url, id)
    return json.id === id && json.application_id === resources.application.id
  },
  'jobs.retrieve/200-created-at': async (url) => {
    const { id, created_at: at } = (await create(url)).json
    const readings = [await read(url, id), await ended(url, id), await read(url, id)]
    return readings.every(({ json }) => Date.parse(json.created_at) === Date.parse(at))
  },
  'jobs.retrieve/200-outcome': async (url) => {
    const last = await ended(url, (await create(url)).json.id)
    return ['completed', 'failed'].includes(last.json.status)
  },
  'jobs.retrieve/200-failed': (url) =>
    failedOne(
      url,
      ({ json }) => json.status === 'failed' && optional(json.error, (error) => typeof error === 'string'),
    ),
  'jobs.retrieve/200-stable': async (url) => {
    const last = await ended(url, (await create(url)).json.id)
    return (await read(url, last.json.id)).text === last.text
  },
  'pdf.parse/200-text': (url) => parsed(url, 'text'),
  'pdf.parse/200-markdown': (url) => parsed(url, 'markdown'),
  'chat.create/200-completion': async (url) => isChat(await send(url, 'chat.create', { merge: { tools: undefined } })),
  'chat.create/200-text-parts': async (url) => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }]
    return isChat(await send(url, 'chat.create', { merge: { messages } }))
  },
  'chat.create/200-image-parts': async (url) => isChat(await play(url, 'chat.create/200-image-parts')),
  'chat.create/200-image-url': async (url) => isChat(await play(url, 'chat.create/200-image-url')),
  'chat.create/200-tool-choice-auto': async (url) =>
    isChat(await send(url, 'chat.create', { merge: { tool_choice: 'auto' } })),
  'chat.create/200-structured-output': async (url) => {
    const value = parsedJson(content(await play(url, 'chat.create/200-structured-output')))
    return Number.isInteger(value?.minutes) && value.leaves.length === 2 && typeof value.name === 'string'
  },
  'chat.create/200-llm-tool': async (url) => {
    const data = (await play(url, 'chat.create/200-llm-tool')).json?.choices[0].message.llm_data
    return typeof data?.prompt === 'string' && typeof data.model === 'string'
  },
  'chat.create/200-query-config': (url) => all(url, 'chat.create', allowed, isGranted),
  'chat.create/400-query-config': (url) => all(url, 'chat.create', refused, (answer) => answer.status === 400),
  'files.upload/2xx-attached-to-graph': async (url) => {
    const uploaded = await send(url, 'files.upload', { query: { graphId: resources.graph } })
    const added = await send(url, 'graphs.add-file', { merge: { file_id: uploaded.json?.id } })
    return isGranted(uploaded) && added.status === 409
  },
  'files.list/2xx-file-types': async (url) => {
    const listed = await send(url, 'files.list', { query: { file_types: 'pdf' } })
    return isGranted(listed) && listed.json.data.every(({ name }: { name: string }) => name.endsWith('.pdf'))
  },
  'graphs.add-file/409-already-in-graph': async (url) => {
    const first = await send(url, 'graphs.add-file')
    // A connection that is closed is no refusal either.
    const again = await send(url, 'graphs.add-file').catch(() => undefined)
    return isGranted(first) && again !== undefined && busy(again)
  },
  'graphs.query/2xx-query-config': (url) => all(url, 'graphs.query', allowed, isGranted),
  'graphs.query/400-query-config': (url) => all(url, 'graphs.query', refused, (answer) => answer.status === 400),
  'medical.comprehend/200-entities': async (url) => {
    const { entities } = (await send(url, 'medical.comprehend')).json
    return Array.isArray(entities) && entities.length > 0 && entities.every(isEntity)
  },
  ...Object.fromEntries(
    Object.keys(routes)
      .filter(
        (operation) =>
          !['pdf.parse', 'jobs.create', 'jobs.retrieve', 'chat.create', 'medical.comprehend'].includes(operation),
      )
      .map((operation) => [`${operation}/2xx-accepted`, granted(operation)]),
  ),
  'envelope/shape': async (url) => isEnvelope((await send(url, 'files.list', { key: 'no-jwt' })).json),
  'envelope/status-tpe-pair': async (url) => {
    const answer = await send(url, 'jobs.retrieve', { params: { job_id: '11111111-2222-4333-8444-555555555555' } })
    const missing = await send(url, 'files.retrieve', { params: { file_id: 'none' } })
    return [answer, missing].every((each) => isRefused(each, ['404 ResourceNotFound']))
  },
  'envelope/content-type': async (url) => {
    const answers = [await send(url, 'files.list', { key: 'no-jwt' }), await send(url, 'jobs.retrieve')]
    return answers.every(({ type }) => type.startsWith('application/json'))
  },
  'envelope/message-keys': async (url) => {
    const [missing, unauthorized, forbidden] = [
      await send(url, 'files.retrieve', { params: { file_id: 'none' } }),
      await send(url, 'files.list', { key: 'no-jwt' }),
      await send(url, 'files.list', { key: target.keys.restricted }),
    ].map(({ json }): string => json.errors[0].key)
    return (
      missing === 'fail.notFound.resource' &&
      unauthorized === 'fail.unauthorized.badCredentials' &&
      forbidden === 'fail.forbidden.insufficientAccessRights'
    )
  },
  'envelope/unknown-path': async (url) => isNotFound(await get(url, '/v1/tea')),
  'envelope/unsupported-method': async (url) => isNotFound(await get(url, '/v1/translate')),
  'envelope/bad-input-no-5xx': async (url) => {
    const format = await send(url, 'pdf.parse', { body: { format: 17 } })
    const input = await send(url, 'ai-detect.run', { merge: { input: 17 } })
    return format.status < 500 && input.status < 500
  },
}

async function failedOne(url: string, holds: (answer: Reply) => boolean): Promise<boolean> {
  return holds(await ended(url, (await create(url, resources.failingApplication)).json.id))
}

async function parsed(url: string, format: string): Promise<boolean> {
  const answer = await send(url, 'pdf.parse', { body: { format } })
  return answer.status === 200 && typeof answer.json.content === 'string' && answer.json.content.includes('extracted')
}

function parsedJson(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isEnvelope(body: any): boolean {
  return (
    typeof body?.tpe === 'string' &&
    typeof body.extras === 'object' &&
    body.extras !== null &&
    !Array.isArray(body.extras) &&
    Array.isArray(body.errors) &&
    body.errors.every(
      (item: any) =>
        typeof item === 'object' &&
        typeof item.description === 'string' &&
        typeof item.key === 'string' &&
        typeof item.extras === 'object',
    )
  )
}
