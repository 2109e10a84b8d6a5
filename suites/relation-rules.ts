import { type RequirementId, requirementOf } from '../catalogue/catalogue.ts'
import { isOperationId } from '../catalogue/operations.ts'
import type { Rule } from '../harness/journal/index.ts'
import {
  atomicRule,
  attachedRule,
  noEffectRule,
  onceRule,
  ownIdRule,
  type RelationRule,
  usableRule,
} from './created/rules.ts'
import { filteredRule, ownRecordRule } from './files/rules.ts'

/** Rules about created objects that concern several answers: pure functions of a run or recording. */
const rules = {
  'files.upload/2xx-retrievable': usableRule,
  'files.upload/2xx-own-id': ownIdRule,
  'files.upload/2xx-attached-to-graph': attachedRule,
  'files.list/2xx-filtered': filteredRule,
  'files.retrieve/2xx-own-record': ownRecordRule,
  'graphs.create/2xx-usable': usableRule,
  'graphs.create/2xx-own-id': ownIdRule,
  'graphs.create/4xx-no-effect': noEffectRule,
  'graphs.create/400-atomic': atomicRule,
  'graphs.create/400-duplicate-name': onceRule,
  'graphs.add-file/4xx-no-effect': noEffectRule,
  'graphs.add-file/409-already-in-graph': onceRule,
  'applications.create/2xx-usable': usableRule,
  'applications.create/2xx-own-id': ownIdRule,
  'applications.create/4xx-no-effect': noEffectRule,
  'applications.create/400-atomic': atomicRule,
  'applications.create/400-duplicate-name': onceRule,
} as const satisfies Partial<Record<RequirementId, RelationRule>>

export type RelationId = keyof typeof rules

export const relationIds = Object.keys(rules) as RelationId[]

/** The rule of a requirement; throws `Error` without one. */
export function relationRule(id: string): Rule {
  const rule = (rules as Readonly<Record<string, RelationRule | undefined>>)[id]
  const { operation } = requirementOf(id as RequirementId)
  if (!rule || !isOperationId(operation)) throw new Error(`${id} has no rule`)
  return (history) => rule(history, operation)
}
