import { oversized } from './pairs.ts'
import { field, validRequest } from './needs.ts'
import { requirements, scenario } from './requirement.ts'

const valid = validRequest['ai-detect.run']
const role = (name: string): string => field('ai-detect.run', name)

// prettier-ignore
export const aiDetectRun = requirements('ai-detect.run', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, expects: '2xx',
    statement: 'A valid request is answered by a 2xx.',
    control: true, maxRequests: 1 },
  { id: '400-empty-text', level: 'must', section: '7.3', needs: [...valid, role('text')], expects: [[400, 'BadRequest']],
    statement: 'An empty text is answered 400 BadRequest.' },
  { id: '400-malformed-text', level: 'must', section: '7.3', needs: [...valid, role('text')], expects: [[400, 'BadRequest']],
    statement: 'A text that is no string is answered 400 BadRequest.',
    maxRequests: 3 },
  { id: '400-text-too-long', level: 'must', section: '7.3, 8', needs: [scenario], expects: oversized,
    statement: 'A text over the maximum length is answered 400 InvalidInputParameters, or 413 BadRequest, PayloadTooLarge or InvalidInputParameters.' },
])
