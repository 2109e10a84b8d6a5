import {
  applyScenario,
  declaredResource,
  operationIn,
  controlExchange,
} from './checks/valid-request.ts'
import { byRecord } from './checks/faults.ts'
import { pointerOf } from './checks/changes.ts'
import { withBody } from './checks/case.ts'
import { accepted, granted, grantedByScenario, type GrantedCheck } from './checks/granted.ts'
import { concluded, findingVerdict, joined } from './checks/rules.ts'
import { suite } from './checks/suite.ts'
import {
  isOpen,
  jsonOf,
  jsonValue,
  type Making,
  type Probe,
  type Verdict,
  withChange,
  open,
} from '../harness/journal/index.ts'
import {
  type BodySchema,
  type CheckContext,
  judgeEvidence,
  grantedFinding,
  type Judge,
  shapeFinding,
} from '../harness/run/index.ts'
import { plainReason } from '../harness/report/index.ts'
import { getAt, setAt } from '../schemas/json.ts'
import {
  needTwo,
  noEffect,
  noDuplicateAtOnce,
  noDuplicate,
  ownId,
  relation,
  usable,
} from './created/drive.ts'
import { conditionOf } from '../catalogue/catalogue.ts'
import { type RefusedChange, setupFor } from './general.suite.ts'
import { createdAnswer } from './jobs/creations.ts'
import { Jobs, reach } from './jobs/drive.ts'
import {
  takesAnyText,
  malformedId,
  jobFaults,
  unknownJob,
  requiredInputsOnly,
} from './jobs/faults.ts'
import { failedFault, failedRule, ofFailing } from './jobs/readings.ts'
import { ids, type JobRuleId, jobRules } from './jobs/rules.ts'

/** Judges by the rule about jobs, once the run has reached the state that it needs. */
const byRule: Judge = async (context) => {
  const { client, given, scenario } = context
  if (scenario) return grantedByScenario(context)
  const id = context.requirement.id as JobRuleId
  const { rule, state } = jobRules[id]
  // Awaited whatever the rule says by then: a bug on the way is no pass.
  const left = await reach(new Jobs(context), state)
  const verdict = rule(client.journal)
  if (isOpen(left) && verdict.outcome === 'open') return left
  if (id === ids.inProgress || id === ids.noEffect) client.journal.controls.set(id, 'granted')
  if (verdict.outcome === 'open' && state === 'conflicts') {
    if (id === ids.atomic && given.target.limits.concurrency === 1) return needTwo
    const { reason } = plainReason(verdict.why)
    return open(`three attempts proved nothing: ${reason}`)
  }
  return judgeEvidence(context, verdict)
}

/** The answer to the control, and those to all other such requests of the run. */
const eachAnswer =
  (schema: BodySchema, expected: string, what = ''): Judge =>
  async (context) => {
    const { client, given, requirement } = context
    const exchange = await controlExchange(client, given, operationIn(context))
    const verdict: Verdict = jobRules[requirement.id as JobRuleId].rule(client.journal)
    const decided = judgeEvidence(context, verdict)
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
  '202-created': eachAnswer('created-job', createdAnswer, 'with a valid body'),
  '202-retrievable': byRule,
  '202-required-inputs-only': granted('with just the required inputs', requiredInputsOnly),
  '202-any-text': takesAnyText,
  ...jobFaults(),
  '409-job-in-progress': byRule,
  '409-released': byRule,
  '409-per-application': byRule,
  '409-atomic': byRule,
  '4xx-no-effect': byRule,
}))

/** A job of the application declared for it, or a retrieval that a scenario directs to a failed job. */
const failsAsDeclared: Judge = async (context) => {
  const { client, given, scenario } = context
  const check: GrantedCheck = (_, { response }) => failedFault(jsonValue(response))
  if (scenario) return granted(ofFailing, undefined, check).judge(context)
  const failing = declaredResource(given, 'failingApplication')
  if (isOpen(failing)) return failing
  const left = await reach(new Jobs(context), 'failing')
  const verdict = failedRule(failing.id)(client.journal)
  return isOpen(left) && verdict.outcome === 'open' ? left : judgeEvidence(context, verdict)
}

// §4.3 Retrieve job. The spec names no error for an unknown or malformed id: any 4xx with an envelope passes.

export const jobsRetrieve = suite('jobs.retrieve', () => ({
  '200-job': eachAnswer('job', '200 with a job'),
  '200-identity': byRule,
  '200-created-at': byRule,
  '200-outcome': byRule,
  '200-failed': failsAsDeclared,
  '200-stable': byRule,
  '200-consistent': byRule,
  '4xx-unknown-job': unknownJob,
  '4xx-malformed-id': malformedId,
}))

function refusedByBlueprint({ client, given }: CheckContext): RefusedChange[] {
  const operation = 'applications.create'
  const blueprint = 'applications.create/400-invalid-blueprint'
  const scenario = given.target.scenarios[blueprint]
  const pointer = pointerOf(given, operation, 'name')
  if (!scenario || scenario.raw || scenario.isExclusive || pointer === undefined) return []
  const change = (valid: Probe): Making =>
    withChange(
      applyScenario(client, given, scenario, operation, async () => valid),
      (probe) => withBody(probe, setAt(jsonOf(probe), pointer, getAt(jsonOf(valid), pointer))),
    )
  const purpose = setupFor(blueprint, 'for its blueprint')
  return [{ requirement: conditionOf(blueprint), purpose, change }]
}

// Create an application (§4.4, §7.3)

export const applicationsCreate = suite('applications.create', () => ({
  '2xx-accepted': accepted,
  '2xx-usable': relation(usable),
  '2xx-own-id': relation(ownId),
  '4xx-no-effect': noEffect(refusedByBlueprint),
  '400-atomic': relation(noDuplicateAtOnce),
  '400-malformed-parameters': byRecord(),
  '400-duplicate-name': relation(noDuplicate),
}))
