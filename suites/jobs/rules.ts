import type { RequirementId } from '../../catalogue/catalogue.ts'
import type { Rule } from '../../harness/journal/index.ts'
import type { TakesState } from '../../harness/report/index.ts'
import { atomic, inProgress, perApplication, released, createdRule, noEffect } from './creations.ts'
import {
  consistent,
  createdAtRule,
  identity,
  jobRule,
  outcomeRule,
  retrievable,
  stable,
} from './readings.ts'

export type State = 'readable' | 'conflicts' | 'refusals' | 'other' | 'failing'

const readable = { state: 'readable', takes: 'job-of-run' } as const
const conflicts = { state: 'conflicts' } as const

export const jobRules = {
  'jobs.create/202-created': { ...readable, rule: createdRule, takes: 'idle-application' },
  'jobs.create/202-retrievable': { ...readable, rule: retrievable },
  'jobs.create/409-job-in-progress': { ...conflicts, rule: inProgress, takes: 'job-in-progress' },
  'jobs.create/409-released': { ...conflicts, rule: released, takes: 'job-before' },
  'jobs.create/409-per-application': { ...conflicts, rule: perApplication, takes: 'job-elsewhere' },
  'jobs.create/409-atomic': { ...conflicts, rule: atomic, takes: 'requests-at-once' },
  'jobs.create/4xx-no-effect': { rule: noEffect, state: 'refusals', takes: 'refusal-before' },
  'jobs.retrieve/200-job': { ...readable, rule: jobRule },
  'jobs.retrieve/200-identity': { ...readable, rule: identity },
  'jobs.retrieve/200-created-at': { ...readable, rule: createdAtRule },
  'jobs.retrieve/200-outcome': { ...readable, rule: outcomeRule, takes: 'endless-job' },
  'jobs.retrieve/200-stable': { ...readable, rule: stable },
  'jobs.retrieve/200-consistent': { ...readable, rule: consistent },
} as const satisfies Partial<Record<RequirementId, { rule: Rule; state: State; takes: TakesState }>>

export type JobRuleId = keyof typeof jobRules

export const ids = {
  created: 'jobs.create/202-created',
  inProgress: 'jobs.create/409-job-in-progress',
  released: 'jobs.create/409-released',
  perApplication: 'jobs.create/409-per-application',
  atomic: 'jobs.create/409-atomic',
  noEffect: 'jobs.create/4xx-no-effect',
} as const satisfies Record<string, JobRuleId>
