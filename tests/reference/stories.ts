import { readFileSync } from 'node:fs'
import {
  get,
  play,
  routes,
  send,
  target,
  type Change,
  type Reply,
  type Server,
  type Story,
} from './client.ts'
import { inputStories } from './bad-input.ts'
import { jobStories } from './job-stories.ts'
import { isRefused } from './refusal-rows.ts'

const { resources } = target
const pdf = (name: string): Buffer =>
  readFileSync(new URL(`../../fixtures/pdf/${name}.pdf`, import.meta.url))
const [goodPdf, otherPdf] = [pdf('good'), pdf('other')]
const busy = (answer: Reply) => isRefused(answer, ['409 BadRequest'])
const isGranted = (answer: Reply) => answer.status < 300 && answer.json?.tpe === undefined
/** The valid request with names that begin with an escape (RFC 8259 §7). */
function sendSpelled(server: Server, operation: string, { merge }: Change = {}): Promise<Reply> {
  const valid = {
    ...(routes[operation]?.[2] ?? target.operations[operation]?.body ?? {}),
    ...merge,
  }
  const escaped = (letter: string) => `"\\u00${letter.charCodeAt(0).toString(16)}`
  const text = JSON.stringify(valid).replace(/"([a-z])(?=\w*":)/g, (_, letter: string) =>
    escaped(letter),
  )
  return send(server, operation, { raw: { text, contentType: 'application/json' } })
}

const emptyFile = { raw: { base64: '', contentType: 'text/plain' } }

/** The very same request twice, if it makes nothing; the second time in another spelling. */
const granted = (operation: string) => async (server: Server) =>
  isGranted(await send(server, operation)) &&
  (operation === 'graphs.add-file' || isGranted(await send(server, operation))) &&
  (routes[operation]?.[0] === 'GET' || isGranted(await sendSpelled(server, operation)))
/** Another creation may meet the name of the first; one of something else does not. */
const grantedAgain = (operation: string) => async (server: Server) => {
  const [first, same] = [await send(server, operation), await send(server, operation)]
  if (!isGranted(first) || same.status >= 500) return false
  const raw = { base64: goodPdf.toString('base64'), contentType: 'application/pdf' }
  if (operation === 'files.upload') {
    return isGranted(await send(server, operation, { raw }))
  }
  for (let others = 0; others < 9; others++)
    if (!isGranted(await send(server, operation, await freshOne(server, operation)))) return false
  return true
}
const content = (answer: Reply) => answer.json?.choices?.[0]?.message?.content
const isChat = (answer: Reply) => isGranted(answer) && typeof content(answer) === 'string'
const isEntity = (entity: any) =>
  typeof entity.category === 'string' &&
  typeof entity.score === 'number' &&
  Array.isArray(entity.traits)

/** Configurations at bounds, and one unit outside them (§2.7). */
const bounds = { grounding_level: 1, max_snippets: 5, max_subquestions: 1, inline_citations: true }
const allowed = [
  {},
  { max_snippets: 30, max_tokens: 4000 },
  { ...bounds, search_weight: 0, max_tokens: 8000, keyword_threshold: 1, semantic_threshold: 1 },
  { inline_citations: true },
  { max_snippets: 5 },
  { max_snippets: 30 },
  { search_weight: 0 },
  { grounding_level: 1 },
]
const refused = [
  false,
  { max_snippets: 4 },
  { search_weight: 101 },
  { max_tokens: 'many' },
  { keyword_threshold: -0.5 },
]

function withConfig(operation: string, query_config: unknown): Record<string, unknown> {
  if (operation === 'graphs.query') return { query_config }
  return { tools: [{ type: 'graph', function: { graph_ids: [resources.graph], query_config } }] }
}

async function all(
  server: Server,
  operation: string,
  configs: readonly unknown[],
  holds: (answer: Reply) => boolean,
) {
  const answers = configs.map((config) =>
    send(server, operation, { merge: withConfig(operation, config) }),
  )
  return (await Promise.all(answers)).every(holds)
}

const isNotFound = (answer: Reply) =>
  answer.status >= 400 && answer.status < 500 && typeof answer.json?.tpe === 'string'

const many = 6
let names = 0

