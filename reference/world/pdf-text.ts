/** Why a PDF gave no text. */
export type PdfRefusal = 'encrypted' | 'corrupted'

const extracted = new WeakMap<Uint8Array, Promise<string[] | PdfRefusal>>()

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
  const known = extracted.get(bytes) ?? extract(bytes)
  extracted.set(bytes, known)
  return known
}
