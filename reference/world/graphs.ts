import type { Call } from './call.ts'
import { breakUse, isSettling } from './settling.ts'
import type { Graph } from './store.ts'

/** The graph that the path names (§7.3). */
export function findGraph(call: Call): Graph {
  const graph = call.world.store.graphs.get(call.param('graph_id'))
  if (!graph) return call.refuse('404-unknown-graph', 404, 'ResourceNotFound')
  if (isSettling(call.world, 'graphs', graph)) call.reject(404, 'ResourceNotFound')
  breakUse(call, 'graphs.create/2xx-usable', graph)
  return graph
}

export function checkGraphAccess(call: Call, graph: Graph): void {
  if (graph.account !== call.key?.account) call.refuse('403-graph-access', 403, 'InsufficientAccessRights')
}
