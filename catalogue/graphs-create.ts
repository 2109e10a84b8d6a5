import { validRequest } from './needs.ts'
import { rows, scenario } from './row.ts'

const valid = validRequest['graphs.create']

// prettier-ignore
export const graphsCreate = rows('graphs.create', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, gives: '2xx',
    says: 'The creation of a graph is answered by a 2xx.',
    control: true, judgedLast: true, effect: 'creates' },
  { id: '2xx-usable', level: 'must', section: '4.4', needs: [...valid, ['/operations/graphs.query/body', '/operations/graphs.add-file/body']],
    says: 'A created graph can be queried, or a file be added to it, at the latest settleMs later: not 404, 410 or a 5xx.',
    effect: 'creates', generates: 1, alsoSends: { 'graphs.query': 3 } },
  { id: '400-malformed-parameters', level: 'must', section: '7.3', needs: valid, gives: [[400, 'BadRequest']],
    says: 'A creation whose name is no string is answered 400 BadRequest.',
    maxRequests: 4 },
  { id: '400-invalid-name', level: 'must', section: '7.3', needs: [scenario], gives: [[400, 'InvalidInputParameters']],
    says: 'A name with invalid characters is answered 400 InvalidInputParameters.' },
  { id: '400-duplicate-name', level: 'must', section: '7.3', needs: valid, gives: [[400, 'BadRequest']],
    says: 'A second graph of the same name is answered 400 BadRequest.',
    effect: 'creates', maxRequests: 2 },
])
