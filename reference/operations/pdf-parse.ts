import { Ending, type Answer, page } from '../world/answer.ts'
import { jsonType, type Call } from '../world/call.ts'
import { reachable, pdfContent, pdfText } from '../world/files.ts'
import type { Operation } from '../world/operation.ts'
import { likenessOf } from '../world/ids.ts'
import { pdfLimit } from '../world/plan.ts'
import { type StoredFile, countUp } from '../world/world.ts'

function isFormat(format: string): boolean {
  return format === 'text' || format === 'markdown'
}

/** Mistakes by which a server takes a string for one of the formats. */
function kindOf(format: string): string {
  if (format === '') return 'empty'
  if (isFormat(format.split('\0')[0] ?? '')) return 'nul'
  if (isFormat(format.replaceAll(/[\u200b\ufeff]/g, ''))) return 'invisible'
  if (isFormat(format.normalize('NFD').replaceAll(/\p{M}/gu, ''))) return 'marks'
  if (isFormat(format.trim())) return 'blanks'
  if (isFormat(format.toLowerCase())) return 'letter-case'
  if (isFormat(format.normalize('NFKC').toLowerCase())) return 'full-width'
  if (['text', 'markdown'].some((whole) => whole.startsWith(format))) return 'abbreviation'
  return format in {} ? 'object-member' : 'other'
}

function check(call: Call): void {
  const { format } = call.body
  if (format === undefined) call.refuse('400-missing-format', 400, 'BadRequest')
  if (typeof format !== 'string' && call.world.switches.broken('envelope/bad-input-no-5xx')) throw new Error('format')
  if (typeof format !== 'string') call.refuse('400-malformed-format', 400, 'BadRequest', { kind: jsonType(format) })
  if (!isFormat(format)) {
    const description = 'format is text or markdown'
    call.refuse('400-unsupported-format', 400, 'InvalidInputParameters', { description, kind: kindOf(format) })
  }
}

function grantedRequirement(call: Call): string {
  return call.body['format'] === 'markdown' ? '200-markdown' : '200-text'
}

async function run(call: Call, file: StoredFile): Promise<Answer> {
  const bytes = file.bytes()
  if (bytes.length > pdfLimit) call.refuse('400-oversized-pdf', 400, 'InvalidInputParameters')
  const pages = await pdfText(bytes)
  const isAgain = countUp(call.world, `parsed ${file.id}`) > 1
  const kind = [...(isAgain ? ['again'] : []), ...(call.body['format'] === 'markdown' ? ['markdown'] : [])]
  if (pages === 'corrupted') call.refuse('400-corrupted-pdf', 400, 'BadRequest', { kind })
  if (pages === 'encrypted') call.refuse('400-encrypted-pdf', 400, 'BadRequest', { kind })
  const content = pdfContent(call, pages, bytes)
  const requirement = grantedRequirement(call)
  if (call.broken(requirement)) return { status: 200, body: { content: pages } }
  if (call.broken(`${requirement}#missing`)) return { status: 200, body: { text: content } }
  if (call.broken(`${requirement}#status`)) return { status: 201, body: { content } }
  return { status: 200, body: { content } }
}

/** Refuses every request once the operation is removed (§9.2). */
function refuseIfRemoved(call: Call): void {
  if (call.varied('pdf-removed')) call.refuse('4xx-removed', 410, 'Gone')
  if (call.varied('pdf-removed-404')) call.refuse('4xx-removed', 404, 'NotFound')
  if (call.varied('pdf-removed-page-404')) throw new Ending(page(404))
  if (call.varied('pdf-removed-page-410')) throw new Ending(page(410))
}

/** §4.1 */
export const pdfParse: Operation<StoredFile> = {
  id: 'pdf.parse',
  method: 'POST',
  paths: ['/v1/tools/pdf-parser/:file_id'],
  body: 'json',
  members: ['format'],
  requirement: grantedRequirement,
  gone: refuseIfRemoved,
  find: (call: Call) => {
    const id = call.param('file_id')
    const { files } = call.world.store
    const kind =
      files.get(id)?.state === 'deleted' ? 'deleted' : files.has(id) ? [] : likenessOf(call, id, files.keys())
    return reachable(call, id) ?? call.refuse('4xx-unknown-file', 404, 'ResourceNotFound', { kind })
  },
  access: (call, file) => {
    if (file.account !== call.key?.account) call.refuse('403-file-access', 403, 'InsufficientAccessRights')
  },
  check,
  run,
  grant: () => ({ status: 200, body: { content: '' } }),
}
