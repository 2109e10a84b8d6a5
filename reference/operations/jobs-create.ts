import { setTimeout as pause } from 'node:timers/promises'
import { type Answer, Ending, type Call, isMembers } from '../world/call.ts'
import { findMade } from '../world/created.ts'
import { endJob, isBusy, newJob, startJob, startUnseenJob } from '../world/jobs.ts'
import type { Operation } from '../world/operation.ts'
import { type Application, countUp, ownAccount } from '../world/world.ts'
import { createdJobView } from './jobs-retrieve.ts'

function isInput(item: unknown): boolean {
  if (!isMembers(item) || typeof item['id'] !== 'string' || !Array.isArray(item['value']))
    return false
  return item['value'].every((text) => typeof text === 'string')
}

function withArrays(inputs: unknown): unknown {
  const all: unknown = isMembers(inputs) && 'id' in inputs ? [inputs] : inputs
  if (!Array.isArray(all)) return all
  return all.map((item: unknown) =>
    isMembers(item) && typeof item['value'] === 'string'
      ? { ...item, value: [item['value']] }
      : item,
  )
}

function checkInputs(call: Call): void {
  const { inputs: given } = call.body
  const inputs = call.varied('requests/values-coerced') ? withArrays(given) : given
  if (inputs === undefined) call.refuse('400-missing-inputs', '400-InvalidInputParameters')
  if (!Array.isArray(inputs) || !inputs.every(isInput)) call.refuse('400-malformed-inputs')
  call.body = { ...call.body, inputs }
}

const stumblingBlocks: Readonly<Record<string, (text: string) => boolean>> = {
  '': (text) => /[^A-Za-z0-9 ]/.test(text) && !/\p{Cs}/u.test(text),
  '#emoji': (text) => /\p{Emoji_Presentation}/u.test(text),
  '#nul': (text) => text.includes('\0'),
  '#backslash': (text) => text.includes('\\'),
  '#empty': (text) => text === '',
  '#blank': (text) => text !== text.trim() && text.trim() !== '',
  '#line-ends': (text) => /[\r\u2028]/.test(text),
  '#digits': (text) => /^\d+$/.test(text),
  '#object-member': (text) => text in {},
}

/** Checks the texts of the inputs. The interface names no limit (§2.5), and no text may crash the server. */
function checkTexts(call: Call): void {
  const inputs = call.body['inputs'] as readonly { value: readonly string[] }[]
  const texts = inputs.flatMap((input) => input.value)
  const trips = call.world.switches.brokenOf(stumblingBlocks, 'jobs.create/202-any-text')
  // The narrower defects belong to a server with limits: refusing a text may hide that another one crashes it.
  const isLimited =
    call.varied('jobs/texts-limited') || (trips !== undefined && trips !== stumblingBlocks[''])
  const isBeyond = (text: string): boolean => text.length > 500 || /(?![\t\n\r])\p{Cc}/u.test(text)
  if (isLimited && texts.some((text) => isBeyond(text) && !trips?.(text)))
    call.reject('400-BadRequest', `A text is too long, or has control characters`)
  if (call.varied('jobs/values-limited') && texts.some((text) => !['tea', 'calm'].includes(text)))
    call.reject('400-InvalidInputParameters', 'There is no such choice')
  if (trips && texts.some(trips)) throw new Error('a text that this server cannot take')
}

function fit(call: Call, application: Application): void {
  const given = new Set((call.body['inputs'] as { id: string }[]).map((input) => input.id))
  for (const { id, required } of application.inputs) {
    if (given.has(id)) continue
    if (required) call.refuse('400-missing-required-inputs', '400-InvalidInputParameters')
    call.rejectIf('202-required-inputs-only', true, '400-InvalidInputParameters')
    call.breakIf('202-required-inputs-only#5xx', true)
  }
  checkTexts(call)
}

const inputsOf = (call: Call): string => JSON.stringify(call.body['inputs'] ?? [])

function refuseWhileBusy(call: Call, application: Application): void {
  if (!isBusy(call.world, application, inputsOf(call))) return
  const { job } = application
  if (job && call.broken('409-job-in-progress#answered-again'))
    throw new Ending({ status: 202, body: createdJobView(call.world, job) })
  call.refuse('409-job-in-progress')
}

