import type { RequirementId } from '../../catalogue/catalogue.ts'
import type { Rule } from '../../harness/journal/index.ts'
import type { TakesState } from '../../harness/report/index.ts'
import {
  atomic,
  inProgress,
  perApplication,
  released,
  createdRule,
  neverBusyWhenNew,
  retrievable,
  noEffect,
} from './creations.ts'
import {
  consistent,
  createdAtRule,
  failedRule,
  identity,
  jobRule,
  outcomeRule,
  stable,
} from './readings.ts'

export type State = 'readable' | 'ended' | 'conflicts' | 'refusals' | 'other' | 'failing'

interface JobRow {
  readonly rule: Rule
  readonly state: State
  readonly takes: TakesState
}

export const jobRules = {
  'jobs.create/202-created': { rule: createdRule, state: 'ended', takes: 'idle-application' },
  'jobs.create/202-retrievable': { rule: retrievable, state: 'ended', takes: 'job-of-run' },
  'jobs.create/409-job-in-progress': {
    rule: inProgress,
    state: 'conflicts',
    takes: 'job-in-progress',
  },
  'jobs.create/409-released': { rule: released, state: 'conflicts', takes: 'job-before' },
  'jobs.create/409-per-application': {
    rule: perApplication,
    state: 'conflicts',
    takes: 'job-elsewhere',
  },
  'jobs.create/409-atomic': { rule: atomic, state: 'conflicts', takes: 'requests-at-once' },
  'jobs.create/4xx-no-effect': { rule: noEffect, state: 'refusals', takes: 'refusal-before' },
  'jobs.retrieve/200-job': { rule: jobRule, state: 'ended', takes: 'job-of-run' },
  'jobs.retrieve/200-identity': { rule: identity, state: 'ended', takes: 'job-of-run' },
  'jobs.retrieve/200-created-at': { rule: createdAtRule, state: 'ended', takes: 'job-of-run' },
  'jobs.retrieve/200-outcome': { rule: outcomeRule, state: 'ended', takes: 'endless-job' },
  'jobs.retrieve/200-stable': { rule: stable, state: 'ended', takes: 'job-of-run' },
  'jobs.retrieve/200-consistent': { rule: consistent, state: 'ended', takes: 'job-of-run' },
} as const satisfies Partial<Record<RequirementId, JobRow>>

export type JobRuleId = keyof typeof jobRules

export const ids = {
  created: 'jobs.create/202-created',
  inProgress: 'jobs.create/409-job-in-progress',
  released: 'jobs.create/409-released',
  perApplication: 'jobs.create/409-per-application',
  atomic: 'jobs.create/409-atomic',
  noEffect: 'jobs.create/4xx-no-effect',
  stable: 'jobs.retrieve/200-stable',
} as const satisfies Record<string, JobRuleId>

export const rulesAfter = (state: State): JobRuleId[] =>
  (Object.keys(jobRules) as JobRuleId[]).filter((id) => jobRules[id].state === state)

/** The rules for recordings, where single answers are judged separately. */
export function recordedRules(
  failing: string | undefined,
): readonly (readonly [RequirementId, Rule])[] {
  const { 'jobs.create/202-created': _created, 'jobs.retrieve/200-job': _job, ...others } = jobRules
  return [
    ...(Object.entries(others) as [RequirementId, JobRow][]).map(
      ([id, row]) => [id, row.rule] as const,
    ),
    ['jobs.create/202-created', neverBusyWhenNew],
    ...(failing === undefined ? [] : [['jobs.retrieve/200-failed', failedRule(failing)] as const]),
  ]
}
