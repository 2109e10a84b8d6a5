import type { Operation } from '../world/operation.ts'
import { applicationsCreate } from './applications-create.ts'
import { chat, completion } from './chat.ts'
import { filesUpload, filesList, filesRetrieve } from './files.ts'
import { graphsAddFile, graphsCreate, graphsQuery } from './graphs.ts'
import { jobsCreate } from './jobs-create.ts'
import { jobsRetrieve } from './jobs-retrieve.ts'
import { aiDetect, medicalComprehend, translate, vision, webSearch } from './tools.ts'
import { pdfParse } from './pdf-parse.ts'

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
