import { readFileSync } from 'node:fs'
import { isRefusal, pairsOf } from '../../catalogue/requirement.ts'
import { catalogue, type CatalogueRequirement } from '../../catalogue/catalogue.ts'
import { codeNames, listedTypes, modelErrors } from '../../catalogue/errors.ts'
import type { Member, Operation } from '../../catalogue/operation.ts'
import { type OperationId, operations } from '../../catalogue/operations.ts'
import { type QueryConfigMember, queryConfigMembers } from '../../catalogue/query-config.ts'
import { tokensOf } from '../../schemas/json.ts'
import { sections } from '../../harness/report/index.ts'

/** A schema of this package, as a component: its names for schema languages are those of the whole document. */
function shipped(name: string): Json {
  const text = readFileSync(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8')
  const { $schema: _schema, $id: _id, ...schema } = JSON.parse(text) as Json
  return schema
}

const bearerAuth: Json = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'Every request carries the header `Authorization: Bearer <API_KEY>` (§5).',
}

export function components(): { readonly securitySchemes: Json; readonly schemas: Json } {
  return {
    securitySchemes: { bearerAuth },
    schemas: {
      Error: shipped('error-envelope'),
      ModelErrorType: {
        description: 'Types that stand for the model behind an operation, with any status (§7.4).',
        type: 'string',
        enum: modelErrors,
      },
      ...errorSchemas,
      PdfContent: shipped('pdf-content'),
      CreatedJob: shipped('created-job'),
      Job: shipped('job'),
      ChatCompletion: chatCompletion(),
      MedicalEntities: shipped('medical-entities'),
      QueryConfig: {
        description: '§2.7: configuration of a query of a knowledge graph.',
        type: 'object',
        properties: Object.fromEntries(queryConfigMembers.map((member) => [member.name, queryMember(member)])),
      },
      ...requestSchemas(),
    },
  }
}

type Choices = { properties: { choices: { prefixItems: [{ properties: { message: { properties: Json } } }] } } }

const message = (schema: Json) => (schema as unknown as Choices).properties.choices.prefixItems[0].properties.message

/** Schema of a chat completion; what is shown if an llm tool ran stands in the same response. */
function chatCompletion(): Json {
  const chat = shipped('chat-completion')
  const { properties } = message(shipped('llm-tool-completion'))
  const own = message(chat)
  own.properties = { ...own.properties, ...properties }
  return chat
}

const types = { boolean: 'boolean', integer: 'integer', fraction: 'number' } as const

/** A range that nothing is refused outside of is only recommended. */
function queryMember(member: QueryConfigMember): Json {
  const { kind, range: [minimum, maximum] = [], outside } = member
  const bounds = outside.length > 0 ? { minimum, maximum } : { description: `${minimum} to ${maximum} is recommended.` }
  return {
    type: types[kind],
    ...(minimum === undefined ? {} : bounds),
    ...(member.default === undefined ? {} : { default: member.default }),
  }
}

/** The bodies that the interface shows, or some members of, made from the members of each operation. */
function requestSchemas(): Json {
  const components: Record<string, Json> = {}
  for (const { request, members } of operations as readonly Operation[]) {
    if (!request) continue
    const below = members.flatMap((member) => placed(member))
    components[request.component] = { ...objectOf('', below, components), description: request.description }
  }
  return components
}

/** A member at its place in the body; one whose place is not shown stands where an example has it, if it is shown at all (§2). */
function placed(member: Member): Member[] {
  if (member.at.startsWith('/')) return [member]
  const isTop = member.exampleAt !== undefined && tokensOf(member.exampleAt).length === 1
  return isTop && member.section.startsWith('2.') ? [{ ...member, at: member.exampleAt }] : []
}

function parentOf({ at }: Member): string {
  return at.slice(0, at.lastIndexOf('/'))
}

function nameOf({ at }: Member): string {
  return tokensOf(at).at(-1) ?? ''
}

function named(members: readonly Member[], of: (member: Member) => Json): Json {
  return Object.fromEntries(members.map((member) => [nameOf(member), of(member)]))
}

function requiredOf(members: readonly Member[]): Json {
  const required = members.filter((member) => member.required).map(nameOf)
  return required.length > 0 ? { required } : {}
}

