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

const { keys, resources } = target
const pdf = (name: string): Buffer =>
  readFileSync(new URL(`../../fixtures/pdf/${name}.pdf`, import.meta.url))
const [goodPdf, otherPdf] = [pdf('good'), pdf('other')]

const isGranted = (answer: Reply) => answer.status < 300 && answer.json?.tpe === undefined
const isBusy = (answer: Reply) => isRefused(answer, ['409 BadRequest'])
const isNotFound = ({ status, json }: Reply) =>
  status >= 400 && status < 500 && typeof json?.tpe === 'string'
/** A connection that is closed is no answer. */
const orNone = (sent: Promise<Reply>) => sent.catch(() => ({ status: 0 }) as Reply)
const content = (answer: Reply) => answer.json?.choices?.[0]?.message?.content
const isChat = (answer: Reply) => isGranted(answer) && typeof content(answer) === 'string'
const isEntity = (entity: any) =>
  typeof entity.category === 'string' &&
  typeof entity.score === 'number' &&
  Array.isArray(entity.traits)

const upload = (server: Server, change: Change = {}) => send(server, 'files.upload', change)
const retrieve = (server: Server, file_id: unknown) =>
  send(server, 'files.retrieve', { params: { file_id: String(file_id) } })
const listed = (server: Server, file_types: string) =>
  send(server, 'files.list', { query: { file_types } })
/** Adds a file to the graph, if none is named to the one that is declared. */
const addFile = (server: Server, file_id: unknown, graph_id = resources.graph) =>
  send(server, 'graphs.add-file', { merge: { file_id }, params: { graph_id } })
const chat = (server: Server, merge: object) => send(server, 'chat.create', { merge: { ...merge } })
const asPdf = (bytes: Buffer): Change => ({
  raw: { base64: bytes.toString('base64'), contentType: 'application/pdf' },
})
const textFile = (text: string): Change => ({ raw: { text, contentType: 'text/plain' } })

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

/** The very same request twice, if it makes nothing; the second time in another spelling. */
const granted = (operation: string) => async (server: Server) =>
  isGranted(await send(server, operation)) &&
  isGranted(await send(server, operation)) &&
  (routes[operation]?.[0] === 'GET' || isGranted(await sendSpelled(server, operation)))

/** Another creation may meet the name of the first; one of something else does not. */
const grantedAgain = (operation: string) => async (server: Server) => {
  const [first, same] = [await send(server, operation), await send(server, operation)]
  if (!isGranted(first) || same.status >= 500) return false
  if (operation === 'files.upload') return isGranted(await upload(server, asPdf(goodPdf)))
  for (let others = 0; others < 9; others++)
    if (!isGranted(await send(server, operation, await freshOne(server, operation)))) return false
  return true
}

/** Configurations at bounds, and one unit outside them (§2.7). */
const bounds = { grounding_level: 1, max_snippets: 5, max_subquestions: 1, inline_citations: true }
const allowed = [
  {},
  { max_snippets: 30, max_tokens: 4000 },
  { ...bounds, search_weight: 0, max_tokens: 8000, keyword_threshold: 1, semantic_threshold: 1 },
  ...[{ inline_citations: true }, { max_snippets: 5 }, { max_snippets: 30 }],
  ...[{ search_weight: 0 }, { grounding_level: 1 }],
]
const refused = [
  ...[false, { max_snippets: 4 }, { search_weight: 101 }],
  ...[{ max_tokens: 'many' }, { keyword_threshold: -0.5 }],
]

/** Whether that holds of the answers to all of these configurations. */
const withConfigs =
  (operation: string, configs: readonly unknown[], holds: (answer: Reply) => boolean) =>
  async (server: Server) => {
    const graph_ids = [resources.graph]
    const answers = configs.map((query_config) => {
      const tools = [{ type: 'graph', function: { graph_ids, query_config } }]
      const merge = operation === 'graphs.query' ? { query_config } : { tools }
      return send(server, operation, { merge })
    })
    return (await Promise.all(answers)).every(holds)
  }
const isBadRequest = ({ status }: Reply) => status === 400

const many = 6
let names = 0

/** A creation of something that does not exist yet: what is merged into the valid request. */
async function freshOne(server: Server, operation: string): Promise<Change> {
  if (operation === 'files.upload') return textFile(`Tea ${names++}`)
  if (operation !== 'graphs.add-file') return { merge: { name: `Tea ${process.pid} ${names++}` } }
  return { merge: { file_id: (await upload(server, textFile(`Tea ${names++}`))).json.id } }
}

async function idsAtOnce(server: Server, operation: string): Promise<unknown[]> {
  const one = async () => send(server, operation, await freshOne(server, operation))
  const answers = await Promise.all(Array.from({ length: many }, one))
  return answers.map(({ json }) => json.id as unknown)
}

