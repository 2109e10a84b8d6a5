import { unknown } from '../harness/checks/conditions.ts'
import { accepted } from '../harness/checks/granted.ts'
import { suite } from '../harness/checks/suite.ts'
import { judgeOtherGraph } from './graphs/other-graph.ts'
import { addSameFileTwice } from './graphs/add-same-file-twice.ts'

// Add a file to a graph (§4.4, §7.3)

export const graphsAddFile = suite('graphs.add-file', {
  '2xx-accepted': accepted,
  '2xx-other-graph': judgeOtherGraph,
  '404-unknown-graph': unknown('graph_id'),
  '409-already-in-graph': addSameFileTwice,
})
