import { anyBadRequest } from './answers.ts'
import { field, validRequest } from './needs.ts'
import { rows } from './row.ts'

const valid = validRequest['medical.comprehend']

// prettier-ignore
export const medicalComprehend = rows('medical.comprehend', [
  { id: '200-entities', level: 'must', section: '2.8', needs: valid, gives: '2xx',
    says: 'A request with response_type Entities is answered by a 2xx whose entities have category, text, score and traits.',
    control: true, maxRequests: 1 },
  { id: '400-malformed-request', level: 'should', section: '2.8, 7.2', needs: [...valid, field('medical.comprehend', 'content')], gives: anyBadRequest,
    says: 'A content that is no string is answered 400.',
    maxRequests: 3 },
])
