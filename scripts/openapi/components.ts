import { readFileSync } from 'node:fs'
import { isRefusal, pairsOf, codeNames, listedTypes, modelErrors } from '../../catalogue/answers.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import {
  type Member,
  type QueryConfigMember,
  queryConfigMembers,
  type OperationId,
  operations,
} from '../../catalogue/operations.ts'
import { groupBy } from '../../harness/group-by.ts'
import { getAt, tokensOf } from '../../schemas/json.ts'
import { sections } from '../../harness/report/index.ts'

/** A schema of this package as a component; the document declares `$schema` and `$id` once. */
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
        description: 'Errors of the model behind an operation, with any status (§7.4).',
        type: 'string',
        enum: modelErrors,
      },
      ...errorSchemas(),
      PdfContent: shipped('pdf-content'),
      CreatedJob: shipped('created-job'),
      Job: shipped('job'),
      ChatCompletion: chatCompletion(),
      MedicalEntities: shipped('medical-entities'),
      QueryConfig: {
        description: '§2.7: configuration of a query of a knowledge graph.',
        type: 'object',
        properties: Object.fromEntries(
          queryConfigMembers.map((member) => [member.name, queryMember(member)]),
        ),
      },
      ...requestSchemas(),
    },
  }
}

function chatCompletion(): Json {
  const at = '/properties/choices/prefixItems/0/properties/message/properties'
  const chat = shipped('chat-completion')
  Object.assign(getAt(chat, at) as Json, getAt(shipped('llm-tool-completion'), at))
  return chat
}

/** A range that is never enforced is only recommended. */
function queryMember(member: QueryConfigMember): Json {
  const { kind, range: [minimum, maximum] = [], outside } = member
  const recommended = { description: `${minimum} to ${maximum} is recommended.` }
  return {
    type: kind === 'fraction' ? 'number' : kind,
    ...(minimum !== undefined && (outside.length > 0 ? { minimum, maximum } : recommended)),
    ...(member.default !== undefined && { default: member.default }),
  }
}

function requestSchemas(): Json {
  const components: Record<string, Json> = {}
  for (const { request, members } of operations) {
    if (!request) continue
    const schema = bodySchema(members.flatMap(placed), components)
    components[request.component] = { ...schema, description: request.description }
  }
  return components
}

/**
 * A member with its place in the body; if the place is not shown, it is taken from the example, if the member is shown
 * at all (§2).
 */
function placed(member: Member): Member[] {
  if (member.at.startsWith('/')) return [member]
  const isTop = member.exampleAt !== undefined && tokensOf(member.exampleAt).length === 1
  return isTop && member.section.startsWith('2.') ? [{ ...member, at: member.exampleAt }] : []
}

const parentOf = (member: Member): string => member.at.slice(0, member.at.lastIndexOf('/'))
const nameOf = (member: Member): string => tokensOf(member.at).at(-1) ?? ''

function bodySchema(all: readonly Member[], components: Record<string, Json>): Json {
  /** Members that belong to one value of `type` are never required here. */
  const objectAt = (at: string): Json => {
    const own = all.filter((member) => parentOf(member) === at)
    const required = own.filter((one) => one.required && one.ofType === undefined).map(nameOf)
    const byName = groupBy(own, nameOf)
    const properties = [...byName].map(([name, members]): [string, Json] => [
      name,
      members.length === 1 ? schemaOf(members[0]!) : { anyOf: members.map(schemaOf) },
    ])
    return {
      type: 'object',
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(properties),
    }
  }

  const schemaOf = (member: Member): Json => {
    const { at, kinds, component, allowed, shows, section } = member
    const variants = kinds.map((kind): Json => {
      const item = all.find((one) => one.at === `${at}/*`)
      if (kind === 'array') return { type: kind, ...(item && { items: schemaOf(item) }) }
      if (kind === 'object' && all.some((one) => parentOf(one) === at)) return objectAt(at)
      return {
        type: kind,
        ...(allowed && { enum: allowed }),
        ...(shows !== undefined && { examples: [shows] }),
      }
    })
    const description =
      member.description ?? (section === '7.3' ? 'Named among the errors of §7.3.' : undefined)
    const schema = {
      ...(variants.length === 1 ? variants[0] : { oneOf: variants }),
      ...(description !== undefined && { description }),
    }
    if (component === undefined) return schema
    // The query configuration has its own component, with its bounds.
    if (component !== 'QueryConfig') components[component] = schema
    return ref(component)
  }
  return objectAt('')
}

/** Errors that any operation may return with that status: names of its row of §7.2, and what §7.3 lists for all. */
function commonTypes(status: number): string[] {
  return [...new Set([...(codeNames[status] ?? []), ...listedTypes(null, status)])]
}

function content(schema: Json, tpe: string): Json {
  return { 'application/json': { schema, example: { tpe, errors: [], extras: {} } } }
}

/** The envelope with one of these types, or with a model error, allowed with any status (§7.4). */
function envelopeWith(types: readonly string[]): Json {
  const tpe = { anyOf: [{ type: 'string', enum: types }, ref('ModelErrorType')] }
  return { allOf: [ref('Error'), { type: 'object', properties: { tpe } }] }
}

/** What the requirements of an operation accept as errors. */
function refusalsOf(id: OperationId) {
  const own = catalogue.filter(
    (one) => one.operation === id && !one.onlyIf && isRefusal(one.expects),
  )
  return own.flatMap((requirement) =>
    pairsOf(requirement, id).map(([status, ...types]) => ({ requirement, status, types })),
  )
}

/** The errors of an operation by status; `own`: the types that not every operation may return with it. */
function errorsOf(id: OperationId) {
  return [...groupBy(refusalsOf(id), (refusal) => refusal.status)].flatMap(([status, refusals]) => {
    if (typeof status !== 'number') return []
    const [common, types] = [commonTypes(status), refusals.flatMap((refusal) => refusal.types)]
    const listed = [...new Set<string>([...listedTypes(id, status), ...types])]
    const own = listed.filter((type) => ![...common, ...modelErrors].includes(type))
    return [{ status, refusals, own, common, example: [...types, ...common][0] ?? '' }]
  })
}

/** `Error404` and others, for each status with which some operation has no type of its own. */
function errorSchemas(): Json {
  const shared = operations
    .flatMap((operation) => errorsOf(operation.id))
    .filter((error) => error.own.length === 0)
  return Object.fromEntries(
    shared.map((error) => [`Error${error.status}`, envelopeWith(error.common)]),
  )
}

/** The error responses of an operation: those of its requirements by status, and a default. */
export function errorResponses(id: OperationId): Json {
  const text = (some: ReturnType<typeof refusalsOf>): string => {
    const lines = some.map((refusal) => {
      const { statement, section } = refusal.requirement
      return `- ${statement} (${sections(section)})`
    })
    return [...new Set(lines)].join('\n')
  }
  const byStatus = errorsOf(id).map(({ status, refusals, own, common, example }) => {
    const schema = own.length === 0 ? ref(`Error${status}`) : envelopeWith([...own, ...common])
    return [status, { description: text(refusals), content: content(schema, example) }] as const
  })
  // Requirements that any error satisfies have no status.
  const others = text(refusalsOf(id).filter((refusal) => typeof refusal.status !== 'number'))
  const lines = ['Any other error (§7.2), or an error of a guardrail (§7.3).', others]
  const other = {
    description: lines.filter(Boolean).join('\n'),
    content: content(ref('Error'), 'InternalError'),
  }
  return { ...Object.fromEntries(byStatus), default: other }
}

export type Json = Readonly<Record<string, unknown>>

export function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` }
}
