import { oversized } from './pairs.ts'
import { field, validRequest } from './needs.ts'
import { requirements, scenario } from './requirement.ts'

const valid = validRequest['web-search.run']
const role = (name: string): string => field('web-search.run', name)

// prettier-ignore
export const webSearchRun = requirements('web-search.run', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, expects: '2xx',
    statement: 'A valid request is answered by a 2xx.',
    control: true, maxRequests: 1 },
  { id: '400-empty-query', level: 'must', section: '7.3', needs: [...valid, role('query')], expects: [[400, 'BadRequest']],
    statement: 'An empty query is answered 400 BadRequest.' },
  { id: '400-malformed-query', level: 'must', section: '7.3', needs: [...valid, role('query')], expects: [[400, 'BadRequest']],
    statement: 'A query that is no string is answered 400 BadRequest.',
    maxRequests: 3 },
  { id: '400-query-too-long', level: 'must', section: '7.3, 8', needs: [scenario], expects: oversized,
    statement: 'A query over the maximum length is answered 400 InvalidInputParameters, or 413 BadRequest, PayloadTooLarge or InvalidInputParameters.' },
  { id: '503-search-down', level: 'must', section: '7.3', needs: [scenario], expects: [[503, 'InternalError']],
    statement: 'While the external search service is down, a request is answered 503 InternalError.' },
])