/** Now and then a creation finds a job that somebody else just began, under that variant. */
function visit(call: Call, application: Application): void {
  const { world } = call
  if (!call.varied('jobs/others-now-and-then') || application.made) return
  if (isBusy(world, application, inputsOf(call))) return
  if (countUp(world, 'creations asked for') % 7 === 0)
    startUnseenJob(world, application, '[]', world.pace.usual)
}

const underWay = new WeakMap<Application, Set<string>>()

async function lockInputs(call: Call, application: Application): Promise<void> {
  const [locked, inputs] = [underWay.get(application) ?? new Set<string>(), inputsOf(call)]
  underWay.set(application, locked)
  if (locked.has(inputs)) call.refuse('409-job-in-progress')
  locked.add(inputs)
  await pause(10)
  locked.delete(inputs)
}

async function run(call: Call, application: Application): Promise<Answer> {
  // Checks and starts without a gap in which another request could pass the check (§8.3).
  refuseWhileBusy(call, application)
  const isSecond = application.fails && countUp(call.world, 'failing jobs') % 2 === 0
  call.breakIf('202-created#second-5xx', isSecond)
  if (call.broken('409-atomic')) await pause(10)
  if (call.broken('409-atomic#short')) await pause(2)
  if (call.broken('409-atomic#same-only')) await lockInputs(call, application)
  if (application.pace !== 'slow' && call.broken('409-atomic#slow-only')) await pause(10)
  const job = startJob(call.world, application, inputsOf(call))
  if (call.broken('202-created#answer-lost')) return { status: 500, lost: 'closed' }
  const isWrong = call.brokenIn('202-created', {
    '': true,
    '#created-application': application.made === true,
  })
  const isFewer = (call.body['inputs'] as unknown[]).length < application.inputs.length
  const lacks = isFewer && call.broken('202-created#fewer-inputs') && { created_at: null }
  return { status: isWrong ? 200 : 202, body: { ...createdJobView(call.world, job), ...lacks } }
}

const queueMs = 600

function actOnRefusal(call: Call, status: number): void {
  const { world } = call
  const application = world.store.applications.get(call.param('application_id'))
  const now = Date.now()
  if (!application && status === 404 && call.broken('4xx-no-effect#unknown'))
    for (const each of world.store.applications.values())
      each.blockedUntil = now + world.pace[each.pace]
  if (application?.account !== ownAccount || isBusy(world, application, '')) return
  const { authorization, 'content-type': type } = call.request.header()
  const isStarted = call.brokenIn('4xx-no-effect', {
    '': status === 400 || status === 401,
    '#starts-job': status === 400,
    '#unauthorized': status === 401,
    '#required-input': status === 400 && Array.isArray(call.body['inputs']),
    '#other-key': status === 401 && authorization !== undefined,
    '#forbidden': status === 403,
    '#content-type': status === 400 && type !== 'application/json',
  })
  if (isStarted) startUnseenJob(world, application, '')
  if (status !== 400) return
  if (call.broken('4xx-no-effect#locks')) application.blockedUntil = Infinity
  if (call.broken('4xx-no-effect#blocks'))
    application.blockedUntil = now + world.pace[application.pace]
  if (call.broken('4xx-no-effect#later')) {
    application.blockedFrom = now + queueMs
    application.blockedUntil = now + 3 * queueMs
  }
}

function grant(call: Call): Answer {
  const account = call.key?.account ?? ownAccount
  const job = newJob(call.world, { applicationId: call.param('application_id'), account })
  const view = createdJobView(call.world, job)
  endJob(job, job.createdAt)
  return { status: 202, body: view }
}

/** §4.2 */
export const jobsCreate: Operation<Application> = {
  id: 'jobs.create',
  paths: ['/v1/applications/:application_id/jobs'],
  members: ['inputs'],
  requirement: () => '202-created',
  find: (call) =>
    findMade(call, 'application', call.world.store.applications, 'applications.create/2xx-usable'),
  foreign: '403-application-access',
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
