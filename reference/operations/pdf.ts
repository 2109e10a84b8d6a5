import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Answer, Ending, page, type Call, ok } from '../world/call.ts'
import { checkMs } from '../world/created.ts'
import { pdfLimit } from '../world/preloaded.ts'
import type { Operation } from '../world/operation.ts'
import { fileNamed } from './files.ts'
import { countUp, type StoredFile, type World } from '../world/world.ts'

type PdfRefusal = 'encrypted' | 'corrupted'

const maxExtracted = 500
const extracted = new Map<string, Promise<string[] | PdfRefusal>>()

async function extract(bytes: Uint8Array): Promise<string[] | PdfRefusal> {
  // Loaded on demand: by far the heaviest part of the server.
  const { extractText, getDocumentProxy } = await import('unpdf')
  try {
    const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 })
    const { text } = await extractText(document, { mergePages: false })
    await document.destroy()
    return text
  } catch (error) {
    return error instanceof Error && error.name === 'PasswordException' ? 'encrypted' : 'corrupted'
  }
}

export function pdfText(bytes: Uint8Array): Promise<string[] | PdfRefusal> {
  const name = createHash('sha256').update(bytes).digest('hex')
  const known = extracted.get(name) ?? extract(bytes)
  if (extracted.size < maxExtracted) extracted.set(name, known)
  return known
}

const kept = new WeakMap<World, Map<string, string>>()

function checkFormat(call: Call): void {
  const { format } = call.body
  if (format === undefined) call.refuse('400-missing-format')
  if (typeof format !== 'string') {
    call.breakIf('envelope/bad-input-no-5xx', true)
    call.refuse('400-malformed-format')
  }
  if (format !== 'text' && format !== 'markdown')
    call.refuse('400-unsupported-format', '400-InvalidInputParameters')
}

const wrong: Readonly<
  Record<string, (content: string, format: string, file: Uint8Array) => string>
> = {
  '': (content) =>
    `A document of ${content.length} characters, written by a machine for its readers`,
  '#bytes': (_content, _format, file) => Buffer.from(file).toString('latin1'),
  '#constant': () => 'The document was converted',
  '#empty': () => '',
  '#numbers': (content) => content.replaceAll(/\d/g, ''),
  '#ascii': (content) => content.replaceAll(/[^\x20-\x7e\s]/g, '?'),
  '#half': (content) => content.slice(0, content.length / 2),
  '#scrambled': (content) => content.split(/\s+/).reverse().join(' '),
  '#text': (content, format) => (format === 'text' ? 'Text' : content),
  '#markdown': (content, format) => (format === 'markdown' ? '# Markdown' : content),
}

async function contentOf(
  call: Call,
  allPages: readonly string[],
  file: StoredFile,
): Promise<string> {
  const { brokenOf } = call.world.switches
  const format = String(call.body['format'])
  const pages = call.broken('200-content#first-page') ? allPages.slice(0, 1) : allPages
  const content =
    format === 'markdown'
      ? pages.map((page) => page.replaceAll('\n', '\n\n')).join('\n\n---\n\n')
      : pages.join('\n')
  const cache = kept.get(call.world) ?? new Map<string, string>()
  kept.set(call.world, cache)
  const keys = { '#first': '', '#name': file.name, '#size': String(file.bytes().length) }
  const key = brokenOf('pdf.parse/200-content', keys)
  if (key !== undefined) {
    cache.set(key, cache.get(key) ?? content)
    return cache.get(key) ?? content
  }
  if (call.broken('200-content#at-once')) {
    cache.set('last', content)
    await pause(checkMs)
    return cache.get('last') ?? content
  }
  return brokenOf('pdf.parse/200-content', wrong)?.(content, format, file.bytes()) ?? content
}

function grantedRequirement(call: Call): string {
  return call.body['format'] === 'markdown' ? '200-markdown' : '200-text'
}

async function parse(call: Call, file: StoredFile): Promise<Answer> {
  const bytes = file.bytes()
  if (bytes.length > pdfLimit) call.refuse('400-oversized-pdf', '400-InvalidInputParameters')
  const pages = await pdfText(bytes)
  if (typeof pages === 'string') return call.refuse(`400-${pages}-pdf`)
  const content = await contentOf(call, pages, file)
  call.breakIf('200-text#every-third', countUp(call.world, 'parsed files') % 3 === 0)
  const requirement = grantedRequirement(call)
  if (call.broken(requirement)) return ok({ content: pages })
  return { status: call.broken(`${requirement}#status`) ? 201 : 200, body: { content } }
}

/** §4.1 */
export const pdfParse: Operation<StoredFile> = {
  id: 'pdf.parse',
  paths: ['/v1/tools/pdf-parser/:file_id'],
  members: ['format'],
  requirement: grantedRequirement,
  gone: (call) => {
    if (call.varied('pdf-removed')) call.refuse('4xx-removed', '410-Gone')
    if (call.varied('pdf-removed-404')) call.refuse('4xx-removed', '404-NotFound')
    if (call.varied('pdf-removed-page-404')) throw new Ending(page(404))
    if (call.varied('pdf-removed-page-410')) throw new Ending(page(410))
  },
  find: (call) => fileNamed(call, call.param('file_id')),
  foreign: '403-file-access',
  check: checkFormat,
  run: parse,
  grant: () => ok({ content: '' }),
}
