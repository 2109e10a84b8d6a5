import { field, validRequest } from './needs.ts'
import { rows, scenario } from './row.ts'

const valid = validRequest['applications.create']

// prettier-ignore
export const applicationsCreate = rows('applications.create', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, gives: '2xx',
    says: 'The creation of an application is answered by a 2xx.',
    control: true, judgedLast: true, effect: 'creates' },
  { id: '2xx-usable', level: 'must', section: '4.4', needs: valid,
    says: 'A job can be created on a created application, at the latest settleMs later, and again at the end of the run: not 404, 410 or a 5xx.',
    seenBy: ['jobs.create'], effect: 'creates', generates: 7, alsoSends: { 'jobs.create': 15 } },
  { id: '2xx-own-id', level: 'must', section: '4.4', needs: [...valid, field('applications.create', 'id')], gives: '2xx',
    says: 'No two creations give one id, also when they are sent at once.',
    effect: 'creates', maxRequests: 4, alsoSends: { 'files.list': 4 } },
  { id: '4xx-no-effect', level: 'must', section: '5, 7.2, 7.3', needs: valid, gives: '2xx',
    says: 'A creation that is refused makes nothing: the same one with the full key is granted.',
    effect: 'creates', maxRequests: 18 },
  { id: '400-atomic', level: 'should', section: '7.3', needs: valid, gives: [[400, 'BadRequest']],
    says: 'Of four creations with one name that are sent at once at most one is granted.',
    fault: 'state', effect: 'creates', maxRequests: 4, alsoSends: { 'files.list': 4 } },
  { id: '400-malformed-parameters', level: 'must', section: '7.3', needs: valid, gives: [[400, 'BadRequest']],
    says: 'A creation whose name is no string is answered 400 BadRequest.',
    maxRequests: 4 },
  { id: '400-invalid-blueprint', level: 'must', section: '7.3', needs: [scenario], gives: [[400, 'InvalidInputParameters']],
    says: 'A blueprint with a syntax or configuration error is answered 400 InvalidInputParameters.' },
  { id: '400-duplicate-name', level: 'must', section: '7.3', needs: valid, gives: [[400, 'BadRequest']],
    says: 'An application of a name that exists is answered 400 BadRequest, the second time and each one after that.',
    effect: 'creates', maxRequests: 5 },
])
