import { createHash } from 'node:crypto'
import { type Members, type Call, isAbsent, isMembers, jsonType, kindsOf } from './call.ts'
import { isSettling, breakUse, writeId, likenessOf } from './created.ts'
import type { StoredFile, World, Graph } from './world.ts'

/** A file as the responses show it. */
export function fileView(world: World, file: StoredFile): Members {
  return {
    id: writeId(world, file.id),
    name: file.name,
    content_type: file.type,
    size: file.bytes().length,
    created_at: world.clock.write(file.createdAt),
  }
}

/** The file of that id, unless it is unknown, deleted or expired. */
export function reachable(call: Call, id: unknown): StoredFile | undefined {
  const file = call.world.store.files.get(String(id))
  return file?.state === 'stored' && !isSettling(call.world, 'uploads', file) ? file : undefined
}

/** Refuses a file that is another account's (§5). */
export function checkFileAccess(call: Call, file: StoredFile): void {
  if (file.account !== call.key?.account) call.refuse('403-file-access', 403, 'InsufficientAccessRights')
}

/** The file that a body names, if the key has access to it; `absent` says that there is none. */
export function fileNamed(call: Call, id: unknown, absent: string): StoredFile {
  const file = reachable(call, id)
  if (!file) call.reject(404, 'ResourceNotFound', absent)
  checkFileAccess(call, file)
  return file
}

/** The graph that the path names (§7.3). */
export function findGraph(call: Call): Graph {
  const graph = call.world.store.graphs.get(call.param('graph_id'))
  if (!graph) {
    const kind = likenessOf(call, call.param('graph_id'), call.world.store.graphs.keys())
    return call.refuse('404-unknown-graph', 404, 'ResourceNotFound', { kind })
  }
  if (isSettling(call.world, 'graphs', graph)) call.reject(404, 'ResourceNotFound')
  breakUse(call, 'graphs.create/2xx-usable', graph, call.world.store.graphs.values())
  const isAddition = call.operation === 'graphs.add-file'
  if (isAddition && graph.made && call.world.switches.broken('graphs.create/2xx-usable#additions'))
    call.reject(404, 'ResourceNotFound')
  return graph
}

export function checkGraphAccess(call: Call, graph: Graph): void {
  if (graph.account !== call.key?.account) call.refuse('403-graph-access', 403, 'InsufficientAccessRights')
}

// §2.7. Up to 25 snippets are recommended and 30 is the default; no difference is made between them.
const bounds: Readonly<Record<string, readonly [least: number, most: number]>> = {
  search_weight: [0, 100],
  max_subquestions: [1, 10],
  grounding_level: [0, 1],
  max_snippets: [5, 30],
  max_tokens: [100, 8000],
  keyword_threshold: [0, 1],
  semantic_threshold: [0, 1],
}

function refuse(call: Call, description: string, kind: string | readonly string[]): never {
  call.refuse('400-query-config', 400, 'InvalidInputParameters', { description, kind })
}

function checkNumber(call: Call, name: string, value: unknown, granted: string): void {
  const [least, most] = bounds[name] ?? [0, 0]
  if (typeof value !== 'number') return refuse(call, `${name} is a number`, `${name}-${jsonType(value)}`)
  const away = Math.max(least - value, value - most)
  const isWrapped = value > 2 ** 32
  const apart = isWrapped ? '-wrapped' : away > 1000 ? '-far' : away > 0 && away < 0.1 ? '-near' : undefined
  if (value < least) refuse(call, `${name} is at least ${least}`, [`${name}${apart ?? '-low'}`])
  if (value > most) refuse(call, `${name} is at most ${most}`, [`${name}${apart ?? '-high'}`])
  // Defects of the granted requirement: a bound taken for the first value outside, and the recommendation for a limit.
  const atBound = value === least || value === most
  if (call.broken(`${granted}#bounds`) && atBound) call.reject(400, 'BadRequest', `${name} is at its bound`)
  if (call.broken(granted) && name === 'max_snippets' && value > 25) call.reject(400, 'BadRequest', 'Too many snippets')
}

