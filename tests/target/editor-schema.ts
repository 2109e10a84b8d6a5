import { catalogue } from '../../catalogue/catalogue.ts'
import { isOperationId, operation as operationOf } from '../../catalogue/operations.ts'
import {
  bodyExamples,
  contentExample,
  keyExamples,
  pointerExamples,
  resourceExamples,
  scenarioExample,
} from '../../harness/target/examples.ts'

export type Schema = Record<string, any>

const headers = { 'x-tenant': { env: 'TENANT' } }
const application = resourceExamples['application'] as Record<string, any>
const hookRequest = { method: 'POST', url: '/admin/search', body: { down: true } }
const cleanup = [{ method: 'DELETE', url: '/admin/objects/{id}' }]
const scenarioIds = ['files.retrieve/403-file-access', 'jobs.create/429-quota-exceeded'] as const
const scenarios = Object.fromEntries(scenarioIds.map((id) => [id, scenarioExample(id)]))

/** An example of each member, by its name; by its path, without the branches of a schema, where names are shared. */
const examples: Readonly<Record<string, unknown>> = {
  $schema: './node_modules/ai-content-conformance/schemas/target.schema.json',
  name: 'Example staging',
  baseUrl: 'https://staging.example.com/base',
  headers,
  tls: { ca: 'ca.pem', cert: 'client.pem', key: 'client-key.pem' },
  ca: 'ca.pem',
  cert: 'client.pem',
  'tls/key': 'client-key.pem',
  keys: { full: { env: 'CONFORM_API_KEY' } },
  ...Object.fromEntries(Object.entries(keyExamples).map(([name, env]) => [`keys/${name}`, { env }])),
  resources: { application, graph: '<graph id>' },
  ...Object.fromEntries(Object.entries(resourceExamples).map(([name, value]) => [`resources/${name}`, value])),
  operations: { 'completion.create': { body: bodyExamples['completion.create'] }, 'vision.analyze': 'not-served' },
  scenarios,
  unreachable: { 'completion.create/500-*': 'no staging switch for model outages' },
  limits: { concurrency: 2, requestsPerSecond: 10 },
  requestsPerSecond: 10,
  concurrency: 2,
  maxGenerations: 50,
  credentialProbes: 'few',
  query: { version: '2' },
  cleanup,
  content: contentExample.content,
  contentType: contentExample.contentType,
  filename: contentExample.filename,
  env: 'CONFORM_API_KEY',
  file: 'key.jwt',
  command: ['vault', 'read', '-field=key', 'secret/staging'],
  ttlSeconds: 300,
  'application/id': application.id,
  inputs: application.inputs,
  'items/id': 'topic',
  value: ['tea'],
  requiredInputs: ['topic'],
  upload: 'sample.pdf',
  base64: 'SGVsbG8=',
  text: 'Hello',
  method: 'POST',
  url: '/admin/search',
  'hookRequest/body': { down: true },
  'scenario/operation': 'chat.create',
  'scenario/key': { env: 'KEY_OF_FULL_ACCOUNT' },
  params: { file_id: '<file of another account>' },
  'scenario/query': { file_types: 'zip' },
  'scenario/body': { text: 'Hello', source: 'en', target: 'xx' },
  merge: { text: '<a text over the limit>' },
  raw: { text: 'Hello', contentType: 'application/x-unsupported' },
  repeat: 100,
  before: [hookRequest],
  after: [{ ...hookRequest, body: { down: false } }],
}

/** The schema of the target file, each member with an example and what it is for, and every id that a scenario may have. */
export function editorSchema(schema: Schema): Schema {
  const whole = structuredClone(schema)
  for (const [name, member] of Object.entries<Schema>(whole.$defs)) visit(member, [name])
  visit(whole, [])
  whole.properties.scenarios.propertyNames = {
    enum: catalogue.filter(({ operation }) => operation !== 'envelope').map(({ id }) => id),
  }
  return whole
}

function visit(schema: Schema, path: readonly string[]): void {
  for (const [name, member] of Object.entries<Schema>(schema.properties ?? {})) {
    const at = [...path, name]
    const { description, ...rest } = member
    const example = exampleOf(at, rest)
    const described = { description: description ?? describe(at), ...rest, examples: [example] }
    schema.properties[name] = described
    visit(described, at)
  }
  for (const branch of ['then', 'else']) if (schema[branch]) visit(schema[branch], path)
  if (schema.items?.properties) visit(schema.items, [...path, 'items'])
}

function exampleOf(path: readonly string[], member: Schema): unknown {
  const name = path.at(-1) ?? ''
  const parent = path.at(-2) ?? ''
  const operation = path.find((part) => isOperationId(part))
  if (operation !== undefined && isOperationId(operation) && path[0] === 'operations') {
    if (name === operation) return operationExample(operation)
    if (name === 'path') return operationOf(operation).path
    if (name === 'body') return bodyExamples[operation]
    if (name === 'fields')
      return { [Object.keys(member.properties)[0]!]: pointerOf(operation, Object.keys(member.properties)[0]!) }
    if (parent === 'fields') return pointerOf(operation, name)
  }
  if (parent === 'restricted') return { env: 'CONFORM_KEY_RESTRICTED' }
  if (parent === 'operations') return 'not-served'
  if (path.length === 1) return path[0] === undefined ? undefined : (examples[path[0]] ?? member.default)
  return examples[`${parent}/${name}`] ?? examples[name] ?? member.default
}

function operationExample(operation: Parameters<typeof operationOf>[0]): unknown {
  const body = bodyExamples[operation]
  if (body !== undefined) return { body }
  return operation === 'files.upload' ? contentExample : 'not-served'
}

function pointerOf(operation: string, role: string): string {
  return pointerExamples[`${operation} ${role}`] ?? `/${role}`
}

function describe(path: readonly string[]): string {
  if (path.at(-2) === 'restricted') return `A valid key without permission for ${path.at(-1)}.`
  return path.at(-1) === 'headers' ? 'Headers of this request.' : ''
}
