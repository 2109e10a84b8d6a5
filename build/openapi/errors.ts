import { isRefusal, pairsOf } from '../../catalogue/answers.ts'
import { type CatalogueRow, catalogue } from '../../catalogue/catalogue.ts'
import { codeNames, listedTypes, modelErrors } from '../../catalogue/errors.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { type Json, ref } from './json.ts'

/** The statuses of §7.2. */
const statuses = [400, 401, 403, 404, 409, 410, 413, 422, 429, 500, 503, 507]

/** What any operation may answer with that status: a name of its row of §7.2, or what §7.3 lists for all of them. */
function commonTypes(status: number): string[] {
  return [...new Set([...(codeNames(status) ?? []), ...listedTypes(null, status)])]
}

/** A schema of errors, and an envelope with the first type that it names. */
function content(schema: Json, tpe: string): Json {
  return { 'application/json': { schema, example: { tpe, errors: [], extras: {} } } }
}

/** The envelope with one of these types, or with a model error: those may stand with any status (§7.4). */
function envelopeWith(types: readonly string[]): Json {
  const tpe = { anyOf: [{ type: 'string', enum: types }, ref('ModelErrorType')] }
  return { allOf: [ref('Error'), { type: 'object', properties: { tpe } }] }
}

/** One component a status, for the operations that list no type of their own with it. */
export const errorSchemas: Json = Object.fromEntries(
  statuses.map((status) => [`Error${status}`, envelopeWith(commonTypes(status))]),
)

interface Refusal {
  readonly row: CatalogueRow
  readonly status: number | undefined
  readonly types: readonly string[]
}

/** What refuses a request of the operation, by status; none for a requirement that any error of some kind fulfils. */
function refusalsOf(id: OperationId): Refusal[] {
  const own = catalogue.filter(({ operation, onlyIf, gives }) => operation === id && !onlyIf && isRefusal(gives))
  return own.flatMap((row) =>
    pairsOf(row, id).map(([status, ...types]) => ({
      row,
      status: typeof status === 'number' ? status : undefined,
      types,
    })),
  )
}

function told(refusals: readonly Refusal[]): string {
  const rows = new Set(refusals.map(({ row }) => row))
  return [...rows].map(({ statement, section }) => `- ${statement} (§${section.replaceAll(', ', ', §')})`).join('\n')
}

/** The error responses of an operation: those of its requirements by status, and any other. */
export function errorResponses(id: OperationId): Json {
  const refusals = refusalsOf(id)
  const named = statuses.filter((status) => refusals.some((refusal) => refusal.status === status))
  const byStatus = named.map((status) => {
    const own = refusals.filter((refusal) => refusal.status === status)
    const [tpe = ''] = [...own.flatMap(({ types }) => types), ...commonTypes(status)]
    return [status, { description: told(own), content: content(schemaOf(id, status, own), tpe) }] as const
  })
  return { ...Object.fromEntries(byStatus), default: otherError(refusals) }
}

function schemaOf(id: OperationId, status: number, refusals: readonly Refusal[]): Json {
  const common = commonTypes(status)
  const listed = [...listedTypes(id, status), ...refusals.flatMap(({ types }) => types)]
  const own = [...new Set(listed)].filter((type) => !common.includes(type) && !isModelError(type))
  return own.length === 0 ? ref(`Error${status}`) : envelopeWith([...own, ...common])
}

function isModelError(type: string): boolean {
  return (modelErrors as readonly string[]).includes(type)
}

function otherError(refusals: readonly Refusal[]): Json {
  const anyStatus = refusals.filter(({ status }) => status === undefined)
  const lines = ['Any other error (§7.2), or what a guardrail gives (§7.3).', told(anyStatus)]
  return { description: lines.filter(Boolean).join('\n'), content: content(ref('Error'), 'InternalError') }
}
