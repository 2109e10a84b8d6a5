import {
  accepted,
  byScenario,
  namedCreations,
  noAccess,
  requirements,
  scenario,
  valid,
} from './requirement.ts'
import { anyBadRequest, oversized } from './answers.ts'

// oxfmt-ignore
export const graphsCreate = requirements('graphs.create', [
  accepted('Creating a graph'),
  { id: '2xx-usable', section: '4.4', needs: [valid, ['/operations/graphs.query/body', '/operations/graphs.add-file/body']],
    statement: 'A created graph takes queries and files at the latest settleMs later, and again at the end of the run: no 404, 410 or 5xx.',
    seenBy: ['graphs.query', 'graphs.add-file'], effect: 'creates', atMost: { requests: 1, generates: 7, also: { 'graphs.query': 15, 'graphs.add-file': 15, 'files.upload': 1 } } },
  ...namedCreations(16),
  byScenario('400-invalid-name', [[400, 'InvalidInputParameters']], 'A name with invalid characters'),
  { id: '400-duplicate-name', expects: [[400, 'BadRequest']],
    statement: 'A graph with a name that exists gets 400 BadRequest, every time.', effect: 'creates', atMost: { requests: 6 } },
])

// oxfmt-ignore
export const graphsAddFile = requirements('graphs.add-file', [
  accepted('Adding a file to a graph'),
  { id: '4xx-unknown-file', section: '7.2', needs: [valid, '{file}'], expects: [['4xx']],
    refused: 'Adding a file that does not exist or was deleted', atMost: { requests: 1, also: { 'graphs.create': 1 } } },
  byScenario('400-unsupported-type', [[400, 'BadRequest']], 'A file of a type that graphs do not support'),
  byScenario('400-unparsable', [[400, 'InvalidInputParameters']], 'A file whose content cannot be parsed'),
  noAccess('403-graph-access', 'A graph'),
  noAccess('403-file-access', 'Adding a file'),
  { id: '404-unknown-graph', expects: [[404, 'ResourceNotFound']], refused: 'An addition to a graph that does not exist' },
  { id: '409-already-in-graph', expects: [[409, 'BadRequest']],
    statement: 'Adding a file that is in the graph already gets 409 BadRequest, every time.',
    fault: 'state', effect: 'creates', atMost: { requests: 25, also: { 'files.list': 3, 'graphs.create': 4 } } },
  { id: '4xx-no-effect', section: '5, 7.2, 7.3', expects: '2xx',
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
  { id: '400-malformed-parameters', needs: [valid, '{query}'], expects: [[400, 'BadRequest']], refused: 'A query that is not a string' },
  byScenario('400-too-complex', oversized, 'A query over the complexity limits'),
  noAccess('403-graph-access', 'A graph'),
  { id: '404-unknown-graph', expects: [[404, 'ResourceNotFound']], refused: 'A query of a graph that does not exist' },
])

// oxfmt-ignore
export const pdfParse = requirements('pdf.parse', [
  { id: '200-text', section: '2.2, 4.1', expects: 200,
    statement: 'A PDF returns 200 with its content as text.', control: true },
  { id: '200-markdown', section: '2.2, 4.1', expects: 200,
    statement: 'A PDF returns 200 with its content as markdown.' },
  { id: '200-content', section: '2.2', needs: [valid, ['/resources/pdfText', '/operations/files.upload']], expects: 200,
    statement: "The content contains at least four in five of the file's words, in order, in either format.",
    atMost: { requests: 6, also: { 'files.upload': 2 } } },
  { id: '400-missing-body', section: '2.1, 4.1, 7.2', expects: anyBadRequest, refused: 'A request without a body' },
  { id: '400-missing-format', section: '2.1, 4.1, 7.2', expects: anyBadRequest, refused: 'A body without format' },
  { id: '400-unsupported-format', section: '2.1, 7.2', expects: anyBadRequest,
    refused: 'A format that is neither text nor markdown' },
  { id: '400-malformed-format', section: '2.1, 7.2', expects: anyBadRequest,
    refused: 'A format that is not a string' },
  { id: '400-corrupted-pdf', needs: [valid, ['/resources/corruptedPdfFile', '/operations/files.upload']], expects: [[400, 'BadRequest']],
    refused: 'A corrupted PDF', atMost: { requests: 3 } },
  { id: '400-encrypted-pdf', needs: [valid, ['/resources/encryptedPdfFile', '/operations/files.upload']], expects: [[400, 'BadRequest']],
    refused: 'A PDF that is protected by a password', atMost: { requests: 2 } },
  { id: '400-oversized-pdf', section: '7.3, 8', needs: [valid, '/resources/oversizedPdfFile'], expects: oversized, refused: 'A PDF over the size limit', atMost: { requests: 2 } },
  noAccess('403-file-access', 'Parsing a file'),
  { id: '4xx-unknown-file', section: '7.2', expects: [[404, 'NotFound', 'ResourceNotFound'], [410, 'Gone', 'ResourceNotFound'], [400, 'BadRequest', 'InvalidInputParameters'], [403, 'InsufficientAccessRights']],
    statement: 'Parsing a file that does not exist or was deleted gets 404, 410, 400 or 403 with a name of that status.' },
  { id: '4xx-removed', section: '9, 7.2', needs: [], expects: [[404], [410]],
    statement: 'After the removal of PDF parsing its path returns 404 or 410.', onlyIf: 'removed', times: 3, atMost: { requests: 3 } },
])

// oxfmt-ignore
export const filesUpload = requirements('files.upload', [
  { ...accepted('Uploading a file'), section: '2.8, 4.4' },
  { id: '2xx-attached-to-graph', section: '2.8', needs: [valid, '/resources/graph'], expects: '2xx',
    statement: 'A file uploaded with graphId is attached to that graph only.',
    seenBy: ['graphs.create', 'graphs.add-file', 'graphs.query'], effect: 'creates', atMost: { requests: 9, also: { 'graphs.create': 1, 'graphs.add-file': 10 } } },
  { id: '2xx-retrievable', section: '4.4', expects: '2xx',
    statement: 'The id of an upload can be retrieved at the latest settleMs later, and again at the end of the run.',
    seenBy: ['files.retrieve'], effect: 'creates', atMost: { requests: 3, also: { 'files.retrieve': 17 } } },
  { id: '2xx-own-id', section: '4.4, 7.3', needs: [valid, '{id}'], expects: '2xx',
    statement: 'Uploads of different content never share an id, even if they are sent at once or under one name.', effect: 'creates', atMost: { requests: 6, also: { 'files.list': 4 } } },
  { id: '4xx-unknown-graph', level: 'should', section: '2.8, 7.2', needs: [valid, '/resources/graph'], expects: [['4xx']],
    refused: 'An upload with a graphId that does not exist', atMost: { requests: 1 } },
  noAccess('403-graph-access', 'An upload to a graph'),
  byScenario('400-unsupported-type', [[400, 'BadRequest']], 'A file of an unsupported type'),
  byScenario('400-oversized', oversized, 'A file over the size limit'),
  byScenario('400-corrupted', [[400, 'InvalidContentType']], 'A corrupted file'),
  { id: '413-body-too-large', needs: [scenario], expects: oversized,
    statement: 'A body over the size limit gets 413 BadRequest, PayloadTooLarge or InvalidInputParameters, or 400 InvalidInputParameters.' },
  byScenario('507-storage-full', [[507, 'QuotaExceeded']], 'An upload to an account whose storage is full', '7.3, 8'),
])

// oxfmt-ignore
export const filesList = requirements('files.list', [
  accepted('GET /v1/files'),
  { id: '2xx-file-types', section: '2.8, 4.4', needs: [], expects: '2xx',
    statement: 'A listing with file_types (one extension, or two with a comma) returns a 2xx.', atMost: { requests: 7 } },
  { id: '2xx-filtered', level: 'should', section: '2.8', needs: ['/operations/files.upload/content', '/operations/files.upload/fields/id'], expects: '2xx',
    statement: 'Filtering by another extension leaves out the uploaded file.', atMost: { requests: 6, also: { 'files.upload': 1 } } },
])

// oxfmt-ignore
export const filesRetrieve = requirements('files.retrieve', [
  accepted('Reading a file'),
  { id: '2xx-own-record', level: 'should', section: '4.4', needs: ['/operations/files.upload/content', '/operations/files.upload/fields/id'], expects: '2xx',
    statement: 'Two files with different names and contents have different records.', atMost: { requests: 6, also: { 'files.upload': 2 } } },
  noAccess('403-file-access', 'Reading a file'),
  { id: '404-unknown-file', expects: [[404, 'ResourceNotFound']], refused: 'Reading a file that does not exist' },
  { id: '410-deleted-file', needs: [valid, '/resources/deletedFile'], expects: [[410, 'ResourceNotFound']],
    refused: 'Reading a deleted file' },
])
