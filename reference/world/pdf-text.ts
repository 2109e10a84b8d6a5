import { createHash } from 'node:crypto'
import type { Call } from './call.ts'

/** Why a PDF gave no text. */
export type PdfRefusal = 'encrypted' | 'corrupted'

/** How many files are remembered. */
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
  '#half': (content) => content.slice(0, content.length / 2),
  '#scrambled': (content) => content.split(/\s+/).reverse().join(' '),
  '#text': (content, format) => (format === 'text' ? 'Text' : content),
  '#markdown': (content, format) => (format === 'markdown' ? '# Markdown' : content),
}

/** What a server with one cache for all files answers. */
const firstContent = new WeakMap<object, string>()

/** The text of the pages in the format that is asked for (§2.2). */
export function pdfContent(call: Call, allPages: readonly string[], file: Uint8Array): string {
  const format = String(call.body['format'])
  const pages = allPages.length > 1 && call.broken('200-content#first-page') ? allPages.slice(0, 1) : allPages
  const content =
    format === 'markdown' ? pages.map((page) => page.replaceAll('\n', '\n\n')).join('\n\n---\n\n') : pages.join('\n')
  if (call.broken('200-content#first')) {
    const first = firstContent.get(call.world) ?? content
    firstContent.set(call.world, first)
    return first
  }
  const [, change] = Object.entries(wrong).find(([variant]) => call.broken(`200-content${variant}`)) ?? []
  return change ? change(content, format, file) : content
}
