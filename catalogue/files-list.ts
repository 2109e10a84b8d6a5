import { requirements } from './requirement.ts'

// prettier-ignore
export const filesList = requirements('files.list', [
  { id: '2xx-accepted', level: 'must', section: '4.4', expects: '2xx',
    statement: 'The listing of files is answered by a 2xx.',
    control: true, maxRequests: 1 },
  { id: '2xx-file-types', level: 'must', section: '2.8, 4.4', expects: '2xx',
    statement: 'The listing with file_types, one extension or two with a comma, is answered by a 2xx.',
    maxRequests: 2 },
])
