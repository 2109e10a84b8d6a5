import { setTimeout as pause } from 'node:timers/promises'
import type { Answer } from '../answer.ts'
import type { Call } from '../call.ts'
import { checkInputs, refuseItems } from '../job-inputs.ts'
import { checkTexts } from '../job-texts.ts'
import { createdJobView } from '../job-view.ts'
import { endJob, isBusy, newJob, startJob } from '../jobs.ts'
import type { Operation } from '../operation.ts'
import { ownAccount, type Application } from '../store.ts'

function fit(call: Call, application: Application): void {
  const given = new Set((call.body['inputs'] as { id: string }[]).map((input) => input.id))
  for (const input of application.inputs) {
    if (input.required && !given.has(input.id)) {
      call.refuse('400-missing-required-inputs', 400, 'InvalidInputParameters', {
        description: `${input.id} is missing`,
      })
    }
  }
  checkTexts(call)
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
  check: checkInputs,
  fit,
  ready: refuseWhileBusy,
  run,
  grant,
}
