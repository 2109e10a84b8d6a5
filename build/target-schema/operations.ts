import type { Operation } from '../../catalogue/operation.ts'
import { operations } from '../../catalogue/operations.ts'
import { defaultPointer, rolesOf } from '../../harness/target/declared.ts'
import type { Schema } from './examples.ts'

type Described = (typeof operations)[number]

/** What the target file may say of each operation, made from its record. */
export function operationSchemas(): Record<string, Schema> {
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
