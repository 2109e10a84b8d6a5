import type { OperationId } from '../../catalogue/operations.ts'
import { isObject, member as memberOf, getAt } from '../../schemas/json.ts'
import type { Run } from '../engine/run.ts'
import type { Examples } from './member-faults.ts'

/** The function of the declared llm tool, if there is one; else one that delegates to the model of the chat. */
function llmFunction(run: Run, body: unknown): Readonly<Record<string, unknown>> {
  const { body: declared, fields = {} } = run.target.operations['chat.create'] ?? {}
  const tools = getAt(declared, fields['tools'] ?? '/tools')
  const tool = Array.isArray(tools) ? (tools as unknown[]).find((one) => memberOf(one, 'type') === 'llm') : undefined
  const own = memberOf(tool, 'function')
  if (isObject(own) && typeof own['model'] === 'string') return { description: 'Answers questions', ...own }
  return { description: 'Answers questions', model: getAt(body, fields['model'] ?? '/model') }
}

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=='

/** What stands where a body lacks something that is above a member of the record: an llm tool, parts of a content, the record's example. */
export function examplesFor(run: Run, operation: OperationId, body: unknown): Examples {
  return (member, above) => {
    if (operation === 'chat.create' && member.at === '/tools')
      return [{ type: 'llm', function: llmFunction(run, body) }]
    if (member.at === '{query_config}') return {}
    if (above === undefined) return getAt(member.example, member.at)
    if (typeof above !== 'string' || !member.at.startsWith('/messages/*/content/*')) return undefined
    return member.ofType === 'image_url'
      ? [{ type: 'image_url', image_url: { url: pixel } }]
      : [{ type: 'text', text: above }]
  }
}
