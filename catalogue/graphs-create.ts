import { field, validRequest } from './needs.ts'
import { requirements, scenario } from './requirement.ts'

const valid = validRequest['graphs.create']

// prettier-ignore
export const graphsCreate = requirements('graphs.create', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, expects: '2xx',
    statement: 'The creation of a graph is answered by a 2xx.',
    control: true, judgedLast: true, effect: 'creates' },
  { id: '2xx-usable', level: 'must', section: '4.4', needs: [...valid, ['/operations/graphs.query/body', '/operations/graphs.add-file/body']],
    statement: 'A created graph can be queried, and a file be added to it, at the latest settleMs later, and again at the end of the run: not 404, 410 or a 5xx.',
    seenBy: ['graphs.query', 'graphs.add-file'], effect: 'creates', generates: 7, alsoSends: { 'graphs.query': 15, 'graphs.add-file': 15, 'files.upload': 1 } },
  { id: '2xx-own-id', level: 'must', section: '4.4', needs: [...valid, field('graphs.create', 'id')], expects: '2xx',
    statement: 'No two creations give one id, also when they are sent at once.',
    effect: 'creates', maxRequests: 4, alsoSends: { 'files.list': 4 } },
  { id: '4xx-no-effect', level: 'must', section: '5, 7.2, 7.3', needs: valid, expects: '2xx',
    statement: 'A creation that is refused makes nothing: the same one with the full key is granted.',
    effect: 'creates', maxRequests: 16 },
  { id: '400-atomic', level: 'should', section: '7.3', needs: valid, expects: [[400, 'BadRequest']],
    statement: 'Of four creations with one name that are sent at once at most one is granted.',
    fault: 'state', effect: 'creates', maxRequests: 4, alsoSends: { 'files.list': 4 } },
  { id: '400-malformed-parameters', level: 'must', section: '7.3', needs: valid, expects: [[400, 'BadRequest']],
    statement: 'A creation whose name is no string is answered 400 BadRequest.',
    maxRequests: 4 },
  { id: '400-invalid-name', level: 'must', section: '7.3', needs: [scenario], expects: [[400, 'InvalidInputParameters']],
    statement: 'A name with invalid characters is answered 400 InvalidInputParameters.' },
  { id: '400-duplicate-name', level: 'must', section: '7.3', needs: valid, expects: [[400, 'BadRequest']],
    statement: 'A graph of a name that exists is answered 400 BadRequest, the second time and each one after that.',
    effect: 'creates', maxRequests: 5 },
])
