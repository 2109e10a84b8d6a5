import {
  applyScenario,
  declaredResource,
  operationIn,
  controlExchange,
} from './checks/valid-request.ts'
import { byRecord } from './checks/faults.ts'
import { pointerOf } from './checks/changes.ts'
import { withBody } from './checks/case.ts'
import { accepted, granted, grantedByScenario } from './checks/granted.ts'
import { concluded, findingVerdict, joined } from './checks/rules.ts'
import { suite } from './checks/suite.ts'
import {
  isOpen,
  jsonOf,
  jsonValue,
  type Made,
  type Probe,
  type Verdict,
  withChange,
} from '../harness/journal/index.ts'
import {
  type BodySchema,
  type CheckContext,
  decisive,
  grantedFinding,
  type Judge,
  shapeFinding,
} from '../harness/run/index.ts'
import { plainReason } from '../harness/report/index.ts'
import { isExclusive } from '../harness/target/index.ts'
import { getAt, setAt } from '../schemas/json.ts'
import {
  needTwo,
  noEffect,
  noDuplicateAtOnce,
  noDuplicate,
  ownId,
  type RefusedChange,
  usable,
} from './created/drive.ts'
import { createdAnswer } from './jobs/creations.ts'
import { Jobs, reach } from './jobs/drive.ts'
import {
  takesAnyText,
  malformedId,
  jobFaults,
  unknownJob,
  withRequiredInputs,
} from './jobs/faults.ts'
import { failedFault, failedRule, ofFailing } from './jobs/readings.ts'
import { ids, type JobRuleId, jobRules } from './jobs/rules.ts'

function byRule(id: JobRuleId): Judge {
  return async (context) => {
    const { client, given, scenario } = context
    if (scenario) return grantedByScenario(context)
    const { rule, state } = jobRules[id]
    const verdict = rule(client.journal)
    const left =
      verdict.outcome === 'open' ? await reach(new Jobs(context.client), state) : undefined
    if (isOpen(left)) return left
    if (id === ids.inProgress || id === ids.noEffect) client.journal.controls.set(id, 'granted')
    if (verdict.outcome === 'open' && state === 'conflicts') {
      if (id === ids.atomic && given.target.limits.concurrency === 1) return needTwo
      const { reason } = plainReason(verdict.why)
      return { outcome: 'open', why: `three attempts proved nothing: ${reason}` }
    }
    return decisive(context, verdict)
  }
}

type RulesOf<O extends string> = {
  readonly [Id in JobRuleId as Id extends `${O}/${infer Name}` ? Name : never]: Judge
}

const byRules = <O extends 'jobs.create' | 'jobs.retrieve'>(operation: O): RulesOf<O> =>
  Object.fromEntries(
    (Object.keys(jobRules) as JobRuleId[])
      .filter((id) => id.startsWith(operation))
      .map((id) => [id.slice(operation.length + 1), byRule(id)]),
  ) as RulesOf<O>

/** The answer to the control, and those to all other such requests of the run. */
const eachAnswer =
  (id: JobRuleId, schema: BodySchema, expected: string, what = ''): Judge =>
  async (context) => {
    const { client } = context
    const exchange = await controlExchange(client, operationIn(context))
    const verdict: Verdict = jobRules[id].rule(client.journal)
    const decided = decisive(context, verdict)
    // A fault on objects of the run counts even if the declared application is busy.
    if (isOpen(exchange)) return decided.outcome === 'broken' ? decided : exchange
    const found = grantedFinding(context, exchange, expected) ?? shapeFinding(exchange, schema)
    // If another one was right, a wrong one depends on more than its request.
    const wrong = verdict.outcome === 'broken' ? verdict.evidence.length : 0
    const takes = (verdict.cases ?? 0) > wrong ? undefined : null
    const own = concluded([findingVerdict(found, { exchange, what, takes })])
    return own.outcome !== 'held' || verdict.outcome === 'open' ? own : joined([own, decided])
  }

// §4.2 Create application job

export const jobsCreate = suite('jobs.create', () => ({
  ...byRules('jobs.create'),
  '202-created': eachAnswer(ids.created, 'created-job', createdAnswer, 'with a valid body'),
  '202-required-inputs-only': withRequiredInputs,
  '202-any-text': takesAnyText,
  ...jobFaults,
}))

const showsFailure = granted(ofFailing, undefined, (_, { response }) =>
  failedFault(jsonValue(response)),
)

/** A job of the application declared for it, or a retrieval that a scenario directs to a failed job. */
const failsAsDeclared: Judge = async (context) => {
  const { client, given, scenario } = context
  if (scenario) return showsFailure.judge(context)
  const failing = declaredResource(given, 'failingApplication')
  if (isOpen(failing)) return failing
  const verdict = failedRule(failing.id)(client.journal)
  const left =
    verdict.outcome === 'open' ? await reach(new Jobs(context.client), 'failing') : undefined
  if (isOpen(left)) return left
  return decisive(context, verdict)
}

// §4.3 Retrieve job. The spec names no error for an unknown or malformed id: any 4xx with an envelope passes.

export const jobsRetrieve = suite('jobs.retrieve', () => ({
  ...byRules('jobs.retrieve'),
  '200-job': eachAnswer('jobs.retrieve/200-job', 'job', '200 with a job'),
  '200-failed': failsAsDeclared,
  '4xx-unknown-job': unknownJob,
  '4xx-malformed-id': malformedId,
}))

function refusedByBlueprint({ client, given }: CheckContext): RefusedChange[] {
  const operation = 'applications.create'
  const scenario = given.target.scenarios['applications.create/400-invalid-blueprint']
  const pointer = pointerOf(given, operation, 'name')
  if (!scenario || scenario.raw || isExclusive(scenario) || pointer === undefined) return []
  const change = (valid: Probe): Promise<Made> =>
    withChange(
      applyScenario(client, scenario, operation, async () => valid),
      (probe) => withBody(probe, setAt(jsonOf(probe), pointer, getAt(jsonOf(valid), pointer))),
    )
  return [{ requirement: '400-invalid-blueprint', what: 'for its blueprint', change }]
}

// Create an application (§4.4, §7.3)

export const applicationsCreate = suite('applications.create', () => ({
  '2xx-accepted': accepted,
  '2xx-usable': usable,
  '2xx-own-id': ownId,
  '4xx-no-effect': noEffect(refusedByBlueprint),
  '400-atomic': noDuplicateAtOnce,
  '400-malformed-parameters': byRecord(),
  '400-duplicate-name': noDuplicate,
}))