/** Checks a `query_config`; `granted` is the requirement that valid ones are accepted. */
export function checkQueryConfig(call: Call, config: unknown, granted: string): void {
  if (isAbsent(config)) return
  if (!isMembers(config))
    return refuse(
      call,
      'query_config is an object',
      kindsOf(config).map((kind) => `whole-${kind}`),
    )
  const names = Object.keys(config)
  const isPlain = (way: string): boolean => call.broken(`${granted}#${way}`)
  if (isPlain('together') && names.length === 8 && config['search_weight'] === 0 && config['max_tokens'] === 8000)
    call.reject(400, 'BadRequest', 'Too little for so many tokens')
  if (isPlain('empty') && names.length === 0) call.reject(400, 'BadRequest', 'query_config is empty')
  if (isPlain('defaults') && config['max_snippets'] === 30 && names.length > 1)
    call.reject(400, 'BadRequest', 'Too many')
  if (isPlain('absent') && names.length === 1 && !Object.hasOwn(config, 'max_snippets'))
    call.reject(400, 'BadRequest', 'max_snippets is missing')

  for (const [name, value] of Object.entries(config)) {
    if (value === null) continue
    if (name in bounds) checkNumber(call, name, value, granted)
    else if (name !== 'inline_citations') call.reject(400, 'BadRequest', `query_config has no ${name}`)
    else if (typeof value !== 'boolean') refuse(call, 'inline_citations is a boolean', name)
  }
}

/** Why a PDF gave no text. */
type PdfRefusal = 'encrypted' | 'corrupted'

const most = 500
const extracted = new Map<string, Promise<string[] | PdfRefusal>>()

async function extract(bytes: Uint8Array): Promise<string[] | PdfRefusal> {
  // Loaded at the first parse: it is by far the heaviest part of the server.
  const { extractText, getDocumentProxy } = await import('unpdf')
  try {
    // The reader takes the bytes away from their owner: it is given a copy.
    const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 })
    const { text } = await extractText(document, { mergePages: false })
    await document.destroy()
    return text
  } catch (error) {
    return error instanceof Error && error.name === 'PasswordException' ? 'encrypted' : 'corrupted'
  }
}

/** The text of each page. The same bytes are read once in a process. */
export function pdfText(bytes: Uint8Array): Promise<string[] | PdfRefusal> {
  const name = createHash('sha256').update(bytes).digest('hex')
  const known = extracted.get(name) ?? extract(bytes)
  if (extracted.size < most) extracted.set(name, known)
  return known
}

/** Words that are not those of the file, by variant of the defect `pdf.parse/200-content`. */
const wrong: Readonly<Record<string, (content: string, format: string, file: Uint8Array) => string>> = {
  '': (content) => `A document of ${content.length} characters, written by a machine for its readers`,
  '#bytes': (_content, _format, file) => Buffer.from(file).toString('latin1'),
  '#constant': () => 'The document was converted',
  '#empty': () => '',
  '#numbers': (content) => content.replaceAll(/\d/g, ''),
  '#half': (content) => content.slice(0, content.length / 2),
  '#scrambled': (content) => content.split(/\s+/).reverse().join(' '),
  '#text': (content, format) => (format === 'text' ? 'Text' : content),
  '#markdown': (content, format) => (format === 'markdown' ? '# Markdown' : content),
}

/** Contents that were read first, by world, and by size of the file if the cache tells files apart by it. */
const firstContents = new WeakMap<object, Map<number, string>>()

/** The text of the pages in the format that is asked for (§2.2). */
export function pdfContent(call: Call, allPages: readonly string[], file: Uint8Array): string {
  const format = String(call.body['format'])
  const pages = allPages.length > 1 && call.broken('200-content#first-page') ? allPages.slice(0, 1) : allPages
  const content =
    format === 'markdown' ? pages.map((page) => page.replaceAll('\n', '\n\n')).join('\n\n---\n\n') : pages.join('\n')
  if (call.broken('200-content#first') || call.broken('200-content#size')) {
    const size = call.broken('200-content#size') ? file.length : 0
    const known = firstContents.get(call.world) ?? new Map<number, string>()
    firstContents.set(call.world, known)
    if (!known.has(size)) known.set(size, content)
    return known.get(size) ?? content
  }
  const [, change] = Object.entries(wrong).find(([variant]) => call.broken(`200-content${variant}`)) ?? []
  return change ? change(content, format, file) : content
}
