import { anyBadRequest, oversized } from './pairs.ts'
import { field, validRequest } from './needs.ts'
import { insideCases, outsideCases } from './query-config.ts'
import { requirements, scenario } from './requirement.ts'

const valid = validRequest['graphs.query']
const role = (name: string): string => field('graphs.query', name)

// prettier-ignore
export const graphsQuery = requirements('graphs.query', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, expects: '2xx',
    statement: 'A query of a graph is answered by a 2xx.',
    control: true, effect: 'generates', maxRequests: 1, generates: 1 },
  { id: '2xx-query-config', level: 'must', section: '2.7', needs: [...valid, role('query_config')], expects: '2xx',
    statement: 'A query_config inside its bounds is accepted.',
    effect: 'generates', maxRequests: { named: insideCases, generated: 'granted' }, generates: { named: insideCases, generated: 'granted' } },
  { id: '400-query-config', level: 'must', section: '2.7, 7.2', needs: [...valid, role('query_config')], expects: anyBadRequest,
    statement: 'A query_config outside its bounds is answered 400 BadRequest, InvalidInputParameters or InvalidContentType.',
    maxRequests: outsideCases },
  { id: '400-malformed-parameters', level: 'must', section: '7.3', needs: [...valid, role('query')], expects: [[400, 'BadRequest']],
    statement: 'A query that is no string is answered 400 BadRequest.',
    maxRequests: 3 },
  { id: '400-too-complex', level: 'must', section: '7.3', needs: [scenario], expects: oversized,
    statement: 'A query over the complexity limits is answered 400 InvalidInputParameters, or 413 BadRequest, PayloadTooLarge or InvalidInputParameters.' },
  { id: '403-graph-access', level: 'must', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'A graph to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '404-unknown-graph', level: 'must', section: '7.3', needs: valid, expects: [[404, 'ResourceNotFound']],
    statement: 'A query of a graph that does not exist is answered 404 ResourceNotFound.',
    maxRequests: 5 },
])
