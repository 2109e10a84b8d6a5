import { setTimeout as pause } from 'node:timers/promises'
import type { Answer } from '../answer.ts'
import { isMembers, jsonType, type Call } from '../call.ts'
import { createdJobView } from '../job-view.ts'
import { endJob, isBusy, newJob, startJob } from '../jobs.ts'
import type { Operation } from '../operation.ts'
import { ownAccount, type Application } from '../store.ts'

/** What is wrong with an item of `inputs`, if anything is (§2.5). */
function faultOf(item: unknown): string | undefined {
  if (!isMembers(item)) return 'item'
  if (typeof item['id'] !== 'string') return 'id'
  if (!Array.isArray(item['value'])) return 'value'
  return item['value'].every((text) => typeof text === 'string') ? undefined : 'text'
}

/** A fault of the body itself or of an item, which may also count as invalid input. */
function refuseItems(call: Call, kind: string): never {
  call.refuse('400-malformed-inputs', 400, 'BadRequest', { at: 'items', kind })
}

function check(call: Call): void {
  const { inputs } = call.body
  if (inputs === undefined) call.refuse('400-missing-inputs', 400, 'InvalidInputParameters')
  if (inputs === null) refuseItems(call, 'null')
  if (!Array.isArray(inputs)) call.refuse('400-malformed-inputs', 400, 'BadRequest', { kind: jsonType(inputs) })
  const fault = inputs.map(faultOf).find((each) => each !== undefined)
  if (fault !== undefined) refuseItems(call, fault)
}

function textsOf(inputs: unknown): string {
  return Array.isArray(inputs) ? inputs.flatMap((input: { value: string[] }) => input.value).join('') : ''
}

function fit(call: Call, application: Application): void {
  const given = new Set((call.body['inputs'] as { id: string }[]).map((input) => input.id))
  for (const input of application.inputs) {
    if (input.required && !given.has(input.id)) {
      call.refuse('400-missing-required-inputs', 400, 'InvalidInputParameters', {
        description: `${input.id} is missing`,
      })
    }
  }
  if (call.broken('202-any-text') && /[^A-Za-z0-9 ]/.test(textsOf(call.body['inputs']))) {
    throw new Error('a text that this server cannot take')
  }
}

function refuseWhileBusy(call: Call, application: Application): void {
  if (call.broken('409-job-in-progress#parallel') || !isBusy(call.world, application)) return
  call.refuse('409-job-in-progress', 409, 'BadRequest', { description: 'The application has a job in progress' })
}

async function run(call: Call, application: Application): Promise<Answer> {
  // Check and start in one go, with no gap in which another request could pass the check too (§8.3).
  refuseWhileBusy(call, application)
  if (call.broken('409-atomic')) await pause(10)
  if (call.broken('409-atomic#short')) await pause(2)
  const job = startJob(call.world, application)
  return { status: call.broken('202-created') ? 200 : 202, body: createdJobView(call.world, job) }
}

/** A job that is over at once and occupies nothing. */
function grant(call: Call): Answer {
  const job = newJob(call.world, call.param('application_id'), call.key?.account ?? ownAccount)
  const view = createdJobView(call.world, job)
  endJob(call.world, job, false)
  return { status: 202, body: view }
}

/** §4.2 */
export const jobsCreate: Operation<Application> = {
  id: 'jobs.create',
  method: 'POST',
  paths: ['/v1/applications/:application_id/jobs'],
  body: 'json',
  members: ['inputs'],
  shapeless: (call) => refuseItems(call, 'body'),
  find: (call: Call) => {
    const application = call.world.store.applications.get(call.param('application_id'))
    return application ?? call.refuse('404-unknown-application', 404, 'ResourceNotFound')
  },
  access: (call, application) => {
    if (application.account !== call.key?.account) {
      call.refuse('403-application-access', 403, 'InsufficientAccessRights')
    }
  },
  check,
  fit,
  ready: refuseWhileBusy,
  run,
  grant,
}