/** A creation of something that does not exist yet: what is merged into the valid request. */
async function freshOne(server: Server, operation: string): Promise<Change> {
  if (operation !== 'graphs.add-file') return { merge: { name: `Tea ${process.pid} ${names++}` } }
  const raw = { text: `Tea ${names++}`, contentType: 'text/plain' }
  return { merge: { file_id: (await send(server, 'files.upload', { raw })).json.id } }
}

async function idsAtOnce(server: Server, operation: string): Promise<unknown[]> {
  const one = () =>
    operation === 'files.upload'
      ? send(server, operation, { raw: { text: `Tea ${names++}`, contentType: 'text/plain' } })
      : freshOne(server, operation).then((change) => send(server, operation, change))
  return (await Promise.all(Array.from({ length: many }, one))).map(
    ({ json }) => json.id as unknown,
  )
}

/** An object whose creation was sent a second time. */
async function idAskedTwice(server: Server, operation: string): Promise<unknown> {
  const change = operation === 'files.upload' ? {} : await freshOne(server, operation)
  const first = await send(server, operation, change)
  await send(server, operation, change)
  return first.json.id as unknown
}

/** Each of several objects, made at once, can be used when all are there. */
async function staysUsable(
  server: Server,
  operation: string,
  uses: readonly (readonly [operation: string, param: string])[],
  holds: (answer: Reply) => boolean,
): Promise<boolean> {
  for (const id of [
    ...(await idsAtOnce(server, operation)),
    await idAskedTwice(server, operation),
  ]) {
    for (const [use, param] of uses) {
      if (!holds(await send(server, use, { params: { [param]: String(id) } }))) return false
    }
  }
  return true
}

async function isGrantedOnce(server: Server, operation: string): Promise<boolean> {
  const change = await freshOne(server, operation)
  const answers = await Promise.all(
    Array.from({ length: many }, () => send(server, operation, change)),
  )
  return answers.filter(isGranted).length === 1 && answers.every(({ status }) => status < 500)
}

async function refusedCreateNothing(server: Server, operation: string): Promise<boolean> {
  const faults: Change[] = [
    { key: 'no-jwt' },
    { key: target.keys.restricted },
    { headers: { 'content-type': 'text/plain' } },
    ...(operation === 'applications.create'
      ? [{ merge: { blueprint: { nodes: [], edges: [['a', 'b']] } } }]
      : []),
  ]
  for (const fault of faults) {
    const change = await freshOne(server, operation)
    await send(server, operation, {
      ...change,
      ...fault,
      merge: { ...change.merge, ...fault.merge },
    })
    if (!isGranted(await send(server, operation, change))) return false
  }
  return true
}

/** Tells whether what exists is refused the second time, the third, and after another one was made. */
async function existsOnce(server: Server, operation: string, pair: string): Promise<boolean> {
  const change = await freshOne(server, operation)
  await send(server, operation, change)
  const again = async () =>
    isRefused(await send(server, operation, change).catch(() => ({ status: 0 }) as Reply), [pair])
  if (!(await again()) || !(await again())) return false
  for (let others = 0; others < 3; others++)
    await send(server, operation, await freshOne(server, operation))
  return again()
}

