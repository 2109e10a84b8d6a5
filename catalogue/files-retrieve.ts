import { validRequest } from './needs.ts'
import { requirements, scenario } from './requirement.ts'

const valid = validRequest['files.retrieve']

// prettier-ignore
export const filesRetrieve = requirements('files.retrieve', [
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
