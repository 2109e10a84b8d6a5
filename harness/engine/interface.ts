import type { CatalogueRequirement, RequirementId } from '../../catalogue/catalogue.ts'
import type { Operation } from '../../catalogue/operation.ts'
import type { OperationId } from '../../catalogue/operations.ts'

/** The interface that a run judges, as the engine is told it: it knows no requirement and no operation by itself. */
export interface Interface {
  /** In the order in which they are judged and reported. */
  readonly requirements: readonly CatalogueRequirement[]
  /** The requirement of that id; undefined if there is none. */
  requirement(id: string): CatalogueRequirement | undefined
  operation(id: OperationId): Operation
  /** The requirement that the operation's valid request is granted. */
  granted(id: OperationId): CatalogueRequirement
  /** Operation of the first request of a run. */
  readonly first: OperationId
  /** Operation that reads one object, at another path than the first request. */
  readonly reading: OperationId
  /** What any answer is held to: judged by what belongs to no operation. */
  readonly anyResponse: RequirementId
  readonly errors: ErrorNames
}

/** Names that the interface gives errors. */
export interface ErrorNames {
  /** The code names that may stand with a status; undefined for a status that is not listed. */
  codeNames(status: number): readonly string[] | undefined
  /** An error of the model behind an operation: it may stand with any status, and comes and goes. */
  isModelError(tpe: string | undefined): boolean
  /** What tells that a guardrail blocked a request: the next answer may be another one. */
  readonly guardrail: { readonly tpe: string; readonly key: string }
}
