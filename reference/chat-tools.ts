import { isMembers, jsonType, type Call, type Members } from './call.ts'
import { checkQueryConfig } from './query-config.ts'

const choices = new Set(['auto', 'none', 'required'])

function checkTool(call: Call, tool: unknown): void {
  const malformed = (description: string, kind: string) =>
    call.refuse('400-malformed-tools', 400, 'InvalidContentType', { description, kind })
  if (!isMembers(tool)) return malformed('A tool is an object', 'item')
  if (typeof tool['type'] !== 'string') return malformed('A tool has a type', 'type')
  if (!isMembers(tool['function'])) return malformed('A tool has a function', 'function')
  if (tool['type'] === 'graph') checkQueryConfig(call, tool['function']['query_config'], '200-query-config')
}

/** Checks `tools` and `tool_choice` (§2.8). */
export function checkTools(call: Call): void {
  const { tools, tool_choice: choice } = call.body
  const absent = tools === undefined || tools === null
  if (!absent && !Array.isArray(tools)) {
    return call.refuse('400-malformed-tools', 400, 'InvalidContentType', {
      description: 'tools is an array',
      kind: jsonType(tools),
    })
  }
  if (Array.isArray(tools)) for (const tool of tools) checkTool(call, tool)
  if (choice === undefined || choice === null) return
  if (!(typeof choice === 'string' && choices.has(choice)) && !isMembers(choice)) {
    call.refuse('400-malformed-tool-choice', 400, 'InvalidContentType', { kind: jsonType(choice) })
  }
  if (call.broken('200-tool-choice-auto') && choice === 'auto' && Array.isArray(tools)) {
    call.reject(400, 'InvalidContentType', 'tool_choice is required')
  }
}

/** The llm tool of the request, if it has one; the reference always lets it run. */
export function llmToolOf(call: Call): Members | undefined {
  const { tools, tool_choice: choice } = call.body
  if (!Array.isArray(tools) || choice === 'none') return undefined
  return (tools as Members[]).find((tool) => tool['type'] === 'llm')
}
