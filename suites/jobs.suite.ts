import { type CheckContext, type Judge, jsonOf, type Probe } from '../harness/engine/index.ts'
import { jobsOf } from './jobs/job-tracker.ts'
import { judgeNoEffect } from './jobs/no-effect.ts'
import { applyScenario, byRecord, missingBody, pointerOf, suite, unknown, withBody } from '../harness/checks/index.ts'
import { judgeAnyText, judgeConflicts, judgeCreated, judgeRetrievable } from './jobs/creation.ts'
import { malformedId, malformedInputs, unknownJob, withoutInput, withRequiredInputs } from './jobs/faults.ts'
import {
  judgeCreatedAt,
  judgeFailedJob,
  judgeIdentity,
  judgeJobs,
  judgeOutcome,
  judgeStable,
} from './jobs/retrieval.ts'
import { isExclusive } from '../harness/target-file/index.ts'
import { getAt, setAt } from '../schemas/json.ts'
import { eachAccepted, ofBodies, type Refusal } from './created/created-object.ts'
import { noEffect, once, onceAtOnce, ownId } from './created/relations.ts'
import { usable } from './created/usable.ts'

// §4.2 Create application job

export const jobsCreate = suite('jobs.create', {
  '202-created': judgeCreated,
  '202-retrievable': judgeRetrievable,
  '202-required-inputs-only': withRequiredInputs,
  '202-any-text': judgeAnyText,
  '400-missing-body': missingBody,
  '400-missing-inputs': byRecord(),
  '400-missing-required-inputs': withoutInput,
  '400-malformed-inputs': malformedInputs,
  '404-unknown-application': unknown('application_id'),
  '4xx-no-effect': judgeNoEffect,
  '409-job-in-progress': judgeConflicts,
  '409-released': judgeConflicts,
  '409-per-application': judgeConflicts,
  '409-atomic': judgeConflicts,
})

// §4.3 Retrieve job. The spec names no error of an unknown or malformed id: any 4xx with an envelope will do.

export const jobsRetrieve = suite('jobs.retrieve', {
  '200-job': judgeJobs,
  '200-identity': judgeIdentity,
  '200-created-at': judgeCreatedAt,
  '200-outcome': judgeOutcome,
  '200-failed': judgeFailedJob,
  '200-stable': judgeStable,
  '4xx-unknown-job': unknownJob,
  '4xx-malformed-id': malformedId,
})

/** Refused for its blueprint, as the scenario of that requirement says, and with the name of the valid one. */
function refusedByBlueprint({ run }: CheckContext): Refusal[] {
  const scenario = run.target.scenarios['applications.create/400-invalid-blueprint']
  const pointer = pointerOf(run, 'applications.create', 'name')
  if (!scenario || scenario.raw || isExclusive(scenario) || pointer === undefined) return []
  const change = async (valid: Probe): Promise<Probe> => {
    const probe = await applyScenario(run, scenario, 'applications.create', async () => valid)
    return withBody(probe, setAt(jsonOf(probe), pointer, getAt(jsonOf(valid), pointer)))
  }
  return [{ requirement: '400-invalid-blueprint', what: 'for its blueprint', statuses: ofBodies, change }]
}

const withoutEffect: Judge = (context) => noEffect(context, refusedByBlueprint(context))

/** Records the jobs of created applications, since nothing else does, so that the run waits for their end. */
const usableForJobs: Judge = (context) => usable(context, (run, id, exchange) => void jobsOf(run).track(exchange, id))

// Create an application (§4.4, §7.3)

export const applicationsCreate = suite('applications.create', {
  '2xx-accepted': eachAccepted,
  '2xx-usable': usableForJobs,
  '2xx-own-id': ownId,
  '4xx-no-effect': withoutEffect,
  '400-atomic': onceAtOnce,
  '400-malformed-parameters': byRecord(),
  '400-duplicate-name': once,
})
