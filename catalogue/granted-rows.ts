import { catalogue, type RequirementId } from './catalogue.ts'
import type { OperationId } from './operations.ts'

const controls = catalogue.filter(({ control }) => control).map(({ operation, id }) => [operation, id] as const)

/** Each operation's granted requirement: its request is the control of the operation's refusals. */
export const grantedRow = Object.fromEntries(controls) as Readonly<Record<OperationId, RequirementId>>
