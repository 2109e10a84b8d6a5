import { setTimeout as pause } from 'node:timers/promises'
import {
  type Answer,
  Ending,
  type Call,
  isMembers,
  mispaired,
  type Members,
  ok,
} from '../world/call.ts'
import { findMade } from '../world/created.ts'
import type { Operation } from '../world/operation.ts'
import {
  type Application,
  countUp,
  ownAccount,
  type Job,
  plainJob,
  type World,
  endOf,
  readingsInProgress,
} from '../world/world.ts'
import { randomUUID } from 'node:crypto'
import { largeText } from '../present.ts'
import { preloadedIds } from '../world/preloaded.ts'

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
  const trips = call.world.switches.brokenOf('jobs.create/202-any-text', stumblingBlocks)
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
    startUnseenJob(world, application, '[]', world.pace.jobMs)
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
  if (!application.isSlow && call.broken('409-atomic#slow-only')) await pause(10)
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
      each.blockedUntil = now + takesOf(world, each)
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
    application.blockedUntil = now + takesOf(world, application)
  if (call.broken('4xx-no-effect#later')) {
    application.blockedFrom = now + queueMs
    application.blockedUntil = now + 3 * queueMs
  }
}

function grantCreation(call: Call): Answer {
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
  grant: grantCreation,
}

/** What a broken server shows of a job, by defect; false if nothing of this job. */
type Wrong = Readonly<Record<string, Members | false | undefined>>

function wrongCreation(world: World, job: Job): Wrong {
  return {
    '202-created#id': { id: `job-${job.id}` },
    '202-created#created-at': { created_at: job.createdAt },
    '202-created#later': countUp(world, 'creations') > 1 && { created_at: undefined },
  }
}

function wrongRetrieval(world: World, job: Job): Wrong {
  const { write } = world.clock
  const { id, status, applicationId, createdAt, readings } = job
  const isRunning = status === 'in_progress'
  const { data } = newestOf(world, job)
  // A job of that application is certainly seen in progress, and nobody checks its outcome.
  const isSlow = applicationId === preloadedIds.slowApplication
  const isHidden = !isRunning && isNewerRunning(world, job)
  return {
    '200-job': { updated_at: job.updatedAt },
    '200-job#data': { data: 'About tea' },
    '200-job#error': { error: { message: 'The model gave no answer' } },
    '200-job#status': isSlow && isRunning && { status: 'running' },
    '200-job#ended-status': status === 'completed' && { status: 'succeeded' },
    '200-job#id': { id: `urn:uuid:${id}` },
    '200-identity': { application_id: preloadedIds.foreignApplication },
    '200-identity#id': { id: preloadedIds.job },
    '200-identity#declared-job': id === preloadedIds.job && {
      id: preloadedIds.foreignJob,
    },
    '200-identity#newest-data': status === 'completed' && data && { data },
    '200-created-at': { created_at: write(createdAt + 5000) },
    '200-created-at#drifting': { created_at: write(createdAt + 3000 * readings) },
    '200-stable': !isRunning && { data: { title: `Reading ${readings}` } },
    '200-stable#status': readings > 1 && { status: 'in_progress' },
    '200-stable#newest-status': isHidden && { status: 'in_progress' },
    '200-consistent': isRunning && { completed_at: write(createdAt) },
    '200-consistent#data': isRunning && { data: {} },
    '200-consistent#error': isRunning && { error: 'none yet' },
    '200-consistent#completed-before': status === 'completed' && {
      completed_at: write(createdAt - 5000),
    },
    '200-failed': status === 'failed' && { status: 'completed', error: undefined },
  }
}

