import { setTimeout as pause } from 'node:timers/promises'
import {
  freshName,
  nameCheckMs,
  namedBy,
  createAllTheSame,
  breakUse,
  isSettling,
  newId,
  writeId,
  nameOf,
  likenessOf,
} from '../world/created.ts'
import { ownAccount, type Application, countUp } from '../world/world.ts'
import { type Answer, Ending } from '../world/answer.ts'
import { isMembers, type Call, jsonType } from '../world/call.ts'
import type { Operation } from '../world/operation.ts'
import { createdJobView } from '../world/job-view.ts'
import { endJob, isBusy, newJob, startJob, startUnseenJob } from '../world/jobs.ts'

/** A blueprint names its nodes, and its edges lead from one of them to another. */
function isBlueprint(blueprint: unknown): boolean {
  if (!isMembers(blueprint) || !Array.isArray(blueprint['nodes']) || !Array.isArray(blueprint['edges'])) return false
  const nodes = new Set<unknown>(blueprint['nodes'])
  const isEdge = (edge: unknown) => Array.isArray(edge) && edge.length === 2 && edge.every((end) => nodes.has(end))
  return [...nodes].every((node) => typeof node === 'string') && blueprint['edges'].every(isEdge)
}

function checkApplication(call: Call): void {
  if (typeof nameOf(call, 'Application') !== 'string') call.refuse('400-malformed-parameters', 400, 'BadRequest')
  if (!isBlueprint(call.body['blueprint'])) {
    call.refuse('400-invalid-blueprint', 400, 'InvalidInputParameters', {
      description: 'The blueprint does not hold together',
    })
  }
}

function make(call: Call, name: string, account: string): Application {
  const { world } = call
  const application: Application = {
    id: newId(world, 'application'),
    account,
    name,
    inputs: call.varied('applications/inputs-demanded') ? [{ id: 'subject', required: true }] : [],
    pace: 'usual',
    fails: false,
    createdAt: world.clock.now(),
    made: true,
    jobs: 0,
  }
  world.store.applications.set(application.id, application)
  return application
}

async function create(call: Call): Promise<Answer> {
  const { world, key } = call
  const { applications } = world.store
  const name = freshName(call, 'Application', applications.values())
  if (call.broken('400-atomic')) await pause(nameCheckMs)
  const { id, createdAt } = namedBy(call, applications.values(), make(call, name, key?.account ?? ''))
  return { status: 201, body: { id: writeId(world, id), name, created_at: world.clock.write(createdAt) } }
}

/** §4.4 */
export const applicationsCreate: Operation = {
  id: 'applications.create',
  paths: ['/v1/applications'],
  members: ['name', 'blueprint'],
  check: checkApplication,
  refused: createAllTheSame(make),
  run: create,
  grant: (call) => ({ status: 201, body: { id: newId(call.world, 'application'), name: 'application' } }),
}

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
  const { job } = application
  if (job && call.broken('409-job-in-progress#answered-again'))
    throw new Ending({ status: 202, body: createdJobView(call.world, job) })
  call.refuse('409-job-in-progress', 409, 'BadRequest', { description: 'The application has a job in progress' })
}

/** Inputs for which a job is being started, by application. */
const underWay = new WeakMap<Application, Set<string>>()

/** Locks the inputs in place of the application, under `409-atomic#same-only`. */
async function lockInputs(call: Call, application: Application): Promise<void> {
  const [locked, inputs] = [underWay.get(application) ?? new Set<string>(), inputsOf(call)]
  underWay.set(application, locked)
  if (locked.has(inputs)) call.refuse('409-job-in-progress', 409, 'BadRequest')
  locked.add(inputs)
  await pause(10)
  locked.delete(inputs)
}

