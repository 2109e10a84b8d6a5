import type { Judge } from '../harness/engine/check-context.ts'
import { applicationsCreate } from './applications-create.suite.ts'
import { chatCreate } from './chat-create.suite.ts'
import { completionCreate } from './completion-create.suite.ts'
import { envelope } from './envelope.suite.ts'
import { everyOperation } from './every-operation.suite.ts'
import { filesList } from './files-list.suite.ts'
import { filesRetrieve } from './files-retrieve.suite.ts'
import { filesUpload } from './files-upload.suite.ts'
import { graphsAddFile } from './graphs-add-file.suite.ts'
import { graphsCreate } from './graphs-create.suite.ts'
import { graphsQuery } from './graphs-query.suite.ts'
import { general, guardrails } from './guardrails.suite.ts'
import { jobsCreate } from './jobs-create.suite.ts'
import { jobsRetrieve } from './jobs-retrieve.suite.ts'
import { pdfParse } from './pdf-parse.suite.ts'
import { aiDetectRun } from './ai-detect-run.suite.ts'
import { medicalComprehend } from './medical-comprehend.suite.ts'
import { translateRun } from './translate-run.suite.ts'
import { visionAnalyze } from './vision-analyze.suite.ts'
import { webSearchRun } from './web-search-run.suite.ts'

/** Every suite of the interface. */
const suites = [
  everyOperation,
  envelope,
  jobsCreate,
  jobsRetrieve,
  pdfParse,
  completionCreate,
  chatCreate,
  filesUpload,
  filesList,
  filesRetrieve,
  graphsCreate,
  graphsAddFile,
  graphsQuery,
  applicationsCreate,
  aiDetectRun,
  webSearchRun,
  medicalComprehend,
  translateRun,
  visionAnalyze,
  guardrails,
  general,
]

const checks: ReadonlyMap<string, Judge> = new Map<string, Judge>(suites.flat())

/** How a requirement is judged; undefined if no suite says it. */
export function judgeOf(id: string): Judge | undefined {
  return checks.get(id)
}