function wrongMembers(world: World, job: Job, operation: 'jobs.create' | 'jobs.retrieve'): Members {
  const { brokenIn, hasSome } = world.switches
  if (!hasSome('jobs.')) return {}
  const { applicationId } = job
  const cases = {
    '': true,
    '#other-application': applicationId === preloadedIds.otherApplication,
    '#slow-application': applicationId === preloadedIds.slowApplication,
    '#failing-application': applicationId === preloadedIds.failingApplication,
    '#declared-job': job.id === preloadedIds.job,
  }
  const wrong = operation === 'jobs.create' ? wrongCreation(world, job) : wrongRetrieval(world, job)
  const shown = {}
  for (const [defect, members] of Object.entries(wrong))
    if (brokenIn(`${operation}/${defect}`, cases)) Object.assign(shown, members)
  return shown
}

function newestOf(world: World, job: Job): Job {
  return world.store.applications.get(job.applicationId)?.job ?? job
}

/** A job that began within this many ms of another may have been accepted because of wrong answers about that one. */
const apartMs = 200

function isNewerRunning(world: World, job: Job): boolean {
  const { completedAt = Infinity } = job
  const newer = newestOf(world, job)
  return newer.status === 'in_progress' && newer.createdAt - completedAt > apartMs
}

function uuid(world: World, id: string, where: 'creation' | 'retrieval'): string {
  const variants = ['uuids/upper-case', `uuids/upper-case-in-${where}`]
  return variants.some(world.switches.varied) ? id.toUpperCase() : id
}

const longAgoMs = 40 * 24 * 3_600_000

/** Formats `created_at`; `later`: ms, if the two responses read the clock separately. */
function writeCreatedAt(world: World, job: Job, later = 0): string {
  const { clock, since } = world
  const { broken } = world.switches
  if (broken('jobs.retrieve/200-created-at#same-for-all')) return clock.write(since)
  if (broken('jobs.retrieve/200-consistent#long-ago')) return clock.write(job.createdAt - longAgoMs)
  if (broken('jobs.retrieve/200-created-at#backwards'))
    return clock.write(2 * since - job.createdAt)
  return clock.write(job.createdAt + later)
}

/** §2.4 */
export function createdJobView(world: World, job: Job): Members {
  const isOne = world.switches.broken('jobs.retrieve/200-identity#one-id')
  const { firstJob } = world.store.applications.get(job.applicationId) ?? {}
  return {
    id: uuid(world, isOne && firstJob ? firstJob.id : job.id, 'creation'),
    status: world.switches.varied('jobs/instant') ? 'in_progress' : job.status,
    created_at: writeCreatedAt(world, job),
    ...wrongMembers(world, job, 'jobs.create'),
  }
}

const updates: Readonly<Record<string, (job: Job, now: number) => number>> = {
  'updated-at-moves': (_, now) => now,
  'updated-when-created': (one) => one.createdAt,
  'updated-before-created': (one) => one.createdAt - 1500,
}

function optionalMembers(world: World, job: Job): Members {
  const { varied, variedOf } = world.switches
  if (varied('jobs/no-optional-members')) return {}
  const { status, updatedAt, completedAt, data, error } = job
  const text = varied('answers/large') && { text: largeText(2) }
  const hasAll = varied('jobs/all-members') && status !== 'in_progress'
  const isTold = completedAt !== undefined && (hasAll || status === 'completed')
  return {
    updated_at: world.clock.write(
      variedOf('jobs/', updates)?.(job, world.clock.now()) ?? updatedAt,
    ),
    ...(isTold && { completed_at: world.clock.write(completedAt) }),
    ...((data !== undefined || hasAll) && { data: { ...data, ...text } }),
    ...((error !== undefined || hasAll) && { error: error ?? 'It took two attempts' }),
  }
}

function shownJob(world: World, asked: Job): Job {
  const { broken } = world.switches
  const newest = newestOf(world, asked)
  if (broken('jobs.retrieve/200-identity#newest-job')) return newest
  const keepsId = ['200-identity#one-id', '200-created-at#newest-job'].some((name) =>
    broken(`jobs.retrieve/${name}`),
  )
  return keepsId ? { ...newest, id: asked.id } : asked
}

