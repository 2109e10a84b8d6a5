import type { Call } from '../world/call.ts'
import { checkGraphAccess, findGraph, checkQueryConfig } from '../world/files.ts'
import { generated } from '../world/models.ts'
import type { Operation } from '../world/operation.ts'
import { queryComplexity } from '../world/plan.ts'
import type { Graph } from '../world/world.ts'

function check(call: Call): void {
  const { query, query_config: config } = call.body
  if (typeof query !== 'string') call.refuse('400-malformed-parameters', 400, 'BadRequest')
  checkQueryConfig(call, config, '2xx-query-config')
  if ((query.match(/\b(AND|OR|NOT)\b/g) ?? []).length > queryComplexity) {
    call.refuse('400-too-complex', 400, 'InvalidInputParameters', { description: 'Too many operators' })
  }
}

/** A client that has seen another version of the graph is told so (§7.2, version conflict). */
function fit(call: Call, graph: Graph): void {
  const expected = call.request.header('if-match')
  if (call.varied('graphs/empty-not-queried') && graph.made && graph.files.size === 0) {
    call.reject(422, 'UnprocessableEntity', 'The graph is empty')
  }
  if (expected !== undefined && expected !== graph.version) call.refuse('general/409-conflict', 409, 'Conflict')
}

/** §4.4, §2.7 */
export const graphsQuery: Operation<Graph> = {
  id: 'graphs.query',
  method: 'POST',
  paths: ['/v1/knowledge-graphs/:graph_id/query'],
  body: 'json',
  members: ['query', 'query_config'],
  find: findGraph,
  access: checkGraphAccess,
  check,
  fit,
  run: (call, graph) => {
    const answer = generated(call, `${graph.name} holds ${graph.files.size} files.`)
    return { status: 200, body: { answer, sources: [], references: {} } }
  },
  grant: () => ({ status: 200, body: { answer: '', sources: [], references: {} } }),
}
