import { field, validRequest } from './needs.ts'
import { must, staged } from './row.ts'

const creation = validRequest['graphs.create']
const addition = validRequest['graphs.add-file']
const query = validRequest['graphs.query']
const queryConfig = field('graphs.query', 'query_config')

// prettier-ignore
export const graphs = [
  must('graphs.create/2xx-accepted', '4.4', 'The creation of a graph is answered by a 2xx.', creation, 'creates'),
  must('graphs.create/400-malformed-parameters', '7.3', 'A creation whose name is absent or no string is answered 400 BadRequest.', creation),
  staged('graphs.create/400-invalid-name', '7.3', 'A name with invalid characters is answered 400 InvalidInputParameters.'),
  must('graphs.create/400-duplicate-name', '7.3', 'A second graph of the same name is answered 400 BadRequest.', creation, 'creates'),
  must('graphs.add-file/2xx-accepted', '4.4', 'The addition of a file to a graph is answered by a 2xx.', addition, 'creates'),
  staged('graphs.add-file/400-unsupported-type', '7.3', 'A file of a type that graphs do not support is answered 400 BadRequest.'),
  staged('graphs.add-file/400-unparsable', '7.3', 'A file whose content cannot be parsed is answered 400 InvalidInputParameters.'),
  staged('graphs.add-file/403-graph-access', '5', 'A graph to which the key has no access is answered 403 InsufficientAccessRights.'),
  must('graphs.add-file/404-unknown-graph', '7.3', 'An addition to a graph that does not exist is answered 404 ResourceNotFound.', addition),
  must('graphs.add-file/409-already-in-graph', '7.3', 'The addition of a file that is in the graph already is answered 409 BadRequest.', addition, 'creates'),
  must('graphs.query/2xx-accepted', '4.4', 'A query of a graph is answered by a 2xx.', query, 'generates'),
  must('graphs.query/2xx-query-config', '2.7', 'A query_config inside its bounds is accepted.', [...query, queryConfig], 'generates'),
  must('graphs.query/400-query-config', '2.7, 7.2', 'A query_config outside its bounds is answered 400 BadRequest, InvalidInputParameters or InvalidContentType.', [...query, queryConfig]),
  must('graphs.query/400-malformed-parameters', '7.3', 'A query that is no string is answered 400 BadRequest.', [...query, field('graphs.query', 'query')]),
  staged('graphs.query/400-too-complex', '7.3', 'A query over the complexity limits is answered 400 InvalidInputParameters, or 413 BadRequest or PayloadTooLarge.'),
  staged('graphs.query/403-graph-access', '5', 'A graph to which the key has no access is answered 403 InsufficientAccessRights.'),
  must('graphs.query/404-unknown-graph', '7.3', 'A query of a graph that does not exist is answered 404 ResourceNotFound.', query),
]
