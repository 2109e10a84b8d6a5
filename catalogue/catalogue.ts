/** Statements of a report about the interface that it was judged by. */
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
import { isRefusal, pairsOf, type Pairs } from './expected.ts'
import { type OperationId, operations } from './operations.ts'
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

/** Every requirement of the suite, in catalogue order. */

/** The requirements, by operation or area; `*` are those that several operations have. */
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
  ...tools,
  guardrails,
  general,
} satisfies Record<'*' | Area, readonly DefinedRequirement[]>

type Areas = typeof areas
export type AreaName = keyof Areas

/** A requirement of that operation or area, its id and answers as literal types. */
export type AreaRequirement<A extends AreaName> = Areas[A][number]

type AnyRow = AreaRequirement<AreaName>

export type RequirementId = AnyRow['id']

export interface CatalogueRequirement extends DefinedRequirement {
  readonly id: RequirementId
}

export const catalogue: readonly CatalogueRequirement[] =
  Object.values<readonly CatalogueRequirement[]>(areas).flat()

export function requirementsOfArea(area: AreaName): readonly CatalogueRequirement[] {
  return areas[area]
}

/** The members of a requirement that `conform list` prints and the digest of the requirements is made from. */
export function published({
  id,
  operation,
  level,
  section,
  statement,
  needs,
  effect,
}: Requirement): Requirement {
  return { id, operation, level, section, statement, needs, effect }
}

const byId: ReadonlyMap<string, CatalogueRequirement> = new Map(
  catalogue.map((requirement) => [requirement.id, requirement]),
)

export function isRequirementId(id: string): id is RequirementId {
  return byId.has(id)
}

/** The requirement of that id; throws on an id that the catalogue does not have. */
export function requirementOf(id: RequirementId): CatalogueRequirement {
  const requirement = byId.get(id)
  if (!requirement) throw new Error(`no requirement ${id}`)
  return requirement
}

const controls = catalogue
  .filter(({ control }) => control)
  .map(({ operation, id }) => [operation, id] as const)

/** Each operation's granted requirement: its request is the control of the operation's refusals. */
export const grantedRequirement = Object.fromEntries(controls) as Readonly<
  Record<OperationId, RequirementId>
>

const pairs = new Map<OperationId, Pairs>(
  operations.map(({ id }) => [
    id,
    catalogue.flatMap((requirement) =>
      requirement.operation === id && isRefusal(requirement.expects)
        ? pairsOf(requirement, id)
        : [],
    ),
  ]),
)

/** The pairs that some requirement of the operation accepts: whatever a request meant, none of them is a fault by itself. */
export function acceptedPairs(operation: OperationId | null): Pairs {
  return (operation && pairs.get(operation)) ?? []
}

/** The version that the interface's machine-readable description declares (§9). */
export const specVersion = '1.0'

/** SHA-256 of the bytes of the interface's text, as this suite read it. A later text has another digest and another version of the suite. */
export const specDigest = 'sha256:f0330eb85c2e74b6b8f2ea2e55d3351ff1ef476638083cdc825018beb8947c09'

/** The catalogue as canonical JSON (RFC 8785). */
function requirementsText(): string {
  const text = canonicalize(catalogue.map(published))
  if (text === undefined) throw new Error('the catalogue is no JSON value')
  return text
}

let digest: string | undefined

/** SHA-256 of that text: reports of one digest judged the same requirements. */
export function requirementsDigest(): string {
  return (digest ??= `sha256:${createHash('sha256').update(requirementsText(), 'utf8').digest('hex')}`)
}
