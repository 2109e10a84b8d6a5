import { oversized } from './pairs.ts'
import { field, validRequest } from './needs.ts'
import { requirements, scenario } from './requirement.ts'

const valid = validRequest['translate.run']
const role = (name: string): string => field('translate.run', name)

// prettier-ignore
export const translateRun = requirements('translate.run', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, expects: '2xx',
    statement: 'A valid request is answered by a 2xx.',
    control: true, effect: 'generates', maxRequests: 1, generates: 1 },
  { id: '400-unsupported-language', level: 'must', section: '7.3', needs: [...valid, [role('source'), role('target')]], expects: [[400, 'BadRequest']],
    statement: 'An unsupported source or target language is answered 400 BadRequest.',
    maxRequests: 12 },
  { id: '400-empty-text', level: 'must', section: '7.3', needs: [...valid, role('text')], expects: [[400, 'InvalidInputParameters']],
    statement: 'An empty text is answered 400 InvalidInputParameters.' },
  { id: '400-malformed-text', level: 'must', section: '7.3', needs: [...valid, role('text')], expects: [[400, 'InvalidInputParameters', 'BadRequest']],
    statement: 'A text that is no string is answered 400 InvalidInputParameters or BadRequest.',
    maxRequests: 3 },
  { id: '400-text-too-long', level: 'must', section: '7.3, 8', needs: [scenario], expects: oversized,
    statement: 'A text over the maximum length is answered 400 InvalidInputParameters, or 413 BadRequest, PayloadTooLarge or InvalidInputParameters.' },
  { id: '503-unavailable', level: 'must', section: '7.3', needs: [scenario], expects: [[503, 'InternalError']],
    statement: 'While translation is unavailable, a request is answered 503 InternalError.' },
])
