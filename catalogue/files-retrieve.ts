import { validRequest } from './needs.ts'
import { rows, scenario } from './row.ts'

const valid = validRequest['files.retrieve']

// prettier-ignore
export const filesRetrieve = rows('files.retrieve', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, gives: '2xx',
    says: 'The retrieval of a file is answered by a 2xx.',
    control: true, maxRequests: 1 },
  { id: '403-file-access', level: 'must', section: '5', needs: [scenario], gives: [[403, 'InsufficientAccessRights']],
    says: 'The retrieval of a file to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '404-unknown-file', level: 'must', section: '7.3', needs: valid, gives: [[404, 'ResourceNotFound']],
    says: 'The retrieval of a file that does not exist is answered 404 ResourceNotFound.',
    maxRequests: 5 },
  { id: '410-deleted-file', level: 'must', section: '7.3', needs: [...valid, '/resources/deletedFile'], gives: [[410, 'ResourceNotFound']],
    says: 'The retrieval of a deleted file is answered 410 ResourceNotFound.' },
])
