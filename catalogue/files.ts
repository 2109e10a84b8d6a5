import { oversized } from './pairs.ts'
import { requirementsOf } from './needs.ts'
import { requirements, scenario } from './requirement.ts'

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
