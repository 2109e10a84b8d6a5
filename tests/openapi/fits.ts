import { Ajv2020 } from 'ajv/dist/2020.js'
import { openapiDocument } from '../../scripts/openapi/paths.ts'
import { operationOf, type OperationId } from '../../catalogue/operations.ts'
import type { Exchange } from '../../harness/journal/exchange.ts'
import { formats } from '../../schemas/formats.ts'

export const document = openapiDocument() as any
// Compiling the shapes of all answers takes longer than checking them: what they share is compiled once, and as it is.
const cheaply = { inlineRefs: false, code: { optimize: false } }
const ajv = new Ajv2020({ strict: false, formats, ownProperties: true, ...cheaply }).addSchema(
  document,
  'openapi',
)

/** Whether a value fits the schema at that place of the document. */
export function fits(keys: readonly string[], value: unknown): boolean {
  const escaped = keys.map((key) =>
    encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')),
  )
  const validate = ajv.getSchema(`openapi#/${escaped.join('/')}`)
  if (!validate) throw new Error(`no schema at ${keys.join(' ')}`)
  return validate(value) as boolean
}

/** The place of an operation in the document. */
export const place = (id: OperationId): string[] => {
  const { path, method } = operationOf(id)
  return ['paths', path, method.toLowerCase()]
}

/** Whether the document allows the operation that body, or none, under that status. */
export function answerFits(id: OperationId, status: number, body: unknown): boolean {
  const [, path, method] = place(id) as [string, string, string]
  const { responses } = document.paths[path][method]
  const keys = [String(status), `${String(status)[0]}XX`, 'default']
  const key = keys.find((one) => one in responses)!
  if (!responses[key].content) return body === undefined
  return fits([...place(id), 'responses', key, 'content', 'application/json', 'schema'], body)
}

/** Finds what the document does not allow of a conforming server's response; undefined if it allows all, or says nothing about it. */
export function refusedByDocument(
  { probe, response }: Exchange,
  variants: readonly string[],
): string | undefined {
  const { operation: id, path } = probe
  if (!id || !response) return undefined
  const on = (family: string): boolean => variants.some((variant) => variant.startsWith(family))
  // Removed operations, and other answers on the paths that are only named, are no answers of the operation.
  if ((id === 'pdf.parse' && on('pdf-removed')) || (path !== operationOf(id).path && on('aliases')))
    return undefined
  // A stream is no JSON.
  if (String(probe.body).includes('"stream":true') && response.status < 300) return undefined
  const json = response.json()
  const body = json.ok ? json.value : undefined
  return answerFits(id, response.status, body)
    ? undefined
    : `${id} ${response.status}: ${JSON.stringify(body ?? null).slice(0, 200)}`
}
