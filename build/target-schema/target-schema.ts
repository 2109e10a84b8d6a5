import { type Operation, examplePlace } from '../../catalogue/operation.ts'
import { operations } from '../../catalogue/operations.ts'
import {
  contentExample,
  defaultLimits,
  defaultPointer,
  keyExamples,
  memberOf,
  resourceExamples,
  rolesOf,
} from '../../harness/target-file/index.ts'
import { targetFileForm } from '../../harness/target-file/target-file.ts'

type Described = (typeof operations)[number]

interface Schema {
  properties?: Record<string, Schema>
  $defs?: Record<string, Schema>
  readonly [keyword: string]: unknown
}

/** A member of the target file: what it is for first, its example last. */
function described(description: string, schema: Schema, example: unknown): Schema {
  return { description, ...schema, examples: [example] }
}

/** Schema of what the target file may say of each operation, made from its record. */
function operationSchemas(): Record<string, Schema> {
  const absent = (description: string): Schema =>
    described(description, { const: 'not-served' }, 'not-served')
  return {
    ...Object.fromEntries(
      operations.map((operation) => [operation.id, operationSchema(operation)]),
    ),
    guardrails: absent('The target has no guardrails.'),
    general: absent('The general rows of §7.2 are not judged.'),
    '*': absent(
      'Every operation that has no entry of its own, and needs no resource that is declared.',
    ),
  }
}

function operationSchema(operation: Described): Schema {
  const { method, path, summary, deprecated, body, example, isWhole }: Operation = operation
  const absences = deprecated ? ['not-served', 'removed'] : ['not-served']
  const words = absences.map((absence) => `"${absence}"`).join(' or ')
  const title = deprecated ? `an object, ${words}` : `an object or ${words}`
  const removed = deprecated ? '; "removed" after its removal' : ''
  const schema = {
    title,
    if: { type: 'string' },
    then: { title: `${words} if it is a string`, enum: absences },
    else: { title, type: 'object', properties: membersOf(operation), additionalProperties: false },
  }
  return described(
    `${summary}: ${method} ${path}. Its valid request; "not-served" if the target does not have it${removed}.`,
    schema,
    body === 'raw'
      ? contentExample
      : example === undefined || isWhole
        ? 'not-served'
        : { body: example },
  )
}

const text = { type: 'string', minLength: 1 }

const file: Record<string, Schema> = {
  content: described(
    'The bytes of a file that is known to be accepted.',
    { $ref: '#/$defs/content' },
    contentExample.content,
  ),
  contentType: described(
    'Media type of the file; text/plain for text, application/octet-stream for base64 if it is not given.',
    text,
    contentExample.contentType,
  ),
  filename: described(
    'Name of the file, with its extension; a suffix is put to it.',
    text,
    contentExample.filename,
  ),
}

const query = described(
  'Query members sent with each request of this operation.',
  { $ref: '#/$defs/texts' },
  { version: '2' },
)
const headers = described(
  'Headers sent with each request of this operation.',
  { $ref: '#/$defs/headers' },
  { 'x-tenant': { env: 'TENANT' } },
)
const cleanup = described(
  'Requests sent at the end of the run, once for each object that it created; {id} is filled in.',
  { $ref: '#/$defs/hookRequests' },
  [{ method: 'DELETE', url: '/admin/objects/{id}' }],
)

function membersOf(operation: Described): Record<string, Schema> {
  const { path, otherPaths, body: kind, example, isWhole, creates }: Operation = operation
  const which =
    otherPaths.length > 0
      ? 'Which of the paths that the interface shows the target serves.'
      : 'The path that the interface shows: there is no other.'
  const roles = rolesOf(operation.id)
  return {
    path: described(which, { enum: [path, ...otherPaths] }, path),
    query,
    headers,
    ...(kind === 'json' && !isWhole
      ? { body: described('A JSON body that is known to succeed.', {}, example) }
      : {}),
    ...(kind === 'raw' ? file : {}),
    ...(roles.length > 0 ? { fields: fieldsSchema(operation.id, roles) } : {}),
    ...(creates ? { cleanup } : {}),
  }
}

function fieldsSchema(id: Described['id'], roles: readonly string[]): Schema {
  const pointers = roles.map((role) => {
    const member = memberOf(id, role)
    return [role, member ? examplePlace(member) : `/${role}`] as const
  })
  const properties = pointers.map(([role, pointer]): [string, Schema] => [
    role,
    described(placed(id, role), { $ref: '#/$defs/pointer' }, pointer),
  ])
  return described(
    'What members of the body mean: a JSON Pointer for each role.',
    { type: 'object', properties: Object.fromEntries(properties), additionalProperties: false },
    Object.fromEntries(pointers.slice(0, 1)),
  )
}

function placed(id: Described['id'], role: string): string {
  const pointer = defaultPointer(id, role)
  const unless = pointer === undefined ? '' : `; ${pointer} if it is not given`
  const what =
    role === 'id'
      ? 'response holds the id of the new object'
      : `body holds the ${role.replaceAll('_', ' ')}`
  return `Where the ${what}${unless}.`
}

const operationsExample = {
  'completion.create': { body: { model: '<model>', prompt: 'Hello' } },
  'vision.analyze': 'not-served',
}
const scenariosExample = {
  'files.retrieve/403-file-access': { params: { file_id: '<file of another account>' } },
  'jobs.create/429-quota-exceeded': { key: { env: 'KEY_WITH_SPENT_QUOTA' } },
}

/** The schema of the target file, each member with an example and what it is for. */
export function targetSchema(): Schema {
  const schema = structuredClone(targetFileForm) as Schema
  const membersIn = (of: Schema | undefined): Record<string, Schema> =>
    of?.properties ?? missing('properties')
  const members = membersIn(schema)
  /** Adds what follows from the code; the example stays last. */
  const add = (to: Record<string, Schema>, name: string, more: Schema, example?: unknown): void => {
    const { examples = [example], ...rest } = to[name] ?? missing(name)
    to[name] = { ...rest, ...more, examples }
  }
  add(members, 'operations', { properties: operationSchemas() }, operationsExample)
  add(members, 'scenarios', {}, scenariosExample)
  add(
    members,
    'unreachable',
    {},
    { 'completion.create/500-*': 'no staging switch for model outages' },
  )
  add(membersIn(schema.$defs?.['scenario']), 'operation', {}, 'chat.create')
  const [keys, resources, limits] = ['keys', 'resources', 'limits'].map((name) =>
    membersIn(members[name]),
  )
  for (const [name, env] of Object.entries(keyExamples)) add(keys!, name, {}, { env })
  for (const [name, value] of Object.entries(resourceExamples)) add(resources!, name, {}, value)
  for (const [name, value] of Object.entries(defaultLimits))
    add(limits!, name, { default: value }, value)
  return schema
}

function missing(name: string): never {
  throw new Error(`the form of a target file has no ${name}`)
}
