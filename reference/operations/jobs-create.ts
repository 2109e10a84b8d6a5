import { setTimeout as pause } from 'node:timers/promises'
import type { Answer } from '../world/answer.ts'
import type { Call } from '../world/call.ts'
import { checkInputs, refuseItems, checkTexts } from '../world/job-inputs.ts'
import { likenessOf } from '../world/like-id.ts'
import { createdJobView } from '../world/job-view.ts'
import { endJob } from '../world/job-end.ts'
import { isBusy, newJob, startJob, startUnseenJob } from '../world/jobs.ts'
import type { Operation } from '../world/operation.ts'
import { breakUse, isSettling } from '../world/settling.ts'
import { ownAccount, type Application } from '../world/store.ts'
import { countUp } from '../world/world.ts'

function fit(call: Call, application: Application): void {
  const given = new Set((call.body['inputs'] as { id: string }[]).map((input) => input.id))
  for (const input of application.inputs) {
    if (given.has(input.id)) continue
    if (input.required) {
      call.refuse('400-missing-required-inputs', 400, 'InvalidInputParameters', {
        description: `${input.id} is missing`,
        kind: given.size === 0 ? 'none' : [],
      })
    }
    if (call.broken('202-required-inputs-only')) call.reject(400, 'InvalidInputParameters', `${input.id} is missing`)
    if (call.broken('202-required-inputs-only#5xx')) throw new Error(`${input.id} is undefined`)
  }
  checkTexts(call)
}

/** The inputs as text, so that two creations can be compared. */
function inputsOf(call: Call): string {
  return JSON.stringify(call.body['inputs'] ?? [])
}

function refuseWhileBusy(call: Call, application: Application): void {
  if (!isBusy(call.world, application, inputsOf(call))) return
  call.refuse('409-job-in-progress', 409, 'BadRequest', { description: 'The application has a job in progress' })
}

async function run(call: Call, application: Application): Promise<Answer> {
  // Check and start in one go, with no gap in which another request could pass the check too (§8.3).
  refuseWhileBusy(call, application)
  const isSecond = application.fails && countUp(call.world, 'failing jobs') % 2 === 0
  if (call.broken('202-created#second-5xx') && isSecond) throw new Error('every second failing job breaks')
  if (call.broken('409-atomic')) await pause(10)
  if (call.broken('409-atomic#short')) await pause(2)
  if (call.broken('409-atomic#slow-only') && application.pace !== 'slow') await pause(10)
  const job = startJob(call.world, application, inputsOf(call))
  if (call.broken('202-created#answer-lost')) return { status: 500, lost: 'closed' }
  const isWrong = call.broken('202-created') || (call.broken('202-created#created-application') && application.made)
  return { status: isWrong ? 200 : 202, body: createdJobView(call.world, job) }
}

/** Every so manieth creation finds that somebody else has just begun a job there, under that variant. */
const visitEvery = 7

function visit(call: Call, application: Application): void {
  const { world } = call
  if (!call.varied('jobs/others-now-and-then') || isBusy(world, application, inputsOf(call))) return
  if (countUp(world, 'creations asked for') % visitEvery === 0)
    startUnseenJob(world, application, '[]', world.pace.usual)
}

/** How long a refused creation stands in a queue, under a defect, in ms. */
const queueMs = 600

/** What a refused creation leaves behind, under the defects of `4xx-no-effect`. */
function actOnRefusal(call: Call, status: number): void {
  const { world } = call
  const application = world.store.applications.get(call.param('application_id'))
  if (application?.account !== ownAccount || isBusy(world, application, '')) return
  const hasKey = call.request.header('authorization') !== undefined
  const starts: Readonly<Record<string, boolean>> = {
    '': status === 400 || status === 401,
    '#starts-job': status === 400,
    '#unauthorized': status === 401,
    '#required-input': status === 400 && Array.isArray(call.body['inputs']),
    '#other-key': status === 401 && hasKey,
    '#forbidden': status === 403,
    '#content-type': status === 400 && call.request.header('content-type') !== 'application/json',
  }
  const isStarted = Object.entries(starts).some(([name, holds]) => holds && call.broken(`4xx-no-effect${name}`))
  if (isStarted) startUnseenJob(world, application, '')
  if (call.broken('4xx-no-effect#locks') && status === 400) application.blockedUntil = Infinity
  if (call.broken('4xx-no-effect#later') && status === 400) {
    application.blockedFrom = Date.now() + queueMs
    application.blockedUntil = application.blockedFrom + 2 * queueMs
  }
  if (call.broken('4xx-no-effect#blocks') && status === 400) {
    application.blockedUntil = Date.now() + world.pace[application.pace]
  }
}

/** A job that is over at once and occupies nothing. */
function grant(call: Call): Answer {
  const account = call.key?.account ?? ownAccount
  const job = newJob(call.world, { applicationId: call.param('application_id'), account, inputs: '[]', takes: 0 })
  const view = createdJobView(call.world, job)
  endJob(job, job.createdAt)
  return { status: 202, body: view }
}

/** §4.2 */
export const jobsCreate: Operation<Application> = {
  id: 'jobs.create',
  method: 'POST',
  paths: ['/v1/applications/:application_id/jobs'],
  body: 'json',
  members: ['inputs'],
  row: () => '202-created',
  shapeless: (call) => refuseItems(call, 'body'),
  find: (call: Call) => {
    const application = call.world.store.applications.get(call.param('application_id'))
    const kind = () => likenessOf(call, call.param('application_id'), call.world.store.applications.keys())
    if (!application) return call.refuse('404-unknown-application', 404, 'ResourceNotFound', { kind: kind() })
    if (isSettling(call.world, 'applications', application)) call.reject(404, 'ResourceNotFound')
    breakUse(call, 'applications.create/2xx-usable', application, call.world.store.applications.values())
    return application
  },
  access: (call, application) => {
    if (application.account !== call.key?.account) {
      call.refuse('403-application-access', 403, 'InsufficientAccessRights')
    }
  },
  check: checkInputs,
  fit,
  ready: (call, application) => {
    visit(call, application)
    refuseWhileBusy(call, application)
  },
  refused: actOnRefusal,
  run,
  grant,
}
