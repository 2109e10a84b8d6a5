import { aiDetectRun } from './ai-detect-run.ts'
import { applicationsCreate } from './applications-create.ts'
import { chatCreate } from './chat-create.ts'
import { completionCreate } from './completion-create.ts'
import { envelope } from './envelope.ts'
import { everyOperation } from './every-operation.ts'
import { filesList } from './files-list.ts'
import { filesRetrieve } from './files-retrieve.ts'
import { filesUpload } from './files-upload.ts'
import { general } from './general.ts'
import { graphsAddFile } from './graphs-add-file.ts'
import { graphsCreate } from './graphs-create.ts'
import { graphsQuery } from './graphs-query.ts'
import { guardrails } from './guardrails.ts'
import { jobsCreate } from './jobs-create.ts'
import { jobsRetrieve } from './jobs-retrieve.ts'
import { medicalComprehend } from './medical-comprehend.ts'
import { pdfParse } from './pdf-parse.ts'
import type { Requirement, Row } from './row.ts'
import { translateRun } from './translate-run.ts'
import { visionAnalyze } from './vision-analyze.ts'
import { webSearchRun } from './web-search-run.ts'
import { type OperationId, operations } from './operations.ts'
import { isRefusal, pairsOf, type Pairs } from './answers.ts'

/** Every requirement of the suite, in catalogue order. */

/** The rows, by operation or area; `*` are those that several operations have. */
const areas = {
  '*': everyOperation,
  envelope,
  'jobs.create': jobsCreate,
  'jobs.retrieve': jobsRetrieve,
  'pdf.parse': pdfParse,
  'completion.create': completionCreate,
  'chat.create': chatCreate,
  'files.upload': filesUpload,
  'files.list': filesList,
  'files.retrieve': filesRetrieve,
  'graphs.create': graphsCreate,
  'graphs.add-file': graphsAddFile,
  'graphs.query': graphsQuery,
  'applications.create': applicationsCreate,
  'ai-detect.run': aiDetectRun,
  'web-search.run': webSearchRun,
  'medical.comprehend': medicalComprehend,
  'translate.run': translateRun,
  'vision.analyze': visionAnalyze,
  guardrails,
  general,
}

type Areas = typeof areas
export type AreaName = keyof Areas

/** A row of that operation or area, its id and answers as literal types. */
export type AreaRow<A extends AreaName> = Areas[A][number]

type AnyRow = AreaRow<AreaName>

export type RequirementId = AnyRow['id']

export interface CatalogueRow extends Row {
  readonly id: RequirementId
}

export const catalogue: readonly CatalogueRow[] = Object.values<readonly CatalogueRow[]>(areas).flat()

/** The rows of that operation or area. */
export function rowsOf(area: AreaName): readonly CatalogueRow[] {
  return areas[area]
}

/** What `conform list` prints of a row, and what the digest of the requirements is made from. */
export function published({ id, operation, level, section, statement, needs, effect }: Requirement): Requirement {
  return { id, operation, level, section, statement, needs, effect }
}

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

const controls = catalogue.filter(({ control }) => control).map(({ operation, id }) => [operation, id] as const)

/** Each operation's granted requirement: its request is the control of the operation's refusals. */
export const grantedRow = Object.fromEntries(controls) as Readonly<Record<OperationId, RequirementId>>

const pairs = new Map<OperationId, Pairs>(
  operations.map(({ id }) => [
    id,
    catalogue.flatMap((row) => (row.operation === id && isRefusal(row.gives) ? pairsOf(row, id) : [])),
  ]),
)

/** The pairs that some requirement of the operation accepts: whatever a request meant, none of them is a fault by itself. */
export function acceptedPairs(operation: OperationId | null): Pairs {
  return (operation && pairs.get(operation)) ?? []
}
