import { graph, validRequest } from './needs.ts'
import { must, staged } from './row.ts'

const content = validRequest['files.upload']
const file = validRequest['files.retrieve']

// prettier-ignore
export const files = [
  must('files.upload/2xx-accepted', '2.8, 4.4', 'The upload of a file is answered by a 2xx.', content, 'creates'),
  must('files.upload/2xx-attached-to-graph', '2.8', 'A file that is uploaded with graphId is attached to that graph.', [...content, graph], 'creates'),
  staged('files.upload/400-unsupported-type', '7.3', 'A file of an unsupported type is answered 400 BadRequest.'),
  staged('files.upload/400-oversized', '7.3', 'A file over the size limit is answered 400 InvalidInputParameters, or 413 BadRequest or PayloadTooLarge.'),
  staged('files.upload/400-corrupted', '7.3', 'A corrupted file is answered 400 InvalidContentType.'),
  staged('files.upload/413-body-too-large', '7.3', 'A body over the size limit is answered 413 BadRequest or PayloadTooLarge, or 400 InvalidInputParameters.'),
  staged('files.upload/507-storage-full', '7.3, 8', 'An upload to an account whose storage is full is answered 507 QuotaExceeded.'),
  must('files.list/2xx-accepted', '4.4', 'The listing of files is answered by a 2xx.'),
  must('files.list/2xx-file-types', '2.8, 4.4', 'The listing with file_types is answered by a 2xx.'),
  must('files.retrieve/2xx-accepted', '4.4', 'The retrieval of a file is answered by a 2xx.', file),
  staged('files.retrieve/403-file-access', '5', 'The retrieval of a file to which the key has no access is answered 403 InsufficientAccessRights.'),
  must('files.retrieve/404-unknown-file', '7.3', 'The retrieval of a file that does not exist is answered 404 ResourceNotFound.', file),
  must('files.retrieve/410-deleted-file', '7.3', 'The retrieval of a deleted file is answered 410 ResourceNotFound.', [...file, '/resources/deletedFile']),
]
