import { oversized } from './answers.ts'
import { field, validRequest } from './needs.ts'
import { rows, scenario } from './row.ts'

const valid = validRequest['web-search.run']
const role = (name: string): string => field('web-search.run', name)

// prettier-ignore
export const webSearchRun = rows('web-search.run', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, gives: '2xx',
    says: 'A valid request is answered by a 2xx.',
    control: true, maxRequests: 1 },
  { id: '400-empty-query', level: 'must', section: '7.3', needs: [...valid, role('query')], gives: [[400, 'BadRequest']],
    says: 'An empty query is answered 400 BadRequest.' },
  { id: '400-malformed-query', level: 'must', section: '7.3', needs: [...valid, role('query')], gives: [[400, 'BadRequest']],
    says: 'A query that is no string is answered 400 BadRequest.',
    maxRequests: 3 },
  { id: '400-query-too-long', level: 'must', section: '7.3, 8', needs: [scenario], gives: oversized,
    says: 'A query over the maximum length is answered 400 InvalidInputParameters, or 413 BadRequest, PayloadTooLarge or InvalidInputParameters.' },
  { id: '503-search-down', level: 'must', section: '7.3', needs: [scenario], gives: [[503, 'InternalError']],
    says: 'While the external search service is down, a request is answered 503 InternalError.' },
])
