import { anyBadRequest, oversized, scenario, requirements } from './requirement.ts'
import { requirementsOf } from './needs.ts'

// oxfmt-ignore
export const pdfParse = requirementsOf('pdf.parse', ({ valid }) => [
  { id: '200-text', level: 'must', section: '2.2, 4.1', needs: valid, expects: 200,
    statement: 'A PDF is answered 200 with its content as text.',
    control: true, maxRequests: 2 },
  { id: '200-markdown', level: 'must', section: '2.2, 4.1', needs: valid, expects: 200,
    statement: 'A PDF is answered 200 with its content as markdown.' },
  { id: '200-content', level: 'must', section: '2.2', needs: [...valid, ['/resources/pdfText', '/operations/files.upload']], expects: 200,
    statement: 'The content of a PDF holds at least four in five of the words of the file, in their order, in either format.',
    maxRequests: 4, alsoSends: { 'files.upload': 2 } },
  { id: '400-missing-body', level: 'must', section: '2.1, 4.1, 7.2', needs: valid, expects: anyBadRequest,
    statement: 'A request without a body is answered 400 BadRequest, InvalidInputParameters or InvalidContentType.' },
  { id: '400-missing-format', level: 'must', section: '2.1, 4.1, 7.2', needs: valid, expects: anyBadRequest,
    statement: 'A body without format is answered 400 BadRequest, InvalidInputParameters or InvalidContentType.' },
  { id: '400-unsupported-format', level: 'must', section: '2.1, 7.2', needs: valid, expects: anyBadRequest,
    statement: 'A format that is neither text nor markdown is answered 400 BadRequest, InvalidInputParameters or InvalidContentType.',
    maxRequests: { named: 26, generated: 'refusals' } },
  { id: '400-malformed-format', level: 'must', section: '2.1, 7.2', needs: valid, expects: anyBadRequest,
    statement: 'A format that is no string is answered 400 BadRequest, InvalidInputParameters or InvalidContentType.',
    maxRequests: { named: 12, generated: 'refusals' } },
  { id: '400-corrupted-pdf', level: 'must', section: '7.3', needs: [...valid, ['/resources/corruptedPdfFile', '/operations/files.upload']], expects: [[400, 'BadRequest']],
    statement: 'A corrupted PDF is answered 400 BadRequest.',
    maxRequests: 3 },
  { id: '400-encrypted-pdf', level: 'must', section: '7.3', needs: [...valid, ['/resources/encryptedPdfFile', '/operations/files.upload']], expects: [[400, 'BadRequest']],
    statement: 'A PDF that is protected by a password is answered 400 BadRequest.',
    maxRequests: 2 },
  { id: '400-oversized-pdf', level: 'must', section: '7.3, 8', needs: [...valid, '/resources/oversizedPdfFile'], expects: oversized,
    statement: 'A PDF over the size limit is answered 400 InvalidInputParameters, or 413 BadRequest, PayloadTooLarge or InvalidInputParameters.',
    maxRequests: 2 },
  { id: '403-file-access', level: 'must', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'The parsing of a file to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '4xx-unknown-file', level: 'must', section: '7.2', needs: valid, expects: [[404, 'NotFound', 'ResourceNotFound'], [410, 'Gone', 'ResourceNotFound'], [400, 'BadRequest', 'InvalidInputParameters'], [403, 'InsufficientAccessRights']],
    statement: 'The parsing of a file that does not exist, or was deleted, is refused: 404, 410, 400 or 403 with a name of that status.',
    maxRequests: 5 },
  { id: '4xx-removed', level: 'must', section: '9, 7.2', expects: [[404], [410]],
    statement: 'After the removal of PDF parsing its path is answered 404 or 410.',
    onlyIf: 'removed' },
])

// oxfmt-ignore
export const filesUpload = requirementsOf('files.upload', ({ valid, role }) => [
  { id: '2xx-accepted', level: 'must', section: '2.8, 4.4', needs: valid, expects: '2xx',
    statement: 'The upload of a file is answered by a 2xx.',
    control: true, judgedLast: true, effect: 'creates' },
  { id: '2xx-attached-to-graph', level: 'must', section: '2.8', needs: [...valid, '/resources/graph'], expects: '2xx',
    statement: 'A file that is uploaded with graphId is attached to that graph; an unknown one is no error of the server.',
    seenBy: ['graphs.create', 'graphs.add-file', 'graphs.query'], effect: 'creates', maxRequests: 4, alsoSends: { 'graphs.add-file': 3 } },
  { id: '2xx-retrievable', level: 'must', section: '4.4', needs: valid, expects: '2xx',
    statement: 'The id that an upload gave is retrieved with a 2xx, at the latest settleMs later, and again at the end of the run.',
    seenBy: ['files.retrieve'], effect: 'creates', maxRequests: 1, alsoSends: { 'files.retrieve': 15 } },
  { id: '2xx-own-id', level: 'must', section: '4.4, 7.3', needs: [...valid, role('id')], expects: '2xx',
    statement: 'No two uploads of different content give one id, also when they are sent at once.',
    effect: 'creates', maxRequests: 4, alsoSends: { 'files.list': 4 } },
  { id: '400-unsupported-type', level: 'must', section: '7.3', needs: [scenario], expects: [[400, 'BadRequest']],
    statement: 'A file of an unsupported type is answered 400 BadRequest.' },
  { id: '400-oversized', level: 'must', section: '7.3', needs: [scenario], expects: oversized,
    statement: 'A file over the size limit is answered 400 InvalidInputParameters, or 413 BadRequest, PayloadTooLarge or InvalidInputParameters.' },
  { id: '400-corrupted', level: 'must', section: '7.3', needs: [scenario], expects: [[400, 'InvalidContentType']],
    statement: 'A corrupted file is answered 400 InvalidContentType.' },
  { id: '413-body-too-large', level: 'must', section: '7.3', needs: [scenario], expects: oversized,
    statement: 'A body over the size limit is answered 413 BadRequest, PayloadTooLarge or InvalidInputParameters, or 400 InvalidInputParameters.' },
  { id: '507-storage-full', level: 'must', section: '7.3, 8', needs: [scenario], expects: [[507, 'QuotaExceeded']],
    statement: 'An upload to an account whose storage is full is answered 507 QuotaExceeded.' },
])

// oxfmt-ignore
export const filesList = requirements('files.list', [
  { id: '2xx-accepted', level: 'must', section: '4.4', expects: '2xx',
    statement: 'The listing of files is answered by a 2xx.',
    control: true, maxRequests: 1 },
  { id: '2xx-file-types', level: 'must', section: '2.8, 4.4', expects: '2xx',
    statement: 'The listing with file_types, one extension or two with a comma, is answered by a 2xx.',
    maxRequests: 3 },
])

// oxfmt-ignore
export const filesRetrieve = requirementsOf('files.retrieve', ({ valid }) => [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, expects: '2xx',
    statement: 'The retrieval of a file is answered by a 2xx.',
    control: true, maxRequests: 1 },
  { id: '403-file-access', level: 'must', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'The retrieval of a file to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '404-unknown-file', level: 'must', section: '7.3', needs: valid, expects: [[404, 'ResourceNotFound']],
    statement: 'The retrieval of a file that does not exist is answered 404 ResourceNotFound.',
    maxRequests: 5 },
  { id: '410-deleted-file', level: 'must', section: '7.3', needs: [...valid, '/resources/deletedFile'], expects: [[410, 'ResourceNotFound']],
    statement: 'The retrieval of a deleted file is answered 410 ResourceNotFound.' },
])
