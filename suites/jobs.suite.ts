import { accepted } from './checks/granted.ts'
import { applyScenario } from './checks/valid-request.ts'
import { byRecord, missingBody, unknown, withBody, pointerOf } from './checks/faults.ts'
import { suite } from './checks/suite.ts'
import { type Exchange, jsonOf, type Probe, type Purpose } from '../harness/journal/index.ts'
import { type Client, type Given, operationProbe } from '../harness/client/index.ts'
import { isPlanned, type CheckContext, type Judge } from '../harness/run/index.ts'
import { isExclusive } from '../harness/target/index.ts'
import { getAt, setAt } from '../schemas/json.ts'
import { noEffect, onceAtOnce, onceEver, ownId, type Refusal, usable } from './created/drive.ts'
import {
  takesAnyText,
  malformedId,
  malformedInputs,
  unknownJob,
  withoutInput,
  withRequiredInputs,
} from './jobs/faults.ts'
import { gateOf, Jobs } from './jobs/client.ts'
import {
  provokeFirstRefusals,
  byRules,
  eachCreated,
  failsAsDeclared,
  eachRead,
  reach,
} from './jobs/drive.ts'
import { viewOf } from './jobs/view.ts'
import { ids, rulesAfter, type State } from './jobs/rules.ts'

// §4.2 Create application job

export const jobsCreate = suite('jobs.create', () => ({
  ...byRules('jobs.create'),
  '202-created': eachCreated,
  '202-required-inputs-only': withRequiredInputs,
  '202-any-text': takesAnyText,
  '400-missing-body': missingBody,
  '400-missing-inputs': byRecord(),
  '400-missing-required-inputs': withoutInput,
  '400-malformed-inputs': malformedInputs,
  '404-unknown-application': unknown('application_id'),
}))

// §4.3 Retrieve job. The spec names no error for an unknown or malformed id: any 4xx with an envelope passes.

export const jobsRetrieve = suite('jobs.retrieve', () => ({
  ...byRules('jobs.retrieve'),
  '200-job': eachRead,
  '200-failed': failsAsDeclared,
  '4xx-unknown-job': unknownJob,
  '4xx-malformed-id': malformedId,
}))

function refusedByBlueprint(context: CheckContext): Refusal[] {
  const scenario = context.given.target.scenarios['applications.create/400-invalid-blueprint']
  const pointer = pointerOf(context.given, 'applications.create', 'name')
  if (!scenario || scenario.raw || isExclusive(scenario) || pointer === undefined) return []
  const change = async (valid: Probe): Promise<Probe> => {
    const probe = await applyScenario(
      context.client,
      context.given,
      scenario,
      'applications.create',
      async () => valid,
    )
    return withBody(probe, setAt(jsonOf(probe), pointer, getAt(jsonOf(valid), pointer)))
  }
  return [{ requirement: '400-invalid-blueprint', what: 'for its blueprint', change }]
}

const withoutEffect: Judge = (context) => noEffect(context, refusedByBlueprint(context))

// Create an application (§4.4, §7.3)

export const applicationsCreate = suite('applications.create', () => ({
  '2xx-accepted': accepted,
  '2xx-usable': usable,
  '2xx-own-id': ownId,
  '4xx-no-effect': withoutEffect,
  '400-atomic': onceAtOnce,
  '400-malformed-parameters': byRecord(),
  '400-duplicate-name': onceEver,
}))

export async function createJobs(client: Client, given: Given): Promise<void> {
  const jobs = new Jobs(client, given)
  const { application, otherApplication, failingApplication } = given.target.resources
  const isFollowed = application !== undefined && !given.options.readOnly
  const states: State[] = [...(isFollowed ? ['ended' as const] : []), 'conflicts', 'refusals']
  const wanted = states.filter((state) => jobs.isPlanned(...rulesAfter(state)))
  if (failingApplication && isPlanned(given, 'jobs.retrieve/200-failed')) wanted.push('failing')
  const hasOther = otherApplication && otherApplication.id !== application?.id
  const isIdentity = jobs.isPlanned('jobs.retrieve/200-identity')
  // Else the conflicts make one there.
  if (isFollowed && hasOther && isIdentity && !wanted.includes('conflicts')) wanted.push('other')
  await Promise.allSettled(wanted.map((state) => reach(client, given, state)))
}

export async function jobRead(client: Client, given: Given): Promise<Probe> {
  const id = given.target.resources.job ?? (await reach(client, given, 'readable'))
  return operationProbe(given, 'jobs.retrieve', { params: { job_id: id } })
}

/** An application accepts one creation at a time. */
export function whenIdle(
  client: Client,
  given: Given,
  { operation, params, effect }: Probe,
  purpose: Purpose,
  send: (fresh: boolean) => Promise<Exchange>,
): Promise<Exchange> | undefined {
  const jobs = new Jobs(client, given)
  const application =
    operation === 'jobs.create' &&
    jobs.applications.find((one) => one.id === params['application_id'])
  if (!application) return undefined
  const expects409 = purpose.expects?.some(([status]) => status === 409) ?? false
  const gate = gateOf(jobs, application)
  if (effect !== 'none') return gate.sendWhenIdle(true, expects409, send)
  const refused = (): Promise<Exchange> => gate.sendWhenIdle(false, expects409, send)
  // The effect of refused creations is checked before any other refusal is sent there.
  const isLookedAtFirst =
    isPlanned(given, ids.noEffect) && given.target.resources.application?.id === application.id
  return isLookedAtFirst ? provokeFirstRefusals(jobs).then(refused, refused) : refused()
}

export const unfinishedJobs = (client: Client): string[] =>
  viewOf(client.journal)
    .jobs.filter((job) => !job.isOver)
    .map((job) => job.id)
