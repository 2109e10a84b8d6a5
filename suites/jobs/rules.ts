import type { RequirementId } from '../../catalogue/catalogue.ts'
import type { Rule } from '../../harness/history/index.ts'
import { atomic, inProgress, perApplication, released } from './conflicts.ts'
import { createdRule, neverBusyWhenNew, retrievable } from './creations.ts'
import { noEffect } from './no-effect.ts'
import { failedRule, identity, jobRule, outcomeRule } from './readings.ts'
import { consistent, createdAtRule, stable } from './times.ts'

/** What is judged of jobs by more than one answer: each a pure function of what a run or a recording saw. */
export const jobRules = {
  'jobs.create/202-created': createdRule,
  'jobs.create/202-retrievable': retrievable,
  'jobs.create/409-job-in-progress': inProgress,
  'jobs.create/409-released': released,
  'jobs.create/409-per-application': perApplication,
  'jobs.create/409-atomic': atomic,
  'jobs.create/4xx-no-effect': noEffect,
  'jobs.retrieve/200-job': jobRule,
  'jobs.retrieve/200-identity': identity,
  'jobs.retrieve/200-created-at': createdAtRule,
  'jobs.retrieve/200-outcome': outcomeRule,
  'jobs.retrieve/200-stable': stable,
  'jobs.retrieve/200-consistent': consistent,
} as const satisfies Partial<Record<RequirementId, Rule>>

export type JobRuleId = keyof typeof jobRules

/** Short names of those that a driver asks for. */
export const ids = {
  inProgress: 'jobs.create/409-job-in-progress',
  released: 'jobs.create/409-released',
  perApplication: 'jobs.create/409-per-application',
  atomic: 'jobs.create/409-atomic',
  noEffect: 'jobs.create/4xx-no-effect',
  stable: 'jobs.retrieve/200-stable',
} as const satisfies Record<string, JobRuleId>

/**
 * The same of recorded traffic, which is judged answer by answer besides: of a creation only what more than one answer shows, and
 * the end of the jobs of the application that is declared for it.
 */
export function recordedRules(
  failing: string | undefined,
): readonly (readonly [RequirementId, Rule])[] {
  const { 'jobs.create/202-created': _created, 'jobs.retrieve/200-job': _job, ...others } = jobRules
  return [
    ...(Object.entries(others) as [RequirementId, Rule][]),
    ['jobs.create/202-created', neverBusyWhenNew],
    ...(failing === undefined ? [] : [['jobs.retrieve/200-failed', failedRule(failing)] as const]),
  ]
}
