import { accepted } from './checks/granted.ts'
import { byRecord, unknown } from './checks/faults.ts'
import { suite } from './checks/suite.ts'
import {
  noEffect,
  noDuplicateAtOnce,
  noDuplicate,
  ownId,
  relation,
  usable,
} from './created/drive.ts'
import { insideBounds } from './query-config.ts'

// Create a graph (§4.4, §7.3)

export const graphsCreate = suite('graphs.create', () => ({
  '2xx-accepted': accepted,
  '2xx-usable': relation(usable),
  '2xx-own-id': relation(ownId),
  '4xx-no-effect': noEffect(),
  '400-atomic': relation(noDuplicateAtOnce),
  '400-malformed-parameters': byRecord(),
  '400-duplicate-name': relation(noDuplicate),
}))

// Add a file to a graph (§4.4, §7.3)

export const graphsAddFile = suite('graphs.add-file', () => ({
  '2xx-accepted': accepted,
  '4xx-unknown-file': byRecord(),
  '404-unknown-graph': unknown('graph_id'),
  '4xx-no-effect': noEffect(),
  '409-already-in-graph': relation(noDuplicate),
}))

// Query a graph (§2.7, §4.4, §7.3)

export const graphsQuery = suite('graphs.query', () => ({
  '2xx-accepted': accepted,
  '2xx-query-config': insideBounds(),
  '400-query-config': byRecord(),
  '400-malformed-parameters': byRecord(),
  '404-unknown-graph': unknown('graph_id'),
}))
