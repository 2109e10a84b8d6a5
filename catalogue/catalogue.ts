/** Every requirement of the suite, in catalogue order. */
import { chatCreate } from './rows/chat-create.ts'
import { completionCreate } from './rows/completion-create.ts'
import { general, guardrails } from './rows/conditions.ts'
import { envelope } from './rows/envelope.ts'
import { everyOperation } from './rows/every-operation.ts'
import { files } from './rows/files.ts'
import { graphs } from './rows/graphs.ts'
import { jobsCreate } from './rows/jobs-create.ts'
import { jobsRetrieve } from './rows/jobs-retrieve.ts'
import { pdfParse } from './rows/pdf-parse.ts'
import {
  aiDetectRun,
  applicationsCreate,
  medicalComprehend,
  translateRun,
  visionAnalyze,
  webSearchRun,
} from './rows/tools.ts'
import type { Requirement } from './requirement.ts'

const rows = [
  ...everyOperation,
  ...envelope,
  ...jobsCreate,
  ...jobsRetrieve,
  ...pdfParse,
  ...completionCreate,
  ...chatCreate,
  ...files,
  ...graphs,
  ...applicationsCreate,
  ...aiDetectRun,
  ...webSearchRun,
  ...medicalComprehend,
  ...translateRun,
  ...visionAnalyze,
  ...guardrails,
  ...general,
]

type AnyRow = (typeof rows)[number]

export type RequirementId = AnyRow['id']
export type MustId = Extract<AnyRow, { level: 'must' }>['id']
export type ShouldId = Extract<AnyRow, { level: 'should' }>['id']

export interface CatalogueRow extends Requirement {
  readonly id: RequirementId
}

export const catalogue: readonly CatalogueRow[] = rows

const byId: ReadonlyMap<string, CatalogueRow> = new Map(catalogue.map((row) => [row.id, row]))

export function isRequirementId(id: string): id is RequirementId {
  return byId.has(id)
}

/** The row of that id; throws on an id that the catalogue does not have. */
export function requirement(id: RequirementId): CatalogueRow {
  const row = byId.get(id)
  if (!row) throw new Error(`no requirement ${id}`)
  return row
}
