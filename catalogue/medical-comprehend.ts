import { anyBadRequest } from './pairs.ts'
import { field, validRequest } from './needs.ts'
import { requirements } from './requirement.ts'

const valid = validRequest['medical.comprehend']

// prettier-ignore
export const medicalComprehend = requirements('medical.comprehend', [
  { id: '200-entities', level: 'must', section: '2.8', needs: valid, expects: '2xx',
    statement: 'A request with response_type Entities is answered by a 2xx whose entities have category, text, score and traits.',
    control: true, maxRequests: 1 },
  { id: '400-malformed-request', level: 'should', section: '2.8, 7.2', needs: [...valid, field('medical.comprehend', 'content')], expects: anyBadRequest,
    statement: 'A content that is no string is answered 400.',
    maxRequests: 3 },
])
