import { tools } from './tools.ts'
import { applicationsCreate, jobsCreate, jobsRetrieve } from './jobs.ts'
import { chatCreate, completionCreate } from './chat.ts'
import { envelope, general, guardrails, everyOperation } from './general.ts'
import {
  filesList,
  filesRetrieve,
  filesUpload,
  pdfParse,
  graphsAddFile,
  graphsCreate,
  graphsQuery,
} from './files.ts'
import { type Area, type Requirement, type DefinedRequirement } from './requirement.ts'
import { isRefusal, pairsOf, type Pairs } from './answers.ts'
import { operationOf, type OperationId } from './operations.ts'
import { createHash } from 'node:crypto'

export const areas = {
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
  ...tools,
  guardrails,
  general,
} satisfies Record<'*' | Area, readonly DefinedRequirement[]>

type Areas = typeof areas
export type AreaName = keyof Areas

export type AreaRequirement<A extends AreaName> = Areas[A][number]

type AnyRow = AreaRequirement<AreaName>

export type RequirementId = AnyRow['id']

export interface CatalogueRequirement extends DefinedRequirement {
  readonly id: RequirementId
}

export const catalogue: readonly CatalogueRequirement[] =
  Object.values<readonly CatalogueRequirement[]>(areas).flat()

/** The members of a requirement that `conform list` prints, and that the digest covers. */
// oxfmt-ignore
const publishedMembers = ['id', 'operation', 'level', 'section', 'statement', 'needs', 'effect'] as const

export const published = (requirement: Requirement) =>
  Object.fromEntries(publishedMembers.map((name) => [name, requirement[name]]))

const byId: ReadonlyMap<string, CatalogueRequirement> = new Map(
  catalogue.map((requirement) => [requirement.id, requirement]),
)

export const requirementById = Object.fromEntries(byId) as Readonly<
  Record<RequirementId, CatalogueRequirement>
>

/** Undefined for a text that is not the id of a requirement. */
export const findRequirement = (id: string): CatalogueRequirement | undefined => byId.get(id)

/** The part after the slash: `404-unknown-application` of `jobs.create/404-unknown-application`. */
export function conditionOf(id: string): string {
  return id.slice(id.indexOf('/') + 1)
}

/** Every response shows whether it holds. */
export const ofEveryResponse: RequirementId = 'envelope/shape'

/** The requirement of each operation for its valid request, the control of its refusals. */
export const granting = Object.fromEntries(
  catalogue.filter((one) => one.control).map((one) => [one.operation, one]),
) as Readonly<Record<OperationId, CatalogueRequirement>>

/** How an operation refuses what exists already: a name, or else what its record says. */
export function refusalOfExisting(id: OperationId): Pairs {
  const { alreadyDone = '400-duplicate-name' } = operationOf(id)
  return (findRequirement(`${id}/${alreadyDone}`)?.expects ?? []) as Pairs
}

/** The pairs that any requirement of an operation accepts: none of them is a fault by itself. */
export const acceptedPairs = (operation: OperationId | null): Pairs =>
  catalogue.flatMap((one) =>
    one.operation === operation && isRefusal(one.expects) ? pairsOf(one, one.operation) : [],
  )

/** The version in the interface's machine-readable description (§9). */
export const specVersion = '1.0'

/** SHA-256 of the text of the interface that this version of the suite judges by. */
export const specDigest = 'sha256:f0330eb85c2e74b6b8f2ea2e55d3351ff1ef476638083cdc825018beb8947c09'

/** SHA-256 of the catalogue: reports with the same digest judged the same requirements. */
export function requirementsDigest(): string {
  // Its canonical form (RFC 8785) has the members in alphabetical order.
  const text = JSON.stringify(catalogue, publishedMembers.toSorted())
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}
