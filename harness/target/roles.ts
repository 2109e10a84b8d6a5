import type { OperationId } from '../../catalogue/operations.ts'
import type { OperationValue } from './target-file.ts'

/** What the members of a valid request mean, per operation: a role points to a member of the body. */
export const rolesOf: Readonly<Partial<Record<OperationId, readonly string[]>>> = {
  'completion.create': ['model', 'prompt', 'temperature', 'max_tokens', 'parameter'],
  'chat.create': [
    'model',
    'messages',
    'tools',
    'tool_choice',
    'stream',
    'stream_options',
    'response_format',
    'query_config',
  ],
  'graphs.create': ['name'],
  'applications.create': ['name'],
  'graphs.query': ['query', 'query_config'],
  'graphs.add-file': ['file'],
  'ai-detect.run': ['text'],
  'translate.run': ['text', 'source', 'target'],
  'web-search.run': ['query'],
  'medical.comprehend': ['content', 'response_type'],
  'vision.analyze': ['model', 'prompt', 'variables'],
}

/** Operations whose role `id` points into the response, to the id of the new object. */
export const creators: readonly OperationId[] = ['files.upload', 'graphs.create', 'applications.create']

/** Operations whose body §2.8 shows in part: their roles are the members of that name. */
const shown: readonly OperationId[] = ['chat.create', 'vision.analyze', 'medical.comprehend']

/** The pointer of a role that need not be declared; undefined if it must. */
export function defaultPointer(operation: OperationId, role: string): string | undefined {
  if (role === 'id' && creators.includes(operation)) return '/id'
  if (!rolesOf[operation]?.includes(role) || role === 'query_config') return undefined
  return role === 'name' || shown.includes(operation) ? `/${role}` : undefined
}

/** All roles that have a pointer: declared, or by default. */
export function fieldsOf(operation: OperationId, value: OperationValue): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const role of [...(rolesOf[operation] ?? []), 'id']) {
    const pointer = value.fields?.[role] ?? defaultPointer(operation, role)
    if (pointer !== undefined) fields[role] = pointer
  }
  return fields
}
