import { requirementsOf, validRequest } from './needs.ts'
import { scenario } from './requirement.ts'
import { anyBadRequest, oversized } from './pairs.ts'
import { insideCases, outsideCases } from './query-config.ts'

// oxfmt-ignore
export const graphsCreate = requirementsOf('graphs.create', ({ valid, role }) => [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, expects: '2xx',
    statement: 'The creation of a graph is answered by a 2xx.',
    control: true, judgedLast: true, effect: 'creates' },
  { id: '2xx-usable', level: 'must', section: '4.4', needs: [...valid, ['/operations/graphs.query/body', '/operations/graphs.add-file/body']],
    statement: 'A created graph can be queried, and a file be added to it, at the latest settleMs later, and again at the end of the run: not 404, 410 or a 5xx.',
    seenBy: ['graphs.query', 'graphs.add-file'], effect: 'creates', generates: 7, alsoSends: { 'graphs.query': 15, 'graphs.add-file': 15, 'files.upload': 1 } },
  { id: '2xx-own-id', level: 'must', section: '4.4', needs: [...valid, role('id')], expects: '2xx',
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

// oxfmt-ignore
export const graphsAddFile = requirementsOf('graphs.add-file', ({ valid }) => [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, expects: '2xx',
    statement: 'The addition of a file to a graph is answered by a 2xx.',
    control: true, judgedLast: true, effect: 'creates' },
  { id: '400-unsupported-type', level: 'must', section: '7.3', needs: [scenario], expects: [[400, 'BadRequest']],
    statement: 'A file of a type that graphs do not support is answered 400 BadRequest.' },
  { id: '400-unparsable', level: 'must', section: '7.3', needs: [scenario], expects: [[400, 'InvalidInputParameters']],
    statement: 'A file whose content cannot be parsed is answered 400 InvalidInputParameters.' },
  { id: '2xx-other-graph', level: 'should', section: '7.3', needs: [...valid, ...validRequest['graphs.create']],
    statement: 'A file that is in one graph can be added to another: that is not answered 409, and the file stays in the first.',
    seenBy: ['graphs.create'], effect: 'creates', maxRequests: 14, alsoSends: { 'graphs.create': 1 } },
  { id: '403-graph-access', level: 'must', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'A graph to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '403-file-access', level: 'must', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'The addition of a file to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '404-unknown-graph', level: 'must', section: '7.3', needs: valid, expects: [[404, 'ResourceNotFound']],
    statement: 'An addition to a graph that does not exist is answered 404 ResourceNotFound.',
    maxRequests: 5 },
  { id: '409-already-in-graph', level: 'must', section: '7.3', needs: valid, expects: [[409, 'BadRequest']],
    statement: 'The addition of a file that is in the graph already is answered 409 BadRequest, the second time and each one after that.',
    fault: 'state', effect: 'creates', maxRequests: 14, alsoSends: { 'files.list': 3 } },
  { id: '4xx-no-effect', level: 'must', section: '5, 7.2, 7.3', needs: valid, expects: '2xx',
    statement: 'An addition that is refused adds nothing: the same one with the full key is granted.',
    effect: 'creates', maxRequests: 16 },
  { id: '409-atomic', level: 'should', section: '7.3', needs: valid, expects: [[409, 'BadRequest']],
    statement: 'Of four additions of one file that are sent at once at most one is granted.',
    fault: 'state', effect: 'creates', maxRequests: 6, alsoSends: { 'files.list': 4 } },
])

// oxfmt-ignore
export const graphsQuery = requirementsOf('graphs.query', ({ valid, role }) => [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, expects: '2xx',
    statement: 'A query of a graph is answered by a 2xx.',
    control: true, effect: 'generates', maxRequests: 2, generates: 1 },
  { id: '2xx-query-config', level: 'must', section: '2.7', needs: [...valid, role('query_config')], expects: '2xx',
    statement: 'A query_config inside its bounds is accepted.',
    effect: 'generates', maxRequests: { named: insideCases, generated: 'granted' }, generates: { named: insideCases, generated: 'granted' } },
  { id: '400-query-config', level: 'must', section: '2.7, 7.2', needs: [...valid, role('query_config')], expects: anyBadRequest,
    statement: 'A query_config outside its bounds is answered 400 BadRequest, InvalidInputParameters or InvalidContentType.',
    maxRequests: outsideCases },
  { id: '400-malformed-parameters', level: 'must', section: '7.3', needs: [...valid, role('query')], expects: [[400, 'BadRequest']],
    statement: 'A query that is no string is answered 400 BadRequest.',
    maxRequests: 3 },
  { id: '400-too-complex', level: 'must', section: '7.3', needs: [scenario], expects: oversized,
    statement: 'A query over the complexity limits is answered 400 InvalidInputParameters, or 413 BadRequest, PayloadTooLarge or InvalidInputParameters.' },
  { id: '403-graph-access', level: 'must', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'A graph to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '404-unknown-graph', level: 'must', section: '7.3', needs: valid, expects: [[404, 'ResourceNotFound']],
    statement: 'A query of a graph that does not exist is answered 404 ResourceNotFound.',
    maxRequests: 5 },
])
