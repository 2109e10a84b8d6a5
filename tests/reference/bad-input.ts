import { routes, send, target, type Change, type Reply, type Server, type Story } from './client.ts'

const { resources } = target

const raw = (body: string | Uint8Array): Change => ({
  raw: { base64: Buffer.from(body).toString('base64'), contentType: 'application/json' },
})

/** `{"a":"\x80"}` */
const notUtf8 = Buffer.from('7b2261223a2280227d', 'hex')

const file = { name: 'image', file_id: 'no-file' }
const odd = [
  '',
  ' ',
  [],
  {},
  '\0',
  '__proto__',
  '\ud800',
  'two\nlines',
  'long'.repeat(400),
  -1,
  0,
  2 ** 60,
  [{}, {}],
  [file],
  [file, 1],
  'no-file',
  resources.deletedFile,
  [{ name: 'image', file_id: resources.deletedFile }],
]

/** Gives bodies that may be answered with anything but a 5xx. */
function changesOf(operation: string): readonly Change[] {
  const declared = routes[operation]?.[2] ?? target.operations[operation]?.body ?? {}
  const members = Object.entries(declared)
  return [
    ...['null', '[]', '{}', '', notUtf8].map(raw),
    ...members.map(([name]) => ({
      body: Object.fromEntries(members.filter(([other]) => other !== name)),
    })),
    ...members.flatMap(([name]) =>
      [null, '1', 17, { nodes: null }, ...odd].map((other) => ({
        body: { ...declared, [name]: other },
      })),
    ),
    { body: { ...declared, query_config: { max_snippets: 2 ** 60 } } },
    ...['\ud800', 'tea '.repeat(20_000)].map((text) => ({
      body: { ...declared, inputs: [{ id: 'topic', value: [text] }] },
    })),
    { body: { ...declared, max_tokens: 1.5 } },
    { body: { ...declared, source: 'en', target: 'en' } },
    { body: { ...declared, tool_choice: 'nothing', response_type: 'Nothing' } },
    { body: { ...declared, tool_choice: 'auto', tools: undefined } },
    ...['"__proto__":1', `"a":${'['.repeat(1500)}${']'.repeat(1500)}`, '"max_tokens":1e400'].map(
      (more) => raw(`${JSON.stringify(declared).slice(0, -1)},${more}}`),
    ),
    raw(`\ufeff${JSON.stringify(declared)}`),
    { ...raw(JSON.stringify(declared)), headers: { 'content-type': undefined } },
  ]
}

async function standsBadInput(server: Server, operation: string): Promise<boolean> {
  for (const change of changesOf(operation))
    if ((await send(server, operation, change)).status >= 500) return false
  return true
}

const spaces = ' '.repeat(256 * 1024)
const isJson = ({ json }: Reply): boolean => typeof json === 'object'

/** Bad and large input, seen from outside. */
export const inputStories: Readonly<Record<string, Story>> = {
  ...Object.fromEntries(
    Object.entries(routes)
      .filter(([operation, [method]]) => method === 'POST' && operation !== 'files.upload')
      .map(([operation]) => [
        `${operation}/bad-input-no-5xx`,
        (server: Server) => standsBadInput(server, operation),
      ]),
  ),
  'envelope/large-body': async (server) => {
    const refused = await send(server, 'pdf.parse', raw(`"text"${spaces}`)).catch(() => undefined)
    const other = await send(server, 'vision.analyze', raw(`"text"${spaces}`)).catch(
      () => undefined,
    )
    const text = 'tea '.repeat(512 * 1024)
    const uploaded = await send(server, 'files.upload', {
      raw: { text, contentType: 'text/plain' },
    }).catch(() => undefined)
    // The plan of the key may be too small for it.
    if (other === undefined || !isJson(other)) return false
    return refused?.status === 400 && isJson(refused) && uploaded !== undefined && isJson(uploaded)
  },
  'envelope/charset-parameter': async (server) => {
    const contentType = 'application/json; charset=utf-8'
    const { status } = await send(server, 'pdf.parse', {
      raw: { text: '{"format":"text"}', contentType },
    })
    const searched = await send(server, 'web-search.run', {
      headers: { 'content-type': contentType },
    })
    const change = {
      headers: { 'content-type': contentType },
      merge: { name: 'Labelled with a charset' },
    }
    const created = await send(server, 'graphs.create', change)
    return status === 200 && searched.status === 200 && created.status < 300
  },
}
