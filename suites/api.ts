import { catalogue, grantedRequirement, isRequirementId, requirementOf } from '../catalogue/catalogue.ts'
import { errorNames } from '../catalogue/errors.ts'
import { firstOperation, operation, readingOperation } from '../catalogue/operations.ts'
import type { Interface } from '../harness/engine/interface.ts'

/** The AI Content Service interface, as the catalogue has it. */
export const api: Interface = {
  requirements: catalogue,
  requirement: (id) => (isRequirementId(id) ? requirementOf(id) : undefined),
  operation,
  granted: (id) => requirementOf(grantedRequirement[id]),
  first: firstOperation,
  reading: readingOperation,
  anyResponse: 'envelope/shape',
  errors: errorNames,
}