/** The object at that place: what it may be depends on its `type`, if some members belong to one type only. */
function objectOf(at: string, all: readonly Member[], components: Record<string, Json>): Json {
  const own = all.filter((member) => parentOf(member) === at)
  const whole = (member: Member): Json => requestSchemaOf(member, all, components)
  const kind = own.find((member) => nameOf(member) === 'type')
  const special = own.filter(({ ofType }) => ofType !== undefined)
  const common = own.filter(({ ofType }) => ofType === undefined)
  const isBelowType = special.some((member) =>
    all.some((one) => one !== member && one.at === at && one.ofType === member.ofType),
  )
  if (!kind || isBelowType) return { type: 'object', ...requiredOf(own), properties: named(own, whole) }
  if (kind.allowed && kind.allowed.length > 1) {
    const variants = kind.allowed.map((value): Json => {
      const members = own.filter(({ ofType }) => ofType === undefined || ofType === value)
      return {
        type: 'object',
        ...requiredOf(members),
        properties: { ...named(members, whole), type: { const: value } },
      }
    })
    return { oneOf: variants }
  }
  const [variant] = special
  const plain = { type: 'object', properties: { ...named(common, whole), ...named(special, kindsOf) } }
  if (!variant) return { ...plain, ...requiredOf(own) }
  return {
    ...plain,
    if: { properties: { type: { const: variant.ofType } }, required: ['type'] },
    then: { properties: named(special, whole), ...requiredOf(special) },
  }
}

function kindsOf({ kinds }: Member): Json {
  return { type: kinds[0] }
}

function requestSchemaOf(member: Member, all: readonly Member[], components: Record<string, Json>): Json {
  const { at, kinds, component } = member
  const described = describedAs(member)
  const variants = kinds.map((kind): Json => {
    if (kind === 'array') return arrayOf(at, all, components)
    const hasMembers = kind === 'object' && all.some((one) => parentOf(one) === at)
    return hasMembers ? objectOf(at, all, components) : { type: kind, ...valuesOf(member) }
  })
  const schema = { ...(variants.length === 1 ? variants[0] : { oneOf: variants }), ...described }
  if (component === undefined) return schema
  // The query configuration has a component of its own, with its bounds.
  if (component !== 'QueryConfig') components[component] = schema
  return ref(component)
}

function arrayOf(at: string, all: readonly Member[], components: Record<string, Json>): Json {
  const item = all.find((one) => one.at === `${at}/*`)
  return { type: 'array', ...(item ? { items: requestSchemaOf(item, all, components) } : {}) }
}

function valuesOf({ allowed, shows }: Member): Json {
  return { ...(allowed ? { enum: allowed } : {}), ...(shows === undefined ? {} : { examples: [shows] }) }
}

function describedAs({ description, section }: Member): Json {
  if (description !== undefined) return { description }
  return section === '7.3' ? { description: 'Named among the errors of §7.3.' } : {}
}

const statuses = [400, 401, 403, 404, 409, 410, 413, 422, 429, 500, 503, 507]

/** Errors that any operation may answer with that status: a name of its row of §7.2, or what §7.3 lists for all of them. */
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

/** One component a status, for the operations that list no type of their own with it; with the others all list one. */
const errorSchemas: Json = Object.fromEntries(
  [400, 401, 403, 404, 429, 500, 503].map((status) => [`Error${status}`, envelopeWith(commonTypes(status))]),
)

interface Refusal {
  readonly requirement: CatalogueRequirement
  readonly status: number | undefined
  readonly types: readonly string[]
}

/** Requirements that refuse a request of the operation, by status; none for one that any error of some kind fulfils. */
function refusalsOf(id: OperationId): Refusal[] {
  const own = catalogue.filter(({ operation, onlyIf, expects }) => operation === id && !onlyIf && isRefusal(expects))
  return own.flatMap((requirement) =>
    pairsOf(requirement, id).map(([status, ...types]) => ({
      requirement,
      status: typeof status === 'number' ? status : undefined,
      types,
    })),
  )
}

function refusalText(refusals: readonly Refusal[]): string {
  const requirements = new Set(refusals.map(({ requirement }) => requirement))
  return [...requirements].map(({ statement, section }) => `- ${statement} (${sections(section)})`).join('\n')
}

/** The error responses of an operation: those of its requirements by status, and any other. */
export function errorResponses(id: OperationId): Json {
  const refusals = refusalsOf(id)
  const named = statuses.filter((status) => refusals.some((refusal) => refusal.status === status))
  const byStatus = named.map((status) => {
    const own = refusals.filter((refusal) => refusal.status === status)
    const [tpe = ''] = [...own.flatMap(({ types }) => types), ...commonTypes(status)]
    return [status, { description: refusalText(own), content: content(schemaOf(id, status, own), tpe) }] as const
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
  const lines = ['Any other error (§7.2), or what a guardrail gives (§7.3).', refusalText(anyStatus)]
  return { description: lines.filter(Boolean).join('\n'), content: content(ref('Error'), 'InternalError') }
}

export type Json = Readonly<Record<string, unknown>>

export function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` }
}
