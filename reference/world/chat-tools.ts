import { isAbsent, isMembers, jsonType, type Call, type Members } from './call.ts'
import { checkGraphAccess, checkQueryConfig } from './graphs.ts'
import { isSettling } from './settling.ts'

const choices = new Set(['auto', 'none', 'required'])

function checkTool(call: Call, tool: unknown, at: number): void {
  const malformed = (description: string, kind: string) =>
    call.refuse('400-malformed-tools', 400, 'InvalidContentType', {
      description,
      kind: at > 0 ? [kind, 'second'] : [kind],
    })
  if (!isMembers(tool)) return malformed('A tool is an object', 'item')
  if (tool['type'] === undefined) return malformed('A tool has a type', 'no-type')
  if (typeof tool['type'] !== 'string') return malformed('The type of a tool is a string', 'type')
  const { function: own } = tool
  if (isMembers(own) && Object.keys(own).length === 0) return malformed('A function has members', 'empty-function')
  if (!isMembers(tool['function'])) return malformed('A tool has a function', 'function')
  const { model, description, query_config: config } = tool['function']
  if (tool['type'] === 'llm') {
    if (model === undefined) return malformed('An llm tool has a model', 'no-model')
    if (typeof model !== 'string') return malformed('model is a string', 'model-type')
    if (typeof description !== 'string' && !isAbsent(description)) {
      return malformed('description is a string', 'description-type')
    }
  }
  if (tool['type'] === 'graph') checkQueryConfig(call, config, '200-query-config')
}

/** Checks `tools` and `tool_choice` (§2.8). */
export function checkTools(call: Call): void {
  const { tools, tool_choice: choice } = call.body
  if (!isAbsent(tools) && !Array.isArray(tools)) {
    return call.refuse('400-malformed-tools', 400, 'InvalidContentType', {
      description: 'tools is an array',
      kind: jsonType(tools),
    })
  }
  if (Array.isArray(tools)) for (const [at, tool] of tools.entries()) checkTool(call, tool, at)
  if (isAbsent(choice)) return
  if (!(typeof choice === 'string' && choices.has(choice)) && !isMembers(choice)) {
    call.refuse('400-malformed-tool-choice', 400, 'InvalidContentType', { kind: jsonType(choice) })
  }
  if (call.broken('200-tool-choice-auto') && choice === 'auto' && Array.isArray(tools)) {
    call.reject(400, 'InvalidContentType', 'tool_choice is required')
  }
}

/** Checks that the key may have the graphs asked which the tools name (§5.3). */
export function checkGraphs(call: Call): void {
  const { tools } = call.body
  for (const tool of Array.isArray(tools) ? (tools as Members[]) : []) {
    const ids: unknown = isMembers(tool['function']) ? tool['function']['graph_ids'] : undefined
    for (const id of Array.isArray(ids) ? (ids as unknown[]) : []) {
      const graph = call.world.store.graphs.get(String(id))
      if (!graph || isSettling(call.world, 'graphs', graph))
        return call.reject(404, 'ResourceNotFound', 'No such graph')
      checkGraphAccess(call, graph)
    }
  }
}

/** The llm tool of the request, if it has one; the reference always lets it run. */
export function llmToolOf(call: Call): Members | undefined {
  const { tools, tool_choice: choice } = call.body
  if (!Array.isArray(tools) || choice === 'none') return undefined
  return (tools as Members[]).find((tool) => tool['type'] === 'llm')
}
