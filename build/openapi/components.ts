import { readFileSync } from 'node:fs'
import { modelErrors } from '../../catalogue/errors.ts'
import { queryConfigMembers, type QueryConfigMember } from '../../catalogue/query-config.ts'
import { errorSchemas } from './errors.ts'
import type { Json } from './json.ts'
import { requestSchemas } from './requests.ts'

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

/** What is shown if an llm tool ran stands in the same response. */
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
