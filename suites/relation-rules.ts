import type { RequirementId } from '../catalogue/catalogue.ts'
import type { Rule } from '../harness/history/index.ts'
import { atomicRule, onceRule } from './created/once-rules.ts'
import { noEffectRule, ownIdRule, usableRule } from './created/rules.ts'
import { filteredRule, ownRecordRule } from './files/rules.ts'
import { attachedRule, otherGraphRule } from './created/graph-rules.ts'

/** What is judged of created objects by more than one answer: each a pure function of what a run or a recording saw. */
export const relationRules = {
  'files.upload/2xx-retrievable': usableRule('files.upload'),
  'files.upload/2xx-own-id': ownIdRule('files.upload'),
  'files.upload/2xx-attached-to-graph': attachedRule,
  'files.list/2xx-filtered': filteredRule,
  'files.retrieve/2xx-own-record': ownRecordRule,
  'graphs.create/2xx-usable': usableRule('graphs.create'),
  'graphs.create/2xx-own-id': ownIdRule('graphs.create'),
  'graphs.create/4xx-no-effect': noEffectRule('graphs.create'),
  'graphs.create/400-atomic': atomicRule('graphs.create'),
  'graphs.create/400-duplicate-name': onceRule('graphs.create'),
  'graphs.add-file/2xx-other-graph': otherGraphRule,
  'graphs.add-file/4xx-no-effect': noEffectRule('graphs.add-file'),
  'graphs.add-file/409-already-in-graph': onceRule('graphs.add-file'),
  'graphs.add-file/409-atomic': atomicRule('graphs.add-file'),
  'applications.create/2xx-usable': usableRule('applications.create'),
  'applications.create/2xx-own-id': ownIdRule('applications.create'),
  'applications.create/4xx-no-effect': noEffectRule('applications.create'),
  'applications.create/400-atomic': atomicRule('applications.create'),
  'applications.create/400-duplicate-name': onceRule('applications.create'),
} as const satisfies Partial<Record<RequirementId, Rule>>

/** The rule of a requirement that has one; throws `Error` for another. */
export function relationRule(id: string): Rule {
  const rule = (relationRules as Readonly<Record<string, Rule | undefined>>)[id]
  if (!rule) throw new Error(`${id} has no rule`)
  return rule
}
