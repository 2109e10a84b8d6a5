import { isOperationId, type OperationId } from '../../catalogue/operations.ts'
import type { Need } from '../../catalogue/requirement.ts'
import { mergePatch } from './merge-patch.ts'
import { tokensOf } from '../../schemas/pointer.ts'
import {
  bodyExamples,
  contentExample,
  graphTool,
  keyExamples,
  memberExamples,
  pointerExamples,
  resourceExamples,
} from './examples.ts'
import { scenarioExample } from './scenario-examples.ts'

/** A target file that declares the needs (the first alternative of each): JSON on one line, to be pasted into one. */
export function snippetOf(needs: readonly Need[]): string {
  return spaced(needs.map(exampleFile).reduce(mergePatch, {}))
}

function exampleFile(need: Need): unknown {
  const [member = '', name = '', part, ...rest] = tokensOf([need].flat()[0] ?? '')
  return { [member]: { [name]: exampleOf(member, name, part, rest[0]) } }
}

function exampleOf(member: string, name: string, part: string | undefined, last: string | undefined): unknown {
  if (member === 'keys') return { env: keyExamples[name] ?? 'NAME' }
  if (member === 'scenarios') return scenarioExample([name, ...(part === undefined ? [] : [part])].join('/'))
  if (member === 'operations' && isOperationId(name)) return operationExample(name, part, last)
  const resource = resourceExamples[name]
  return part === 'requiredInputs' ? { ...(resource as object), requiredInputs: ['<input id>'] } : resource
}

function operationExample(operation: OperationId, part: string | undefined, last: string | undefined): unknown {
  const body = bodyExamples[operation]
  if (body === undefined) return contentExample
  if (part === 'body' && last !== undefined) return { body: { ...body, [last]: memberExamples[last] ?? {} } }
  if (part !== 'fields' || last === undefined) return { body }
  const pointer = pointerExamples[`${operation} ${last}`] ?? `/${last}`
  // Of a body that is declared nothing is repeated, but for what the pointer leads through.
  const tools = pointer.startsWith('/tools/') ? { body: { ...body, tools: [graphTool] } } : {}
  return { ...tools, fields: { [last]: pointer } }
}

/** JSON on one line with a blank after each colon and comma. */
function spaced(value: unknown): string {
  return JSON.stringify(value, null, 1)
    .replaceAll(/\n */g, ' ')
    .replaceAll(/([{[]) | (?=[}\]])/g, '$1')
}
