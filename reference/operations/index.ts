import type { Operation } from '../world/operation.ts'
import { applicationsCreate } from './applications-create.ts'
import { chat } from './chat.ts'
import { completion } from './completion.ts'
import { filesUpload, filesList, filesRetrieve } from './files.ts'
import { graphsAddFile } from './graphs-add-file.ts'
import { graphsCreate } from './graphs-create.ts'
import { graphsQuery } from './graphs-query.ts'
import { jobsCreate } from './jobs-create.ts'
import { jobsRetrieve } from './jobs-retrieve.ts'
import { medicalComprehend, aiDetect, webSearch } from './tools.ts'
import { pdfParse } from './pdf-parse.ts'
import { translate } from './translate.ts'
import { vision } from './vision.ts'

// Here an operation that looks up an object counts as `Operation<unknown>`: its `find` and what reads it stay together.
/** The operations of §4, all 17. */
export const allOperations = [
  pdfParse,
  jobsCreate,
  jobsRetrieve,
  completion,
  chat,
  filesUpload,
  filesList,
  filesRetrieve,
  graphsCreate,
  graphsAddFile,
  graphsQuery,
  applicationsCreate,
  aiDetect,
  webSearch,
  medicalComprehend,
  translate,
  vision,
] as readonly Operation[]