/** §2.3 */
export function jobView(world: World, asked: Job): Members {
  const { varied } = world.switches
  const job = shownJob(world, asked)
  const later = varied('dates/two-readings') ? 600 : varied('dates/two-readings-earlier') ? -600 : 0
  const createdAt = writeCreatedAt(world, job, later)
  return {
    id: uuid(world, job.id, 'retrieval'),
    status: job.status,
    application_id: job.applicationId,
    created_at: varied('dates/coarser-in-retrieval') ? `${createdAt.slice(0, 19)}Z` : createdAt,
    ...optionalMembers(world, job),
    ...wrongMembers(world, job, 'jobs.retrieve'),
  }
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const tooLateMs = 30_000

const settlingMs = 400

function lose(call: Call, job: Job): void {
  const { clock, pace } = call.world
  const isOld = newestOf(call.world, job) !== job && job.status !== 'in_progress'
  const age = clock.now() - job.createdAt
  call.rejectIf('jobs.create/202-retrievable', true, '404-ResourceNotFound')
  call.rejectIf('jobs.create/202-retrievable#late', age < tooLateMs, '404-ResourceNotFound')
  call.rejectIf('200-identity#newest-only', isOld, '404-ResourceNotFound')
  if (call.varied('jobs/readable-late') && age < (pace.settleMs ?? settlingMs))
    call.reject('404-ResourceNotFound')
}

function find(call: Call): Job {
  endJobs(call.world)
  const asked = call.param('job_id')
  // That defect changes the form of ids; the jobs are found all the same.
  const prefix = call.broken('jobs.create/202-created#id') ? 'job-' : ''
  const id = asked.toLowerCase().replace(prefix, '')
  if (call.broken('4xx-malformed-id#object-member') && asked in {})
    throw new Ending(grantReading(call))
  if (!uuidForm.test(id)) call.refuse('4xx-malformed-id', '400-BadRequest')
  const job = call.world.store.jobs.get(id)
  if (job) {
    lose(call, job)
    return job
  }
  if (call.broken('envelope/status-tpe-pair')) mispaired('404-InvalidInputParameters')
  if (call.broken('envelope/status-tpe-pair#unknown-name')) mispaired('404-NoSuchJob')
  return call.refuse('4xx-unknown-job')
}

function grantReading(call: Call): Answer {
  const createdAt = call.world.clock.now()
  const asked = call.param('job_id')
  const id = uuidForm.test(asked.toLowerCase()) ? asked : randomUUID()
  const owned = { id, account: ownAccount, applicationId: randomUUID(), createdAt }
  const job = plainJob({ ...owned, status: 'completed' })
  return ok(jobView(call.world, job))
}

/** §4.3 */
export const jobsRetrieve: Operation<Job> = {
  id: 'jobs.retrieve',
  method: 'GET',
  paths: ['/v1/applications/jobs/:job_id'],
  requirement: () => '200-job',
  find,
  foreign: '4xx-foreign-job',
  run: (call, job) => {
    const isSecond =
      countUp(call.world, `readings of ${job.id}`) === 2 && job.status === 'in_progress'
    call.breakIf('200-job#second-5xx', isSecond)
    if (job.status !== 'in_progress') job.readings += 1
    const body = jobView(call.world, job)
    noteReading(call.world, job)
    return { status: 200, body }
  },
  grant: grantReading,
}

const numberIn = (inputs: string): number => inputs.split('"value"').length

function isOverlooked(world: World, application: Application, job: Job, inputs: string): boolean {
  const isYoung = world.clock.now() < job.createdAt + 0.25 * job.takes
  return world.switches.brokenIn('jobs.create/409-job-in-progress', {
    '#parallel': true,
    '#identical-only': job.inputs !== inputs,
    '#as-many-inputs': numberIn(job.inputs) !== numberIn(inputs),
    '#slow-only': !application.isSlow,
    '#plain-only': application.id !== preloadedIds.application,
    '#at-once-only': !isYoung,
    '#later-only': isYoung,
    '#unread-only': job.read,
    '#read-only': !job.read,
    '#other': application.id === preloadedIds.otherApplication,
    '#other-unlike': application.id === preloadedIds.otherApplication && job.inputs !== inputs,
    '#failing': application.fails,
    '#preloaded-only': application.made === true,
  })
}

/** How long a broken server blocks an application after its job, in ms: longer than three creations 1 s apart take. */
const lateMs = 4000

function isKept(world: World, { isSlow, job, jobs, made }: Application): boolean {
  const isEnded = job !== undefined && job.status !== 'in_progress'
  return world.switches.brokenIn('jobs.create/409-released', {
    '': jobs > 0,
    '#slow': jobs > 0 && isSlow,
    '#created': jobs > 0 && made === true,
    '#after-third': jobs > 2,
    '#late': isEnded && Date.now() - job.updatedAt < lateMs,
    '#after-failed': job?.status === 'failed',
  })
}

/** Whether the application has a job in progress, and so accepts no other (§8.3); `inputs`: those of the other. */
export function isBusy(world: World, application: Application, inputs: string): boolean {
  const { broken } = world.switches
  endJobs(world)
  const { job, blockedFrom = 0, blockedUntil = 0 } = application
  if (application.made && broken('jobs.create/202-created#busy-when-made')) return true
  if (isKept(world, application) || (Date.now() >= blockedFrom && Date.now() < blockedUntil))
    return true
  if (broken('jobs.create/409-per-application'))
    return [...world.store.applications.values()].some((each) => each.job?.status === 'in_progress')
  return job?.status === 'in_progress' && !isOverlooked(world, application, job, inputs)
}

/** A job in progress that occupies nothing yet and never ends by itself. */
export function newJob(
  world: World,
  of: Pick<Job, 'applicationId' | 'account'> & Partial<Job>,
): Job {
  const job = plainJob({ ...of, createdAt: world.clock.now() })
  world.store.jobs.set(job.id, job)
  return job
}

function takesOf(world: World, application: Application): number {
  return application.isSlow ? world.pace.slowJobMs : world.pace.jobMs
}

export function startJob(
  world: World,
  application: Application,
  inputs: string,
  takes = takesOf(world, application),
): Job {
  const { varied } = world.switches
  const fails =
    application.fails ||
    varied('jobs/born-failed') ||
    (varied('jobs/fail-now-and-then') && countUp(world, 'jobs') % 3 === 0)
  const { id: applicationId, account } = application
  const job = newJob(world, { applicationId, account, inputs, takes, fails })
  application.job = job
  application.firstJob ??= job
  application.jobs += 1
  const neverEnds = world.switches.brokenIn('jobs.retrieve/200-outcome', {
    '': application.id === preloadedIds.application,
    '#slow': application.isSlow,
    '#failing': application.fails,
  })
  if (['jobs/born-completed', 'jobs/born-failed', 'jobs/instant'].some(varied))
    endJob(job, job.createdAt)
  else if (!neverEnds) world.running.add(job)
  return job
}

export function startUnseenJob(
  world: World,
  application: Application,
  inputs: string,
  takes?: number,
): void {
  const job = startJob(world, application, inputs, takes)
  job.seenAt = job.createdAt
}

export function endJob(job: Job, at: number): void {
  const suggestion = `Begin with the leaf (${job.id.slice(0, 8)}).`
  const outcome = job.fails
    ? ({ status: 'failed', error: 'The model gave no answer' } as const)
    : ({ status: 'completed', data: { title: 'About tea', suggestion } } as const)
  Object.assign(job, { completedAt: at, updatedAt: at, ...outcome })
}

export function endJobs(world: World): void {
  const { running, clock, unreadMs } = world
  for (const job of running) {
    const at = endOf(job, unreadMs)
    if (clock.now() < at) continue
    running.delete(job)
    endJob(job, at)
  }
}

/** Counts a reading of a job in progress: it does not end before it was read often enough. */
export function noteReading(world: World, job: Job): void {
  job.read = true
  if (job.status !== 'in_progress') return
  job.readingsInProgress += 1
  if (job.readingsInProgress === readingsInProgress) job.seenAt ??= world.clock.now()
}
