import { validRequest } from './needs.ts'
import { requirements, scenario } from './requirement.ts'

const valid = validRequest['graphs.add-file']

// prettier-ignore
export const graphsAddFile = requirements('graphs.add-file', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, expects: '2xx',
    statement: 'The addition of a file to a graph is answered by a 2xx.',
    control: true, effect: 'creates' },
  { id: '400-unsupported-type', level: 'must', section: '7.3', needs: [scenario], expects: [[400, 'BadRequest']],
    statement: 'A file of a type that graphs do not support is answered 400 BadRequest.' },
  { id: '400-unparsable', level: 'must', section: '7.3', needs: [scenario], expects: [[400, 'InvalidInputParameters']],
    statement: 'A file whose content cannot be parsed is answered 400 InvalidInputParameters.' },
  { id: '2xx-other-graph', level: 'should', section: '7.3', needs: [...valid, ...validRequest['graphs.create']],
    statement: 'A file that is in one graph can be added to another: that is not answered 409.',
    seenBy: ['graphs.create'], effect: 'creates', maxRequests: 6, alsoSends: { 'graphs.create': 1 } },
  { id: '403-graph-access', level: 'must', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'A graph to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '403-file-access', level: 'must', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'The addition of a file to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '404-unknown-graph', level: 'must', section: '7.3', needs: valid, expects: [[404, 'ResourceNotFound']],
    statement: 'An addition to a graph that does not exist is answered 404 ResourceNotFound.',
    maxRequests: 5 },
  { id: '409-already-in-graph', level: 'must', section: '7.3', needs: valid, expects: [[409, 'BadRequest']],
    statement: 'The addition of a file that is in the graph already is answered 409 BadRequest, the second time and each one after that.',
    fault: 'state', effect: 'creates', maxRequests: 7 },
  { id: '4xx-no-effect', level: 'must', section: '5, 7.2, 7.3', needs: valid, expects: '2xx',
    statement: 'An addition that is refused adds nothing: the same one with the full key is granted.',
    effect: 'creates', maxRequests: 16 },
  { id: '409-atomic', level: 'should', section: '7.3', needs: valid, expects: [[409, 'BadRequest']],
    statement: 'Of four additions of one file that are sent at once at most one is granted.',
    fault: 'state', effect: 'creates', maxRequests: 6, alsoSends: { 'files.list': 4 } },
])
