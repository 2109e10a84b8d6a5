import { examplePlace } from '../../catalogue/operation.ts'
import { isOperationId, operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { scenarioExample } from '../../catalogue/scenario-examples.ts'
import { contentExample, keyExamples, resourceExamples } from '../../harness/target/examples.ts'
import { memberOf } from '../../harness/target/declared.ts'

/** A JSON Schema, as deep as it goes. */
export interface Schema {
  description?: string
  properties?: Record<string, Schema>
  items?: Schema
  then?: Schema
  else?: Schema
  enum?: readonly string[]
  default?: unknown
  propertyNames?: Schema
  $defs?: Record<string, Schema>
  readonly [keyword: string]: unknown
}

const headers = { 'x-tenant': { env: 'TENANT' } }
const { application } = resourceExamples
const hookRequest = { method: 'POST', url: '/admin/search', body: { down: true } }
const setup = [{ method: 'POST', url: '/admin/applications', body: { name: 'conform' }, save: { application: '/id' } }]
const teardown = [{ method: 'DELETE', url: '/admin/applications/{application}' }]
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
  setup,
  teardown,
  save: { application: '/id' },
  'setupRequest/body': { name: 'conform' },
  resources: { application, graph: '<graph id>' },
  ...Object.fromEntries(Object.entries(resourceExamples).map(([name, value]) => [`resources/${name}`, value])),
  operations: {
    'completion.create': { body: operationOf('completion.create').example },
    'vision.analyze': 'not-served',
  },
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

/** The schema with an example at each member, and what it is for. */
export function withExamples(schema: Schema): Schema {
  for (const [name, member] of Object.entries(schema.$defs ?? {})) visit(member, [name])
  visit(schema, [])
  return schema
}

function visit({ properties = {}, then, else: other, items }: Schema, path: readonly string[]): void {
  for (const [name, member] of Object.entries(properties)) {
    const at = [...path, name]
    // What a member is for is read first, its example last.
    const described: Schema = { description: describe(at), ...member, examples: [exampleOf(at, member)] }
    properties[name] = described
    visit(described, at)
  }
  for (const branch of [then, other]) if (branch) visit(branch, path)
  if (items?.properties) visit(items, [...path, 'items'])
}

function exampleOf(path: readonly string[], member: Schema): unknown {
  const name = path.at(-1) ?? ''
  const parent = path.at(-2) ?? ''
  const operation = path.find((part) => isOperationId(part))
  if (operation !== undefined && isOperationId(operation) && path[0] === 'operations') {
    if (name === operation) return operationExample(operation)
    if (name === 'path') return operationOf(operation).path
    if (name === 'body') return operationOf(operation).example
    const [first = ''] = Object.keys(member.properties ?? {})
    if (name === 'fields') return { [first]: pointerOf(operation, first) }
    if (parent === 'fields') return pointerOf(operation, name)
  }
  if (parent === 'restricted') return { env: 'CONFORM_KEY_RESTRICTED' }
  if (parent === 'operations') return 'not-served'
  if (path.length === 1) return path[0] === undefined ? undefined : (examples[path[0]] ?? member.default)
  return examples[`${parent}/${name}`] ?? examples[name] ?? member.default
}

function operationExample(operation: OperationId): unknown {
  const { body, example, isWhole } = operationOf(operation)
  if (body === 'raw') return contentExample
  return example === undefined || isWhole ? 'not-served' : { body: example }
}

function pointerOf(operation: OperationId, role: string): string {
  const member = memberOf(operation, role)
  return member ? examplePlace(member) : `/${role}`
}

function describe(path: readonly string[]): string {
  if (path.at(-2) === 'restricted') return `A valid key without permission for ${path.at(-1)}.`
  return path.at(-1) === 'headers' ? 'Headers of this request.' : ''
}