async function run(call: Call, application: Application): Promise<Answer> {
  // Check and start in one go, with no gap in which another request could pass the check too (§8.3).
  refuseWhileBusy(call, application)
  const isSecond = application.fails && countUp(call.world, 'failing jobs') % 2 === 0
  if (call.broken('202-created#second-5xx') && isSecond) throw new Error('every second failing job breaks')
  if (call.broken('409-atomic')) await pause(10)
  if (call.broken('409-atomic#short')) await pause(2)
  if (call.broken('409-atomic#same-only')) await lockInputs(call, application)
  if (call.broken('409-atomic#slow-only') && application.pace !== 'slow') await pause(10)
  const job = startJob(call.world, application, inputsOf(call))
  if (call.broken('202-created#answer-lost')) return { status: 500, lost: 'closed' }
  const isWrong = call.broken('202-created') || (call.broken('202-created#created-application') && application.made)
  const isFewer = (call.body['inputs'] as unknown[]).length < application.inputs.length
  const lacks = isFewer && call.broken('202-created#fewer-inputs') ? { created_at: null } : {}
  const body = { ...createdJobView(call.world, job), ...lacks }
  return { status: isWrong ? 200 : 202, body }
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

/** Leaves a job behind in spite of a refusal, under the defects of `4xx-no-effect`. */
function actOnRefusal(call: Call, status: number): void {
  const { world } = call
  const application = world.store.applications.get(call.param('application_id'))
  if (!application && status === 404 && call.broken('4xx-no-effect#unknown')) {
    // A lock whose name is that of no application in particular.
    for (const each of world.store.applications.values()) each.blockedUntil = Date.now() + world.pace[each.pace]
  }
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
  paths: ['/v1/applications/:application_id/jobs'],
  members: ['inputs'],
  requirement: () => '202-created',
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

/** Finds what is wrong with an item of `inputs`, if anything is (§2.5). */
function faultOf(item: unknown): string | undefined {
  if (!isMembers(item)) return 'item'
  if (item['id'] === undefined) return 'no-id'
  if (typeof item['id'] !== 'string') return 'id'
  if (item['value'] === undefined) return 'no-value'
  if (!Array.isArray(item['value'])) return 'value'
  return item['value'].every((text) => typeof text === 'string') ? undefined : 'text'
}

/** A fault of the body itself or of an item, which may also count as invalid input. */
function refuseItems(call: Call, kind: string): never {
  call.refuse('400-malformed-inputs', 400, 'BadRequest', { at: 'items', kind })
}

/** Whether a broken server leaves an item out instead of refusing it: it looks at the first alone, or accepts that JSON type. */
function isIgnored(call: Call, item: unknown, at: number): boolean {
  if (at > 0 && call.broken('400-malformed-inputs#ignores-later-items') && faultOf(item) !== undefined) return true
  const place = isMembers(item) ? `id-${jsonType(item['id'])}` : `item-${jsonType(item)}`
  return call.broken(`400-malformed-inputs#ignores-${place}`)
}

/** The item as a broken server sees it that looks at the first text of a value alone. */
function withoutLaterFaults(call: Call, item: unknown): unknown {
  if (!call.broken('400-malformed-inputs#ignores-later-texts')) return item
  if (!isMembers(item) || !Array.isArray(item['value'])) return item
  return { ...item, value: item['value'].filter((text, at) => at === 0 || typeof text === 'string') }
}

/** Checks `inputs` by themselves, whatever the application asks for. */
function checkInputs(call: Call): void {
  const { inputs } = call.body
  if (inputs === undefined) call.refuse('400-missing-inputs', 400, 'InvalidInputParameters')
  if (inputs === null) refuseItems(call, 'null')
  if (!Array.isArray(inputs)) {
    const own = isMembers(inputs) ? inputs : {}
    const kinds = [jsonType(inputs), ...('id' in own ? ['one-input'] : []), ...('0' in own ? ['by-index'] : [])]
    call.refuse('400-malformed-inputs', 400, 'BadRequest', { kind: kinds })
  }
  const looked = inputs.filter((item, at) => !isIgnored(call, item, at)).map((item) => withoutLaterFaults(call, item))
  const fault = looked.map(faultOf).find((each) => each !== undefined)
  if (fault !== undefined) refuseItems(call, fault)
  call.body = { ...call.body, inputs: looked }
}

/** Characters of a text, if a server limits what an input may hold. */
const longest = 500

/** Values that an input may have if there is a choice of them. */
const known = new Set(['tea', 'calm'])

/** Texts that a broken server trips over, by variant of the defect `jobs.create/202-any-text`. */
const stumblingBlocks: Readonly<Record<string, (text: string) => boolean>> = {
  '': (text) => /[^A-Za-z0-9 ]/.test(text),
  '#emoji': (text) => /\p{Emoji_Presentation}/u.test(text),
  '#nul': (text) => text.includes('\0'),
  '#backslash': (text) => text.includes('\\'),
  '#empty': (text) => text === '',
  '#blank': (text) => text !== text.trim() && text.trim() !== '',
  '#line-ends': (text) => /[\r\u2028]/.test(text),
  '#digits': (text) => /^\d+$/.test(text),
  '#64-kib': (text) => text.length >= 65_536,
}

function isBeyondLimits(text: string): boolean {
  return text.length > longest || /(?![\t\n\r])\p{Cc}/u.test(text)
}

/** Checks the texts of the inputs. The interface names no limit (§2.5), and no text may bring the server down. */
function checkTexts(call: Call): void {
  const texts = (call.body['inputs'] as readonly { value: readonly string[] }[]).flatMap(({ value }) => value)
  const [name, trips] = Object.entries(stumblingBlocks).find(([each]) => call.broken(`202-any-text${each}`)) ?? ['']
  // The narrower defects are those of a server with limits: a text that it refuses may hide one that it cannot take.
  const limited = call.varied('jobs/texts-limited') || name !== ''
  if (limited && texts.some((text) => isBeyondLimits(text) && !trips?.(text))) {
    call.reject(400, 'BadRequest', `A text has up to ${longest} characters, none of which controls anything`)
  }
  if (call.varied('jobs/values-limited') && texts.some((text) => !known.has(text))) {
    call.reject(400, 'InvalidInputParameters', 'There is no such choice')
  }
  if (trips && texts.some(trips)) throw new Error('a text that this server cannot take')
}