/** Each of several objects, made at once, can be used when all are there; and one whose creation was sent a second time. */
async function staysUsable(
  server: Server,
  operation: string,
  uses: readonly string[],
  holds: (answer: Reply) => boolean,
): Promise<boolean> {
  const ids = await idsAtOnce(server, operation)
  const change = operation === 'files.upload' ? {} : await freshOne(server, operation)
  ids.push((await send(server, operation, change)).json.id)
  await send(server, operation, change)
  for (const id of ids) {
    for (const use of uses) {
      const [, name = ''] = /\{(\w+)\}/.exec(routes[use]?.[1] ?? '') ?? []
      if (!holds(await send(server, use, { params: { [name]: String(id) } }))) return false
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
    ...[{ key: 'no-jwt' }, { key: keys.restricted }],
    { headers: { 'content-type': 'text/plain' } },
  ]
  if (operation === 'applications.create')
    faults.push({ merge: { blueprint: { nodes: [], edges: [['a', 'b']] } } })
  for (const fault of faults) {
    const change = await freshOne(server, operation)
    const merge = { ...change.merge, ...fault.merge }
    await send(server, operation, { ...change, ...fault, merge })
    if (!isGranted(await send(server, operation, change))) return false
  }
  return true
}

/** Tells whether what exists is refused the second time, the third, and after another one was made. */
async function existsOnce(server: Server, operation: string, pair: string): Promise<boolean> {
  const change = await freshOne(server, operation)
  await send(server, operation, change)
  const again = async () => isRefused(await orNone(send(server, operation, change)), [pair])
  if (!(await again()) || !(await again())) return false
  for (let others = 0; others < 3; others++)
    await send(server, operation, await freshOne(server, operation))
  return again()
}

/** A story of each of these operations. */
const each = (
  condition: string,
  operations: readonly string[],
  story: (operation: string) => Story,
): Readonly<Record<string, Story>> =>
  Object.fromEntries(operations.map((one) => [`${one}/${condition}`, story(one)]))

const named = ['graphs.create', 'applications.create']
const creating = ['files.upload', ...named]
/** Their success has another requirement. */
const shown = words('pdf.parse jobs.create jobs.retrieve chat.create medical.comprehend')

function words(text: string): string[] {
  return text.split(' ')
}

/** The requirements that take more than one request, or are about granted ones. */
export const stories: Readonly<Record<string, Story>> = {
  ...jobStories,
  'pdf.parse/200-text': (server) => parsed(server, 'text'),
  'pdf.parse/200-markdown': (server) => parsed(server, 'markdown'),
  'pdf.parse/200-content': async (server) => {
    const letters = (text: string) => [...text.toLowerCase().matchAll(/[a-z]+/g)].join(' ')
    const body = { format: 'text' }
    await send(server, 'pdf.parse', { body })
    const parsedFrom = async (bytes: Buffer): Promise<() => Promise<string>> => {
      const file_id = String((await upload(server, asPdf(bytes))).json.id)
      return async () =>
        String((await send(server, 'pdf.parse', { body, params: { file_id } })).json.content)
    }
    const parseSecond = await parsedFrom(otherPdf)
    const second = await parseSecond()
    if (!words('Zürich 196 own 4711 jalapeños').every((word) => second.includes(word))) return false
    const filling = Buffer.alloc(otherPdf.length - goodPdf.length, '\n')
    const parseSameSize = await parsedFrom(Buffer.concat([goodPdf, filling]))
    if (!(await parseSameSize()).includes('Tea')) return false
    const [one, another] = await Promise.all([parseSecond(), parseSameSize()])
    if (!one.includes('Zürich') || !another.includes('Tea')) return false
    const answers = ['text', 'markdown'].map((format) =>
      send(server, 'pdf.parse', { body: { format } }),
    )
    return (await Promise.all(answers)).every(
      ({ json }) => letters(json.content) === letters(resources.pdfText),
    )
  },
  'pdf.parse/400-missing-format': async (server) => {
    await send(server, 'pdf.parse')
    return isBadRequest(await send(server, 'pdf.parse', { body: {} }))
  },
  'chat.create/200-completion': async (server) => isChat(await chat(server, { tools: undefined })),
  'chat.create/200-text-parts': async (server) => {
    const text = { type: 'text', text: 'Hello' }
    const turned = { text: 'Hello', type: 'text' }
    const merge = (parts: object[]) => ({ messages: [{ role: 'user', content: parts }] })
    const answers = [[text], [text, text], [turned]].map((parts) => chat(server, merge(parts)))
    const spelled = await sendSpelled(server, 'chat.create', { merge: merge([text]) })
    return [...(await Promise.all(answers)), spelled].every(isChat)
  },
  ...Object.fromEntries(
    ['chat.create/200-image-parts', 'chat.create/200-image-url'].map((id) => [
      id,
      async (server: Server) => isChat(await play(server, id)),
    ]),
  ),
  'chat.create/200-tool-choice-auto': async (server) =>
    isChat(await chat(server, { tool_choice: 'auto' })),
  'chat.create/200-structured-output': async (server) => {
    const value = parsedJson(content(await play(server, 'chat.create/200-structured-output')))
    const hasTypes = Number.isInteger(value?.minutes) && typeof value.name === 'string'
    return hasTypes && value.leaves.length === 2
  },
  'chat.create/200-llm-tool': async (server) => {
    const data = (await play(server, 'chat.create/200-llm-tool')).json?.choices[0].message.llm_data
    return typeof data?.prompt === 'string' && typeof data.model === 'string'
  },
  'chat.create/200-query-config': withConfigs('chat.create', allowed, isChat),
  'chat.create/400-query-config': withConfigs('chat.create', refused, isBadRequest),
  'graphs.query/2xx-query-config': withConfigs('graphs.query', allowed, isGranted),
  'graphs.query/400-query-config': withConfigs('graphs.query', refused, isBadRequest),
  'files.upload/2xx-attached-to-graph': async (server) => {
    const attached = (graphId: string) => upload(server, { query: { graphId } })
    const uploaded = await attached(resources.graph)
    const added = await addFile(server, uploaded.json?.id)
    const graph = (await send(server, 'graphs.create')).json?.id as string
    const own = (await attached(graph)).json?.id
    const again = await addFile(server, own, graph)
    const elsewhere = await addFile(server, own)
    await attached(graph)
    const kept = await addFile(server, own, graph)
    const areInGraph = [added, again, kept].every(({ status }) => status === 409)
    return isGranted(uploaded) && areInGraph && isGranted(elsewhere)
  },
  'files.upload/2xx-retrievable': async (server) => {
    const { file_id } = (await freshOne(server, 'graphs.add-file')).merge ?? {}
    await addFile(server, file_id)
    const attached = await upload(server, { query: { graphId: resources.graph } })
    const another = await upload(server, asPdf(goodPdf))
    for (const id of [file_id, attached.json?.id, another.json?.id])
      if (!isGranted(await retrieve(server, id))) return false
    return staysUsable(server, 'files.upload', ['files.retrieve'], isGranted)
  },
  'files.list/2xx-accepted': async (server) => {
    await upload(server, { raw: { base64: '', contentType: 'text/plain' } })
    await Promise.all(Array.from({ length: 2 * many }, () => idsAtOnce(server, 'files.upload')))
    return isGranted(await send(server, 'files.list'))
  },
  'files.list/2xx-file-types': async (server) => {
    const both = await listed(server, 'txt,pdf')
    const one = await listed(server, 'pdf')
    const [unknown, none] = [await listed(server, 'txt,nothing'), await listed(server, 'docx')]
    const noneBreaks = unknown.status < 500 && none.status < 500
    return noneBreaks && isGranted(both) && isGranted(one) && onlyPdf(one)
  },
  'files.list/2xx-filtered': async (server) => {
    await upload(server)
    return onlyPdf(await listed(server, 'pdf'))
  },
  'files.retrieve/2xx-own-record': async (server) => {
    const ids = await idsAtOnce(server, 'files.upload')
    const records = await Promise.all(ids.map((id) => retrieve(server, id)))
    return records.every(({ json }, at) => json.id === ids[at])
  },
  ...each('2xx-own-id', creating, (operation) => async (server) => {
    return new Set(await idsAtOnce(server, operation)).size === many
  }),
  ...each('400-atomic', named, (operation) => (server) => isGrantedOnce(server, operation)),
  ...each('4xx-no-effect', [...named, 'graphs.add-file'], (operation) => (server) => {
    return refusedCreateNothing(server, operation)
  }),
  ...each('400-duplicate-name', named, (operation) => (server) => {
    return existsOnce(server, operation, '400 BadRequest')
  }),
  'graphs.create/400-duplicate-name': async (server) => {
    const change = await freshOne(server, 'graphs.create')
    const graph_id = String((await send(server, 'graphs.create', change)).json.id)
    const addition = { ...(await freshOne(server, 'graphs.add-file')), params: { graph_id } }
    if (!isGranted(await send(server, 'graphs.add-file', addition))) return false
    if (!isRefused(await send(server, 'graphs.create', change), ['400 BadRequest'])) return false
    return existsOnce(server, 'graphs.create', '400 BadRequest')
  },
  'graphs.create/2xx-usable': (server) =>
    staysUsable(
      server,
      'graphs.create',
      ['graphs.query', 'graphs.add-file'],
      ({ status }) => status < 300 || status === 409,
    ),
  'applications.create/2xx-usable': (server) =>
    staysUsable(
      server,
      'applications.create',
      ['jobs.create'],
      ({ status }) => status === 202 || status === 409,
    ),
  'graphs.add-file/409-already-in-graph': async (server) => {
    const first = await send(server, 'graphs.add-file')
    if (!isGranted(first) || !isBusy(await orNone(send(server, 'graphs.add-file')))) return false
    // Nor is a created graph without its file because its name was asked for again.
    const change = await freshOne(server, 'graphs.create')
    const params = { graph_id: String((await send(server, 'graphs.create', change)).json.id) }
    const toCreated = { ...(await freshOne(server, 'graphs.add-file')), params }
    if (!isGranted(await send(server, 'graphs.add-file', toCreated))) return false
    await send(server, 'graphs.create', change)
    if (!isBusy(await send(server, 'graphs.add-file', toCreated))) return false
    return existsOnce(server, 'graphs.add-file', '409 BadRequest')
  },
  'medical.comprehend/200-entities': async (server) => {
    const plain = await send(server, 'medical.comprehend')
    return [plain, await sendSpelled(server, 'medical.comprehend')].every(
      ({ json: { entities } }) => entities?.length > 0 && entities.every(isEntity),
    )
  },
  ...each(
    '2xx-accepted',
    Object.keys(routes).filter((id) => ![...shown, 'files.list'].includes(id)),
    (operation) =>
      [...creating, 'graphs.add-file'].includes(operation)
        ? grantedAgain(operation)
        : granted(operation),
  ),
  'envelope/shape': async (server) =>
    isEnvelope((await send(server, 'files.list', { key: 'no-jwt' })).json),
  'envelope/status-tpe-pair': async (server) => {
    const params = { job_id: '11111111-2222-4333-8444-555555555555' }
    const answers = [
      await send(server, 'jobs.retrieve', { params }),
      await retrieve(server, 'none'),
    ]
    return answers.every((answer) => isRefused(answer, ['404 ResourceNotFound']))
  },
  'envelope/content-type': async (server) => {
    const refusal = await send(server, 'files.list', { key: 'no-jwt' })
    return [refusal, await send(server, 'jobs.retrieve')].every(({ type }) =>
      type.startsWith('application/json'),
    )
  },
  'envelope/message-keys': async (server) => {
    const answers = [
      await retrieve(server, 'none'),
      await send(server, 'files.list', { key: 'no-jwt' }),
      await send(server, 'files.list', { key: keys.restricted }),
    ]
    return (
      answers.map(({ json }) => String(json.errors[0].key)).join() ===
      'fail.notFound.resource,fail.unauthorized.badCredentials,fail.forbidden.insufficientAccessRights'
    )
  },
  'envelope/unknown-path': async (server) =>
    isNotFound(await get(server, '/v1/tea')) && isNotFound(await get(server, '/v1/tea%zz')),
  'envelope/unsupported-method': async (server) => isNotFound(await get(server, '/v1/translate')),
  ...inputStories,
  'envelope/bad-input-no-5xx': async (server) => {
    const answers = [
      await send(server, 'pdf.parse', { body: { format: 17 } }),
      await send(server, 'ai-detect.run', { merge: { input: 17 } }),
      await get(server, '/v1/files?file_types='),
      await get(server, '/v1/files?file_types=txt&file_types=pdf'),
    ]
    return answers.every(({ status }) => status < 500)
  },
}

function onlyPdf({ json }: Reply): boolean {
  return json.data.every(({ name }: { name: string }) => name.endsWith('.pdf'))
}

async function parsed(server: Server, format: string): Promise<boolean> {
  const answer = await send(server, 'pdf.parse', { body: { format } })
  const spelled = await sendSpelled(server, 'pdf.parse', { merge: { format } })
  return [answer, spelled].every(
    ({ json, status }) =>
      status === 200 && typeof json.content === 'string' && json.content.includes('extracted'),
  )
}

function parsedJson(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isEnvelope(body: any): boolean {
  const isObject = (value: any) => typeof value === 'object' && value !== null
  const isItem = (item: any) =>
    isObject(item) &&
    typeof item.description === 'string' &&
    typeof item.key === 'string' &&
    typeof item.extras === 'object'
  const { tpe, extras, errors } = body ?? {}
  const isText = typeof tpe === 'string' && isObject(extras) && !Array.isArray(extras)
  return isText && Array.isArray(errors) && errors.every(isItem)
}
