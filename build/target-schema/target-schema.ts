import { readFileSync } from 'node:fs'
import { catalogue } from '../../catalogue/catalogue.ts'
import { type Operation, examplePlace } from '../../catalogue/operation.ts'
import { operations, isOperationId, operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { scenarioExample } from '../../catalogue/scenario-examples.ts'
import {
  contentExample,
  defaultPointer,
  keyExamples,
  memberOf,
  resourceExamples,
  rolesOf,
} from '../../harness/target-file/declared.ts'
import { defaultLimits } from '../../harness/target-file/model.ts'

type Described = (typeof operations)[number]

/** Schema of what the target file may say of each operation, made from its record. */
function operationSchemas(): Record<string, Schema> {
  return {
    ...Object.fromEntries(operations.map((operation) => [operation.id, operationSchema(operation)])),
    guardrails: { description: 'The target has no guardrails.', const: 'not-served' },
    general: { description: 'The general rows of §7.2 are not judged.', const: 'not-served' },
  }
}

function operationSchema(operation: Described): Schema {
  const { method, path, summary, deprecated }: Operation = operation
  const absences = deprecated ? ['not-served', 'removed'] : ['not-served']
  const words = absences.map((absence) => `"${absence}"`).join(' or ')
  const title = deprecated ? `an object, ${words}` : `an object or ${words}`
  const removed = deprecated ? '; "removed" after its removal' : ''
  return {
    description: `${summary}: ${method} ${path}. Its valid request; "not-served" if the target does not have it${removed}.`,
    title,
    if: { type: 'string' },
    then: { title: `${words} if it is a string`, enum: absences },
    else: { title, type: 'object', properties: membersOf(operation), additionalProperties: false },
  }
}

const text = { type: 'string', minLength: 1 }

/** The bytes of the file that is uploaded. */
const file: Record<string, Schema> = {
  content: { description: 'The bytes of a file that is known to be accepted.', $ref: '#/$defs/content' },
  contentType: {
    description: 'Media type of the file; text/plain for text, application/octet-stream for base64 if it is not given.',
    ...text,
  },
  filename: { description: 'Name of the file, with its extension; a suffix is put to it.', ...text },
}

const body = { description: 'A JSON body that is known to succeed.' }

const cleanup = {
  description: 'Requests sent at the end of the run, once for each object that it created; {id} is filled in.',
  $ref: '#/$defs/hookRequests',
}

function membersOf(operation: Described): Record<string, Schema> {
  const { path, otherPaths, body: kind, isWhole, creates }: Operation = operation
  const which = otherPaths.length > 0 ? 'Which of the paths that the interface shows' : 'The path that the interface'
  const roles = rolesOf(operation.id)
  return {
    path: {
      description: otherPaths.length > 0 ? `${which} the target serves.` : `${which} shows: there is no other.`,
      enum: [path, ...otherPaths],
    },
    query: { description: 'Query members sent with each request of this operation.', $ref: '#/$defs/texts' },
    headers: { description: 'Headers sent with each request of this operation.', $ref: '#/$defs/headers' },
    ...(kind === 'json' && !isWhole ? { body } : {}),
    ...(kind === 'raw' ? file : {}),
    ...(roles.length > 0 ? { fields: fieldsSchema(operation.id, roles) } : {}),
    ...(creates ? { cleanup } : {}),
  }
}

function fieldsSchema(id: Described['id'], roles: readonly string[]): Schema {
  return {
    description: 'What members of the body mean: a JSON Pointer for each role.',
    type: 'object',
    properties: Object.fromEntries(
      roles.map((role) => [role, { description: placed(id, role), $ref: '#/$defs/pointer' }]),
    ),
    additionalProperties: false,
  }
}

function placed(id: Described['id'], role: string): string {
  const pointer = defaultPointer(id, role)
  const unless = pointer === undefined ? '' : `; ${pointer} if it is not given`
  const what = role === 'id' ? 'response holds the id of the new object' : `body holds the ${role.replaceAll('_', ' ')}`
  return `Where the ${what}${unless}.`
}

/** A JSON Schema, as deep as it goes. */
interface Schema {
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
const cleanupExample = [{ method: 'DELETE', url: '/admin/objects/{id}' }]
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
  cleanup: cleanupExample,
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
function withExamples(schema: Schema): Schema {
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

/** Path of the part that does not follow from the catalogue: the form of keys, resources, scenarios and limits. */
const form = new URL('./form.json', import.meta.url)

/** The schema of the target file, each member with an example and what it is for, and every id that it may name. */
export function targetSchema(): Schema {
  const schema = JSON.parse(readFileSync(form, 'utf8')) as Schema
  const ids = operations.map(({ id }) => id)
  const member = (name: string, of = schema): Schema => of.properties?.[name] ?? missing(name)
  member('operations').properties = operationSchemas()
  const perOperation = member('restricted', member('keys')).then ?? missing('then')
  perOperation.properties = Object.fromEntries(ids.map((id) => [id, { $ref: '#/$defs/key' }]))
  member('operation', schema.$defs?.['scenario']).enum = ids
  member('scenarios').propertyNames = {
    enum: catalogue.filter(({ operation }) => operation !== 'envelope').map(({ id }) => id),
  }
  for (const [name, value] of Object.entries(defaultLimits)) member(name, member('limits')).default = value
  return withExamples(schema)
}

function missing(name: string): never {
  throw new Error(`form.json has no ${name}`)
}
