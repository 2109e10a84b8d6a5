import { unknown } from '../harness/checks/conditions.ts'
import { accepted } from '../harness/checks/granted.ts'
import { at, notText } from '../harness/checks/roles.ts'
import { suite } from '../harness/checks/suite.ts'
import { insideBounds, outsideBounds } from './query-config.ts'

// Query a graph (§2.7, §4.4, §7.3)

export const graphsQuery = suite('graphs.query', {
  '2xx-accepted': accepted,
  '2xx-query-config': insideBounds,
  '400-query-config': outsideBounds,
  '400-malformed-parameters': at('query', notText),
  '404-unknown-graph': unknown('graph_id', ['unknown', 'asked twice', 'cut', 'lengthened', 'of another kind']),
})
