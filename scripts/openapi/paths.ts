import { readFileSync } from 'node:fs'
import { granting } from '../../catalogue/catalogue.ts'
import { type ListedOperation, type OperationId, operations } from '../../catalogue/operations.ts'
import { getAt } from '../../schemas/json.ts'
import { components, errorResponses, type Json, ref } from './components.ts'

function operationObject(operation: ListedOperation): Json {
  const { id, summary, description, deprecated, params = {}, body, request } = operation
  const parameters = [
    ...Object.entries(params).map(([name, { format, declaredAt }]) => ({
      ...{ name, in: 'path', required: true },
      schema: { type: 'string', ...(format && { format }) },
      example: getAt(reference, declaredAt),
    })),
    ...(operation.parameters ?? []).map((one) => ({
      ...{ name: one.name, in: one.in, description: one.description },
      schema: { type: 'string' },
    })),
  ]
  const schema = request ? ref(request.component) : {}
  const json = { 'application/json': { schema, example: requestExample(operation) } }
  const content = body === 'json' ? json : { '*/*': {} }
  return {
    operationId: id,
    summary,
    description: [`§${operation.section}.`, description].filter(Boolean).join(' '),
    tags: [id.split('.')[0]],
    ...(deprecated && { deprecated }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== 'none' && { requestBody: { required: true, content } }),
    responses: { ...success(operation), ...errorResponses(id) },
  }
}

/**
 * The success response. Its status comes from the requirement for valid requests. If the payload is not shown, any body
 * of any type may come, or none; it is labelled as JSON, since mock servers need a type for examples.
 */
function success(operation: ListedOperation): Json {
  const { id, response, members } = operation
  const { expects, statement } = granting[id]
  // `pdf-content` becomes `PdfContent`.
  const component = response?.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) =>
    letter.toUpperCase(),
  )
  const isStreamed = members.some((member) => member.role === 'stream')
  const content = {
    ...(isStreamed && { 'text/event-stream': { schema: { type: 'string' } } }),
    'application/json': { schema: component ? ref(component) : {}, example: responses[id] ?? {} },
  }
  return { [String(expects).toUpperCase()]: { description: statement, content } }
}

const id = '0f8fad5b-d9cb-469f-a165-70867728950e'
const began = '2025-06-01T12:00:00Z'

/** Examples of the successes that the interface shows. */
const responses: Readonly<Partial<Record<OperationId, unknown>>> = {
  'pdf.parse': { content: 'Tea is a drink.' },
  'jobs.create': { id, status: 'in_progress', created_at: began },
  // A finished job, so that clients polling a mock server stop.
  'jobs.retrieve': {
    id,
    status: 'completed',
    application_id: 'application-1',
    created_at: began,
    updated_at: '2025-06-01T12:00:02Z',
    completed_at: '2025-06-01T12:00:02Z',
    data: { title: 'Tea', suggestion: 'Tea is a drink.' },
  },
  'chat.create': { choices: [{ message: { role: 'assistant', content: 'Tea is a drink.' } }] },
  'medical.comprehend': {
    entities: [{ category: 'SYMPTOM', text: 'cough', score: 0.9, traits: [] }],
  },
}

const reference = JSON.parse(
  readFileSync(new URL('../../fixtures/reference.target.json', import.meta.url), 'utf8'),
) as Json

function requestExample(operation: ListedOperation): unknown {
  if (operation.id === 'jobs.create')
    return { inputs: getAt(reference, '/resources/application/inputs') }
  return getAt(reference, `/operations/${operation.id}/body`) ?? operation.example
}

const description = `This document describes only what the interface shows. What the interface leaves open is open here too: if it shows no payload, the schema allows everything, and additional members are allowed everywhere. The media type of such payloads is invented: a response other than JSON is not wrong.

Every error response is the envelope \`Error\`. Each operation lists the statuses that the interface names for it, with the values of \`tpe\` that are possible there; any other status may come as well, as \`default\`.

\`§\` numbers are sections of the description of the interface.`

const tags: Readonly<Record<string, string>> = {
  pdf: 'PDF conversion (§4.1)',
  jobs: 'Application jobs: asynchronous content generation (§4.2, §4.3)',
  completion: 'Text generation (§4.4)',
  chat: 'Chat completion (§4.4)',
  files: 'Files (§4.4)',
  graphs: 'Knowledge graphs (§4.4)',
  applications: 'Applications: no-code agents (§4.4)',
  'ai-detect': 'Detection of generated text (§4.4)',
  'web-search': 'Web search (§4.4)',
  medical: 'Medical text analysis (§4.4)',
  translate: 'Translation (§4.4)',
  vision: 'Analysis of images (§4.4)',
}

/** The interface as OpenAPI 3.1, made from the catalogue and the schemas. */
export function openapiDocument(): Json {
  return {
    openapi: '3.1.0',
    info: { title: 'AI Content Service', version: '1.0', description },
    servers: [
      {
        url: '{base_url}',
        description: 'The base URL of the service; the interface names no host.',
        variables: {
          base_url: { default: 'http://127.0.0.1:8080', description: 'Without a trailing slash.' },
        },
      },
    ],
    security: [{ bearerAuth: [] }],
    tags: Object.entries(tags).map(([name, about]) => ({ name, description: about })),
    paths: withOpenObjects(pathItems()),
    components: withOpenObjects(components()),
  }
}

function pathItems(): Json {
  const items: Record<string, Json> = {}
  for (const operation of operations) {
    const { id, method, path, otherPaths } = operation
    const item = operationObject(operation)
    items[path] = { ...items[path], [method.toLowerCase()]: item }
    for (const [at, other] of otherPaths.entries()) {
      const description = `Another path of \`${id}\`, which the interface names without more.`
      const alias = { ...item, operationId: `${id}-${at + 2}`, description }
      items[other] = { [method.toLowerCase()]: alias }
    }
  }
  return items
}

/** Marks objects whose members are not shown as open: generators treat an object without members as empty. */
function withOpenObjects<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withOpenObjects) as Value
  const members = Object.entries(value).map(
    ([name, one]) => [name, withOpenObjects<unknown>(one)] as const,
  )
  const isBare = 'type' in value && value.type === 'object' && !('properties' in value)
  return Object.fromEntries(
    isBare ? [...members, ['additionalProperties', true]] : members,
  ) as Value
}
