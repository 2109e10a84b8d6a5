import { accepted, scenario, namedCreations, requirements, valid } from './requirement.ts'
import { anyBadRequest, oversized } from './expected.ts'

// oxfmt-ignore
export const graphsCreate = requirements('graphs.create', [
  accepted('Creating a graph'),
  { id: '2xx-usable', section: '4.4', needs: [valid, ['/operations/graphs.query/body', '/operations/graphs.add-file/body']],
    statement: 'A created graph takes queries and files at the latest settleMs later, and again at the end of the run: no 404, 410 or 5xx.',
    seenBy: ['graphs.query', 'graphs.add-file'], effect: 'creates', atMost: { requests: 1, generates: 7, also: { 'graphs.query': 15, 'graphs.add-file': 15, 'files.upload': 1 } } },
  ...namedCreations(16),
  { id: '400-invalid-name', section: '7.3', needs: [scenario], expects: [[400, 'InvalidInputParameters']], refused: 'A name with invalid characters' },
  { id: '400-duplicate-name', section: '7.3', needs: [valid], expects: [[400, 'BadRequest']],
    statement: 'A graph with a name that exists gets 400 BadRequest, every time.', effect: 'creates', atMost: { requests: 5 } },
])

// oxfmt-ignore
export const graphsAddFile = requirements('graphs.add-file', [
  accepted('Adding a file to a graph'),
  { id: '4xx-unknown-file', section: '7.2', needs: [valid, '{file}'], expects: [['4xx']],
    statement: 'Adding a file that does not exist or was deleted gets a 4xx (not 401 or 429) with an error envelope.', atMost: { requests: 1, also: { 'graphs.create': 1 } } },
  { id: '400-unsupported-type', section: '7.3', needs: [scenario], expects: [[400, 'BadRequest']], refused: 'A file of a type that graphs do not support' },
  { id: '400-unparsable', section: '7.3', needs: [scenario], expects: [[400, 'InvalidInputParameters']], refused: 'A file whose content cannot be parsed' },
  { id: '403-graph-access', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']], refused: 'A graph that the key may not access', times: 3 },
  { id: '403-file-access', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']], refused: 'Adding a file that the key may not access', times: 3 },
  { id: '404-unknown-graph', section: '7.3', needs: [valid], expects: [[404, 'ResourceNotFound']], refused: 'An addition to a graph that does not exist' },
  { id: '409-already-in-graph', section: '7.3', needs: [valid], expects: [[409, 'BadRequest']],
    statement: 'Adding a file that is in the graph already gets 409 BadRequest, every time.',
    fault: 'state', effect: 'creates', atMost: { requests: 25, also: { 'files.list': 3, 'graphs.create': 4 } } },
  { id: '4xx-no-effect', section: '5, 7.2, 7.3', needs: [valid], expects: '2xx',
    statement: 'A refused addition adds nothing: the same one with the full key is granted.', effect: 'creates', atMost: { requests: 16 } },
])

// oxfmt-ignore
export const graphsQuery = requirements('graphs.query', [
  accepted('Querying a graph'),
  { id: '2xx-query-config', section: '2.7', needs: [valid, '{query_config}'], expects: '2xx',
    statement: 'A query_config inside its bounds is accepted.',
    effect: 'generates' },
  { id: '400-query-config', section: '2.7, 7.2', needs: [valid, '{query_config}'], expects: anyBadRequest,
    refused: 'A query_config outside its bounds' },
  { id: '400-malformed-parameters', section: '7.3', needs: [valid, '{query}'], expects: [[400, 'BadRequest']], refused: 'A query that is not a string' },
  { id: '400-too-complex', section: '7.3', needs: [scenario], expects: oversized, refused: 'A query over the complexity limits' },
  { id: '403-graph-access', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']], refused: 'A graph that the key may not access', times: 3 },
  { id: '404-unknown-graph', section: '7.3', needs: [valid], expects: [[404, 'ResourceNotFound']], refused: 'A query of a graph that does not exist' },
])

// oxfmt-ignore
export const pdfParse = requirements('pdf.parse', [
  { id: '200-text', section: '2.2, 4.1', needs: [valid], expects: 200,
    statement: 'A PDF returns 200 with its content as text.', control: true },
  { id: '200-markdown', section: '2.2, 4.1', needs: [valid], expects: 200,
    statement: 'A PDF returns 200 with its content as markdown.' },
  { id: '200-content', section: '2.2', needs: [valid, ['/resources/pdfText', '/operations/files.upload']], expects: 200,
    statement: "The content contains at least four in five of the file's words, in order, in either format.",
    atMost: { requests: 6, also: { 'files.upload': 2 } } },
  { id: '400-missing-body', section: '2.1, 4.1, 7.2', needs: [valid], expects: anyBadRequest, refused: 'A request without a body' },
  { id: '400-missing-format', section: '2.1, 4.1, 7.2', needs: [valid], expects: anyBadRequest, refused: 'A body without format' },
  { id: '400-unsupported-format', section: '2.1, 7.2', needs: [valid], expects: anyBadRequest,
    refused: 'A format that is neither text nor markdown' },
  { id: '400-malformed-format', section: '2.1, 7.2', needs: [valid], expects: anyBadRequest,
    refused: 'A format that is not a string' },
  { id: '400-corrupted-pdf', section: '7.3', needs: [valid, ['/resources/corruptedPdfFile', '/operations/files.upload']], expects: [[400, 'BadRequest']],
    refused: 'A corrupted PDF', atMost: { requests: 3 } },
  { id: '400-encrypted-pdf', section: '7.3', needs: [valid, ['/resources/encryptedPdfFile', '/operations/files.upload']], expects: [[400, 'BadRequest']],
    refused: 'A PDF that is protected by a password', atMost: { requests: 2 } },
  { id: '400-oversized-pdf', section: '7.3, 8', needs: [valid, '/resources/oversizedPdfFile'], expects: oversized, refused: 'A PDF over the size limit', atMost: { requests: 2 } },
  { id: '403-file-access', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']], refused: 'Parsing a file that the key may not access', times: 3 },
  { id: '4xx-unknown-file', section: '7.2', needs: [valid], expects: [[404, 'NotFound', 'ResourceNotFound'], [410, 'Gone', 'ResourceNotFound'], [400, 'BadRequest', 'InvalidInputParameters'], [403, 'InsufficientAccessRights']],
    statement: 'Parsing a file that does not exist or was deleted gets 404, 410, 400 or 403 with a name of that status.' },
  { id: '4xx-removed', section: '9, 7.2', expects: [[404], [410]],
    statement: 'After the removal of PDF parsing its path returns 404 or 410.', onlyIf: 'removed', times: 3, atMost: { requests: 3 } },
])

// oxfmt-ignore
export const filesUpload = requirements('files.upload', [
  { ...accepted('Uploading a file'), section: '2.8, 4.4' },
  { id: '2xx-attached-to-graph', section: '2.8', needs: [valid, '/resources/graph'], expects: '2xx',
    statement: 'A file uploaded with graphId is attached to that graph only.',
    seenBy: ['graphs.create', 'graphs.add-file', 'graphs.query'], effect: 'creates', atMost: { requests: 9, also: { 'graphs.create': 1, 'graphs.add-file': 10 } } },
  { id: '2xx-retrievable', section: '4.4', needs: [valid], expects: '2xx',
    statement: 'The id of an upload can be retrieved at the latest settleMs later, and again at the end of the run.',
    seenBy: ['files.retrieve'], effect: 'creates', atMost: { requests: 3, also: { 'files.retrieve': 17 } } },
  { id: '2xx-own-id', section: '4.4, 7.3', needs: [valid, '{id}'], expects: '2xx',
    statement: 'Uploads of different content never share an id, even if they are sent at once or under one name.', effect: 'creates', atMost: { requests: 6, also: { 'files.list': 4 } } },
  { id: '4xx-unknown-graph', level: 'should', section: '2.8, 7.2', needs: [valid, '/resources/graph'], expects: [['4xx']],
    statement: 'An upload with a graphId that does not exist gets a 4xx (not 401 or 429) with an error envelope.', atMost: { requests: 1 } },
  { id: '403-graph-access', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']], refused: 'An upload to a graph that the key may not access', times: 3 },
  { id: '400-unsupported-type', section: '7.3', needs: [scenario], expects: [[400, 'BadRequest']], refused: 'A file of an unsupported type' },
  { id: '400-oversized', section: '7.3', needs: [scenario], expects: oversized, refused: 'A file over the size limit' },
  { id: '400-corrupted', section: '7.3', needs: [scenario], expects: [[400, 'InvalidContentType']], refused: 'A corrupted file' },
  { id: '413-body-too-large', section: '7.3', needs: [scenario], expects: oversized,
    statement: 'A body over the size limit gets 413 BadRequest, PayloadTooLarge or InvalidInputParameters, or 400 InvalidInputParameters.' },
  { id: '507-storage-full', section: '7.3, 8', needs: [scenario], expects: [[507, 'QuotaExceeded']], refused: 'An upload to an account whose storage is full' },
])

// oxfmt-ignore
export const filesList = requirements('files.list', [
  accepted('GET /v1/files'),
  { id: '2xx-file-types', section: '2.8, 4.4', expects: '2xx',
    statement: 'A listing with file_types (one extension, or two with a comma) returns a 2xx.', atMost: { requests: 7 } },
  { id: '2xx-filtered', level: 'should', section: '2.8', needs: ['/operations/files.upload/content', '/operations/files.upload/fields/id'], expects: '2xx',
    statement: 'Filtering by another extension leaves out the uploaded file.', atMost: { requests: 6, also: { 'files.upload': 1 } } },
])

// oxfmt-ignore
export const filesRetrieve = requirements('files.retrieve', [
  accepted('Reading a file'),
  { id: '2xx-own-record', level: 'should', section: '4.4', needs: ['/operations/files.upload/content', '/operations/files.upload/fields/id'], expects: '2xx',
    statement: 'Two files with different names and contents have different records.', atMost: { requests: 6, also: { 'files.upload': 2 } } },
  { id: '403-file-access', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']], refused: 'Reading a file that the key may not access', times: 3 },
  { id: '404-unknown-file', section: '7.3', needs: [valid], expects: [[404, 'ResourceNotFound']], refused: 'Reading a file that does not exist' },
  { id: '410-deleted-file', section: '7.3', needs: [valid, '/resources/deletedFile'], expects: [[410, 'ResourceNotFound']],
    refused: 'Reading a deleted file' },
])
