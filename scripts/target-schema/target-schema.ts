import { examplePlace, type Operation } from '../../catalogue/operation.ts'
import { type OperationId, operations } from '../../catalogue/operations.ts'
import { contentExample, defaultLimits, keyExamples } from '../../harness/target/index.ts'
import { defaultPointer, memberOf, resourceExamples } from '../../harness/target/index.ts'
import { rolesOf } from '../../harness/target/index.ts'
import {
  operationForm,
  type OperationValue,
  targetFileForm,
} from '../../harness/target/target-file.ts'
import { member, pointer } from '../../harness/target/values.ts'

type Described = (typeof operations)[number]

interface Schema {
  properties?: Record<string, Schema>
  $defs?: Record<string, Schema>
  readonly [keyword: string]: unknown
}

/** Schema of what the target file may say of each operation, made from its record. */
function operationSchemas(): Record<string, Schema> {
  const absent = (description: string): Schema =>
    member(description, { const: 'not-served' }, 'not-served')
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
  const usual = example === undefined || isWhole ? 'not-served' : { body: example }
  return member(
    `${summary}: ${method} ${path}. Its valid request; "not-served" if the target does not have it${removed}.`,
    schema,
    body === 'raw' ? contentExample : usual,
  )
}

const operationMembers = operationForm['properties'] as Readonly<
  Record<keyof OperationValue, Schema>
>

function membersOf(operation: Described): Record<string, Schema> {
  const { path, otherPaths, body: kind, example, isWhole, creates }: Operation = operation
  const which =
    otherPaths.length > 0
      ? 'Which of the paths that the interface shows the target serves.'
      : 'The path that the interface shows: there is no other.'
  const roles = rolesOf(operation.id)
  const { path: _, query, headers, body, fields: _fields, cleanup, ...file } = operationMembers
  return {
    path: member(which, { enum: [path, ...otherPaths] }, path),
    query,
    headers,
    ...(kind === 'json' && !isWhole && { body: { ...body, examples: [example] } }),
    ...(kind === 'raw' && file),
    ...(roles.length > 0 && { fields: fieldsSchema(operation.id, roles) }),
    ...(creates && { cleanup }),
  }
}

function fieldsSchema(id: OperationId, roles: readonly string[]): Schema {
  const pointers = roles.map((role) => {
    const found = memberOf(id, role)
    return [role, found ? examplePlace(found) : `/${role}`] as const
  })
  const properties = pointers.map(([role, place]): [string, Schema] => {
    const standard = defaultPointer(id, role)
    const unless = standard === undefined ? '' : `; ${standard} if it is not given`
    const what =
      role === 'id'
        ? 'response holds the id of the new object'
        : `body holds the ${role.replaceAll('_', ' ')}`
    return [role, member(`Where the ${what}${unless}.`, pointer, place)]
  })
  return member(
    'What members of the body mean: a JSON Pointer for each role.',
    { type: 'object', properties: Object.fromEntries(properties), additionalProperties: false },
    Object.fromEntries(pointers.slice(0, 1)),
  )
}

const operationsExample = {
  'completion.create': { body: { model: '<model>', prompt: 'Hello' } },
  'vision.analyze': 'not-served',
}
const scenariosExample = {
  'files.retrieve/403-file-access': { params: { file_id: '<file of another account>' } },
  'jobs.create/429-quota-exceeded': { key: { env: 'KEY_WITH_SPENT_QUOTA' } },
}
const unreachableExample = { 'completion.create/500-*': 'no staging switch for model outages' }

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
  const addEach = (
    to: string,
    examples: Readonly<Record<string, unknown>>,
    more = (_: unknown): Schema => ({}),
  ): void => {
    for (const [name, value] of Object.entries(examples))
      add(membersIn(members[to]), name, more(value), value)
  }
  add(members, 'operations', { properties: operationSchemas() }, operationsExample)
  add(members, 'scenarios', {}, scenariosExample)
  add(members, 'unreachable', {}, unreachableExample)
  add(membersIn(schema.$defs?.['scenario']), 'operation', {}, 'chat.create')
  for (const [name, env] of Object.entries(keyExamples))
    add(membersIn(members['keys']), name, {}, { env })
  addEach('resources', resourceExamples)
  addEach('limits', { ...defaultLimits }, (value) => ({ default: value }))
  return schema
}

function missing(name: string): never {
  throw new Error(`the form of a target file has no ${name}`)
}