/** The requirements that take more than one request, or are about granted ones. */
export const stories: Readonly<Record<string, Story>> = {
  ...jobStories,
  'pdf.parse/200-text': (server) => parsed(server, 'text'),
  'pdf.parse/200-markdown': (server) => parsed(server, 'markdown'),
  'pdf.parse/200-content': async (server) => {
    const words = (text: string) =>
      text
        .toLowerCase()
        .match(/[a-z]+/g)
        ?.join(' ')
    const other = { format: 'text' }
    await send(server, 'pdf.parse', { body: other })
    const parsedFrom = async (bytes: Buffer): Promise<() => Promise<string>> => {
      const raw = { base64: bytes.toString('base64'), contentType: 'application/pdf' }
      const file_id = String((await send(server, 'files.upload', { raw })).json.id)
      return async () =>
        String((await send(server, 'pdf.parse', { body: other, params: { file_id } })).json.content)
    }
    const parseSecond = await parsedFrom(otherPdf)
    const second = await parseSecond()
    if (!['Zürich', '196', 'own', '4711', 'jalapeños'].every((word) => second.includes(word)))
      return false
    const parseSameSize = await parsedFrom(
      Buffer.concat([goodPdf, Buffer.alloc(otherPdf.length - goodPdf.length, '\n')]),
    )
    if (!(await parseSameSize()).includes('Tea')) return false
    const [one, another] = await Promise.all([parseSecond(), parseSameSize()])
    if (!one.includes('Zürich') || !another.includes('Tea')) return false
    const answers = ['text', 'markdown'].map((format) =>
      send(server, 'pdf.parse', { body: { format } }),
    )
    return (await Promise.all(answers)).every(
      ({ json }) => words(json.content) === words(resources.pdfText),
    )
  },
  'chat.create/200-completion': async (server) =>
    isChat(await send(server, 'chat.create', { merge: { tools: undefined } })),
  'chat.create/200-text-parts': async (server) => {
    const text = { type: 'text', text: 'Hello' }
    const turned = { text: 'Hello', type: 'text' }
    const answers = [[text], [text, text], [turned]].map((parts) =>
      send(server, 'chat.create', { merge: { messages: [{ role: 'user', content: parts }] } }),
    )
    const spelled = await sendSpelled(server, 'chat.create', {
      merge: { messages: [{ role: 'user', content: [text] }] },
    })
    return [...(await Promise.all(answers)), spelled].every(isChat)
  },
  'chat.create/200-image-parts': async (server) =>
    isChat(await play(server, 'chat.create/200-image-parts')),
  'chat.create/200-image-url': async (server) =>
    isChat(await play(server, 'chat.create/200-image-url')),
  'chat.create/200-tool-choice-auto': async (server) =>
    isChat(await send(server, 'chat.create', { merge: { tool_choice: 'auto' } })),
  'chat.create/200-structured-output': async (server) => {
    const value = parsedJson(content(await play(server, 'chat.create/200-structured-output')))
    return (
      Number.isInteger(value?.minutes) &&
      value.leaves.length === 2 &&
      typeof value.name === 'string'
    )
  },
  'chat.create/200-llm-tool': async (server) => {
    const data = (await play(server, 'chat.create/200-llm-tool')).json?.choices[0].message.llm_data
    return typeof data?.prompt === 'string' && typeof data.model === 'string'
  },
  'chat.create/200-query-config': (server) => all(server, 'chat.create', allowed, isChat),
  'chat.create/400-query-config': (server) =>
    all(server, 'chat.create', refused, (answer) => answer.status === 400),
  'files.upload/2xx-attached-to-graph': async (server) => {
    const uploaded = await send(server, 'files.upload', { query: { graphId: resources.graph } })
    const added = await send(server, 'graphs.add-file', { merge: { file_id: uploaded.json?.id } })
    const graph_id = (await send(server, 'graphs.create')).json?.id as string
    const own = await send(server, 'files.upload', { query: { graphId: graph_id } })
    const again = await send(server, 'graphs.add-file', {
      params: { graph_id },
      merge: { file_id: own.json?.id },
    })
    const isInGraph = added.status === 409 && again.status === 409
    const elsewhere = await send(server, 'graphs.add-file', { merge: { file_id: own.json?.id } })
    await send(server, 'files.upload', { query: { graphId: graph_id } })
    const kept = await send(server, 'graphs.add-file', {
      params: { graph_id },
      merge: { file_id: own.json?.id },
    })
    return isGranted(uploaded) && isInGraph && isGranted(elsewhere) && kept.status === 409
  },
  'files.list/2xx-file-types': async (server) => {
    const both = await send(server, 'files.list', { query: { file_types: 'txt,pdf' } })
    const listed = await send(server, 'files.list', { query: { file_types: 'pdf' } })
    const unknown = await send(server, 'files.list', { query: { file_types: 'txt,nothing' } })
    const none = await send(server, 'files.list', { query: { file_types: 'docx' } })
    return (
      unknown.status < 500 &&
      none.status < 500 &&
      isGranted(both) &&
      isGranted(listed) &&
      listed.json.data.every(({ name }: { name: string }) => name.endsWith('.pdf'))
    )
  },
  'files.list/2xx-filtered': async (server) => {
    await send(server, 'files.upload')
    const listed = await send(server, 'files.list', { query: { file_types: 'pdf' } })
    return listed.json.data.every(({ name }: { name: string }) => name.endsWith('.pdf'))
  },
  'files.retrieve/2xx-own-record': async (server) => {
    const ids = await idsAtOnce(server, 'files.upload')
    const records = ids.map((id) =>
      send(server, 'files.retrieve', { params: { file_id: String(id) } }),
    )
    return (await Promise.all(records)).every(({ json }, at) => json.id === ids[at])
  },
  'graphs.add-file/409-already-in-graph': async (server) => {
    const first = await send(server, 'graphs.add-file')
    // A connection that is closed is no refusal either.
    const again = await send(server, 'graphs.add-file').catch(() => undefined)
    if (!isGranted(first) || again === undefined || !busy(again)) return false
    // Nor is a created graph without its file because its name was asked for again.
    const change = await freshOne(server, 'graphs.create')
    const params = { graph_id: String((await send(server, 'graphs.create', change)).json.id) }
    const toCreated = { ...(await freshOne(server, 'graphs.add-file')), params }
    if (!isGranted(await send(server, 'graphs.add-file', toCreated))) return false
    await send(server, 'graphs.create', change)
    if (!busy(await send(server, 'graphs.add-file', toCreated))) return false
    return existsOnce(server, 'graphs.add-file', '409 BadRequest')
  },
  'files.upload/2xx-retrievable': async (server) => {
    const inGraph = await freshOne(server, 'graphs.add-file')
    await send(server, 'graphs.add-file', inGraph)
    const attached = await send(server, 'files.upload', { query: { graphId: resources.graph } })
    const pdf = await send(server, 'files.upload', {
      raw: { base64: goodPdf.toString('base64'), contentType: 'application/pdf' },
    })
    for (const file_id of [
      String(inGraph.merge?.['file_id']),
      String(attached.json?.id),
      String(pdf.json?.id),
    ])
      if (!isGranted(await send(server, 'files.retrieve', { params: { file_id } }))) return false
    return staysUsable(server, 'files.upload', [['files.retrieve', 'file_id']], isGranted)
  },
  ...Object.fromEntries(
    ['files.upload', 'graphs.create', 'applications.create'].map((operation) => [
      `${operation}/2xx-own-id`,
      async (server: Server) => new Set(await idsAtOnce(server, operation)).size === many,
    ]),
  ),
  ...Object.fromEntries(
    ['graphs.create', 'applications.create'].flatMap((operation) => [
      [`${operation}/400-atomic`, (server: Server) => isGrantedOnce(server, operation)],
      [`${operation}/4xx-no-effect`, (server: Server) => refusedCreateNothing(server, operation)],
      [
        `${operation}/400-duplicate-name`,
        (server: Server) => existsOnce(server, operation, '400 BadRequest'),
      ],
    ]),
  ),
  'graphs.create/400-duplicate-name': async (server) => {
    const change = await freshOne(server, 'graphs.create')
    const graph_id = String((await send(server, 'graphs.create', change)).json.id)
    const addition = await freshOne(server, 'graphs.add-file')
    if (!isGranted(await send(server, 'graphs.add-file', { ...addition, params: { graph_id } })))
      return false
    if (!isRefused(await send(server, 'graphs.create', change), ['400 BadRequest'])) return false
    return existsOnce(server, 'graphs.create', '400 BadRequest')
  },
  'pdf.parse/400-missing-format': async (server) => {
    await send(server, 'pdf.parse')
    const { status } = await send(server, 'pdf.parse', { body: {} })
    return status === 400
  },
  'graphs.add-file/409-atomic': (server) => isGrantedOnce(server, 'graphs.add-file'),
  'graphs.add-file/4xx-no-effect': (server) => refusedCreateNothing(server, 'graphs.add-file'),
  'graphs.create/2xx-usable': (server) =>
    staysUsable(
      server,
      'graphs.create',
      [
        ['graphs.query', 'graph_id'],
        ['graphs.add-file', 'graph_id'],
      ],
      ({ status }) => status < 300 || status === 409,
    ),
  'applications.create/2xx-usable': (server) =>
    staysUsable(
      server,
      'applications.create',
      [['jobs.create', 'application_id']],
      ({ status }) => status === 202 || status === 409,
    ),
  'graphs.add-file/2xx-other-graph': async (server) => {
    const graph_id = (await send(server, 'graphs.create')).json.id
    await send(server, 'graphs.add-file')
    if (!isGranted(await send(server, 'graphs.add-file', { params: { graph_id } }))) return false
    return (await send(server, 'graphs.add-file')).status === 409
  },
  'graphs.query/2xx-query-config': (server) => all(server, 'graphs.query', allowed, isGranted),
  'graphs.query/400-query-config': (server) =>
    all(server, 'graphs.query', refused, (answer) => answer.status === 400),
  'medical.comprehend/200-entities': async (server) => {
    const answers = [
      await send(server, 'medical.comprehend'),
      await sendSpelled(server, 'medical.comprehend'),
    ]
    return answers.every(
      ({ json: { entities } }) => entities?.length > 0 && entities.every(isEntity),
    )
  },
  ...Object.fromEntries(
    Object.keys(routes)
      .filter(
        (operation) =>
          ![
            'pdf.parse',
            'jobs.create',
            'jobs.retrieve',
            'chat.create',
            'medical.comprehend',
          ].includes(operation),
      )
      .map((operation) => [`${operation}/2xx-accepted`, granted(operation)]),
  ),
  ...Object.fromEntries(
    ['files.upload', 'graphs.create', 'graphs.add-file', 'applications.create'].map((operation) => [
      `${operation}/2xx-accepted`,
      grantedAgain(operation),
    ]),
  ),
  'files.list/2xx-accepted': async (server) => {
    await send(server, 'files.upload', emptyFile)
    await Promise.all(Array.from({ length: 2 * many }, () => idsAtOnce(server, 'files.upload')))
    return isGranted(await send(server, 'files.list'))
  },
  'envelope/shape': async (server) =>
    isEnvelope((await send(server, 'files.list', { key: 'no-jwt' })).json),
  'envelope/status-tpe-pair': async (server) => {
    const answer = await send(server, 'jobs.retrieve', {
      params: { job_id: '11111111-2222-4333-8444-555555555555' },
    })
    const missing = await send(server, 'files.retrieve', { params: { file_id: 'none' } })
    return [answer, missing].every((each) => isRefused(each, ['404 ResourceNotFound']))
  },
  'envelope/content-type': async (server) => {
    const answers = [
      await send(server, 'files.list', { key: 'no-jwt' }),
      await send(server, 'jobs.retrieve'),
    ]
    return answers.every(({ type }) => type.startsWith('application/json'))
  },
  'envelope/message-keys': async (server) => {
    const [missing, unauthorized, forbidden] = [
      await send(server, 'files.retrieve', { params: { file_id: 'none' } }),
      await send(server, 'files.list', { key: 'no-jwt' }),
      await send(server, 'files.list', { key: target.keys.restricted }),
    ].map(({ json }): string => json.errors[0].key)
    return (
      missing === 'fail.notFound.resource' &&
      unauthorized === 'fail.unauthorized.badCredentials' &&
      forbidden === 'fail.forbidden.insufficientAccessRights'
    )
  },
  'envelope/unknown-path': async (server) =>
    isNotFound(await get(server, '/v1/tea')) && isNotFound(await get(server, '/v1/tea%zz')),
  'envelope/unsupported-method': async (server) => isNotFound(await get(server, '/v1/translate')),
  ...inputStories,
  'envelope/bad-input-no-5xx': async (server) => {
    const format = await send(server, 'pdf.parse', { body: { format: 17 } })
    const input = await send(server, 'ai-detect.run', { merge: { input: 17 } })
    const lists = ['?file_types=', '?file_types=txt&file_types=pdf'].map((query) =>
      send(server, 'files.list', { path: `/v1/files${query}` }),
    )
    const answers = [format, input, ...(await Promise.all(lists))]
    return answers.every(({ status }) => status < 500)
  },
}

async function parsed(server: Server, format: string): Promise<boolean> {
  const answer = await send(server, 'pdf.parse', { body: { format } })
  const spelled = await sendSpelled(server, 'pdf.parse', { merge: { format } })
  const isParsed = ({ json, status }: typeof answer): boolean =>
    status === 200 && typeof json.content === 'string' && json.content.includes('extracted')
  return isParsed(answer) && isParsed(spelled)
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
