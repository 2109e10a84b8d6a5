import { accepted } from '../harness/checks/granted.ts'
import { suite } from '../harness/checks/suite.ts'
import { judgeUsableGraph } from './graphs/usable-graph.ts'
import { duplicateName, malformedName } from './names.ts'

// Create a graph (§4.4, §7.3)

export const graphsCreate = suite('graphs.create', {
  '2xx-accepted': accepted,
  '2xx-usable': judgeUsableGraph,
  '400-malformed-parameters': malformedName,
  '400-duplicate-name': duplicateName,
})
