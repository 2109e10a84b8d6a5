import { type AreaName, isRequirementId, requirementOf } from '../catalogue/catalogue.ts'
import type { KnownCases } from './checks/case.ts'
import type { Suite } from './checks/suite.ts'
import type { Judge } from '../harness/run/index.ts'
import { chatCreate } from './chat-create.suite.ts'
import { envelope } from './envelope.suite.ts'
import { filesList, filesRetrieve, filesUpload } from './files.suite.ts'
import { everyOperation, general, guardrails } from './general.suite.ts'
import { graphsAddFile, graphsCreate, graphsQuery } from './graphs.suite.ts'
import { applicationsCreate, jobsCreate, jobsRetrieve } from './jobs.suite.ts'
import { pdfParse } from './pdf-parse.suite.ts'
import { tools } from './tools.suite.ts'

/**
 * The suite of each area. All are loaded at once (about 15 ms), because the files of this package may be replaced
 * during or between runs.
 */
const suites: Readonly<Record<AreaName, Suite>> = {
  '*': everyOperation,
  guardrails,
  general,
  envelope,
  'pdf.parse': pdfParse,
  'chat.create': chatCreate,
  'jobs.create': jobsCreate,
  'jobs.retrieve': jobsRetrieve,
  'applications.create': applicationsCreate,
  'files.upload': filesUpload,
  'files.list': filesList,
  'files.retrieve': filesRetrieve,
  'graphs.create': graphsCreate,
  'graphs.add-file': graphsAddFile,
  'graphs.query': graphsQuery,
  ...tools,
}

export const judgeOf = (id: string): Judge | undefined => suiteOf(id)?.judge

export const casesOf = (id: string): KnownCases | undefined => suiteOf(id)?.cases

const suiteOf = (id: string): ReturnType<Suite> =>
  isRequirementId(id) ? (suites[requirementOf(id).operation](id) ?? suites['*'](id)) : undefined
