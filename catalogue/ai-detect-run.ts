import { oversized } from './answers.ts'
import { field, validRequest } from './needs.ts'
import { rows, scenario } from './row.ts'

const valid = validRequest['ai-detect.run']
const role = (name: string): string => field('ai-detect.run', name)

// prettier-ignore
export const aiDetectRun = rows('ai-detect.run', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, gives: '2xx',
    says: 'A valid request is answered by a 2xx.',
    control: true, maxRequests: 1 },
  { id: '400-empty-text', level: 'must', section: '7.3', needs: [...valid, role('text')], gives: [[400, 'BadRequest']],
    says: 'An empty text is answered 400 BadRequest.' },
  { id: '400-malformed-text', level: 'must', section: '7.3', needs: [...valid, role('text')], gives: [[400, 'BadRequest']],
    says: 'A text that is no string is answered 400 BadRequest.',
    maxRequests: 3 },
  { id: '400-text-too-long', level: 'must', section: '7.3, 8', needs: [scenario], gives: oversized,
    says: 'A text over the maximum length is answered 400 InvalidInputParameters, or 413 BadRequest, PayloadTooLarge or InvalidInputParameters.' },
])
