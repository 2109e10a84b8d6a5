import type { RequirementId } from '../../catalogue/catalogue.ts'
import { type Client, type Given, orElse } from '../../harness/client/index.ts'
import { byScenario } from '../checks/scenario.ts'
import { concluded, findingVerdict, joined } from '../checks/rules.ts'
import {
  control,
  controlExchange,
  grantedControl,
  declaredResource,
  validRequest,
} from '../checks/valid-request.ts'
import { grantedByScenario, grantedVerdict } from '../checks/granted.ts'
import { once } from '../checks/created.ts'
import {
  type Verdict,
  describeResponse,
  type Exchange,
  isGranted,
  jsonValue,
  NotExercised,
} from '../../harness/journal/index.ts'
import {
  ask,
  type BodySchema,
  type CheckContext,
  decisive,
  grantedFinding,
  type Judge,
  shapeFinding,
} from '../../harness/run/index.ts'
import { groupBy } from '../../harness/group-by.ts'
import { leftOut } from '../../harness/report/index.ts'
import type { applicationNames } from '../../harness/target/index.ts'
import { Jobs, jobRequest } from './client.ts'
import { isSomeCreated } from './creations.ts'
import { provokeConflicts, provokeRefusals } from './drive.ts'
import { hasEnded, isGone, isRead, type Job, ownJobs } from './view.ts'
import { apartMs, failedFault, failedRule, isSomeRight, ofFailing } from './readings.ts'
import { ids, type JobRuleId, jobRules, rulesAfter, type State } from './rules.ts'

/** The job of the `jobs.create` control, once it can be read or `settleMs` have passed. */
async function readNewJob(jobs: Jobs): Promise<string> {
  const { client, given } = jobs
  if (given.options.readOnly) throw new NotExercised(leftOut('--read-only'))
  const { exchange, said } = await grantedControl(
    client,
    given,
    'jobs.create',
    'no job could be created',
  )
  const job = exchange && jobs.madeBy(jobs.eventOf(exchange))
  if (!job) throw new NotExercised(`the creation response has no id: ${said()}`)
  await jobs.readUntilFound(job)
  return job.id
}

/** Throws `NotExercised` if the creation is refused. */
async function follow(
  jobs: Jobs,
  name: (typeof applicationNames)[number],
  requirement: RequirementId,
): Promise<string> {
  const { client, given } = jobs
  const application = declaredResource(given, name)
  const purpose = { requirement, role: 'setup' } as const
  const exchange = await ask(client, () => jobRequest(given, application), purpose)
  const job = jobs.madeBy(jobs.eventOf(exchange))
  if (!job)
    throw new NotExercised(
      `no job of resources.${name} could be created: ${describeResponse(exchange)}`,
    )
  await jobs.readUntilFound(job)
  await jobs.awaitEnd(job.id)
  return job.id
}

const states: Readonly<Record<State, (jobs: Jobs) => Promise<unknown>>> = {
  readable: readNewJob,
  ended: async (jobs) => jobs.awaitEnd(await reach(jobs.client, jobs.given, 'readable')),
  conflicts: provokeConflicts,
  refusals: provokeRefusals,
  other: (jobs) => follow(jobs, 'otherApplication', 'jobs.retrieve/200-identity'),
  failing: (jobs) => follow(jobs, 'failingApplication', 'jobs.retrieve/200-failed'),
}

export function reach(client: Client, given: Given, state: 'readable' | 'other'): Promise<string>
export function reach(client: Client, given: Given, state: State): Promise<unknown>
export function reach(client: Client, given: Given, state: State): Promise<unknown> {
  return once(client, `jobs ${state}`, () => states[state](new Jobs(client, given)))
}

/** Interval before an ended job is read again, in ms: after its creation, or in a quick run after its observed end. */
const againMs = { full: 2000, quick: 1000 }
/** Maximum ended jobs per application to read again, besides the first; the latest. */
const maxReadAgain = { full: 2, quick: 1 }

/** Per application, the first job and the latest; also jobs that were read and then disappeared. */
function jobsToReadAgain(jobs: Jobs): Job[] {
  const made = ownJobs(jobs.history).filter((one) => !one.twinOf)
  const ended = made.filter((one) => one.isOver)
  const gone = made.filter((one) => one.readings.some(isRead) && isGone(one.readings.at(-1)!))
  const most = maxReadAgain[jobs.given.options.depth]
  const some = [...groupBy(ended, (one) => one.application).values()].flatMap((own) => [
    ...own.slice(0, 1),
    ...own.slice(-most),
  ])
  return [...new Set([...some, ...gone])]
}

async function readAgain(jobs: Jobs, job: Job): Promise<void> {
  const settledAt = job.creation.endedAt + jobs.given.target.limits.settleMs
  if (!isGone(await jobs.read(job.id)) || performance.now() > settledAt) return
  await jobs.pauseUntil(settledAt)
  await jobs.read(job.id)
}

/** Reads what is visible once all jobs have ended, late enough for effects that take seconds. */
export async function readFinalStates(client: Client, given: Given): Promise<void> {
  const jobs = new Jobs(client, given)
  const { history, isQuick } = jobs
  const { depth } = given.options
  const { application, job: declared } = given.target.resources
  await Promise.allSettled(ownJobs(history).map((one) => jobs.awaitEnd(one.id)))
  const created = 'jobs.retrieve/200-created-at'
  const [first] = ownJobs(history)
  const isApart = (one: Job): boolean => one.creation.sentAt - first!.creation.endedAt >= apartMs
  // The order of their times shows only in jobs that are far enough apart.
  const lacksLater = first && !isQuick && !ownJobs(history).some(isApart)
  if (application && lacksLater && jobs.isPlanned(created)) {
    await jobs.pauseUntil(first.creation.endedAt + apartMs)
    await follow(jobs, 'application', created).catch(() => undefined)
  }
  const isWanted = rulesAfter('ended').some((id) => id.startsWith('jobs.r') && jobs.isPlanned(id))
  if (!isWanted || jobs.cannotBeRead) return
  const from = depth === 'full' ? first?.creation : first?.end
  const before = declared === undefined ? undefined : history.of(declared).find(hasEnded)
  const since = [(from?.endedAt ?? 0) + againMs[depth], (before?.endedAt ?? 0) + againMs.quick]
  await jobs.pauseUntil(Math.max(...since))
  await Promise.allSettled([
    ...jobsToReadAgain(jobs).map((job) => readAgain(jobs, job)),
    ...(before && declared !== undefined ? [jobs.read(declared)] : []),
  ])
}

const granting: readonly string[] = [ids.released, ids.perApplication, ids.noEffect]

function byRule(id: JobRuleId): Judge {
  return async (context) => {
    if (context.scenario) return (granting.includes(id) ? grantedByScenario : byScenario)(context)
    const jobs = new Jobs(context.client, context.given)
    const verdict = jobs.verdict(id)
    const { state } = jobRules[id]
    if (verdict.outcome === 'open') await reach(context.client, context.given, state)
    if (id === ids.inProgress || id === ids.noEffect) context.control = 'granted'
    if (verdict.outcome === 'open' && state === 'conflicts')
      throw new NotExercised(
        id === ids.atomic && context.given.target.limits.concurrency === 1
          ? 'concurrent creations need limits.concurrency of 2 or more'
          : `three attempts proved nothing: ${verdict.why}`,
      )
    return decisive(context, verdict)
  }
}

type RulesOf<O extends string> = {
  readonly [Id in JobRuleId as Id extends `${O}/${infer Name}` ? Name : never]: Judge
}

export const byRules = <O extends 'jobs.create' | 'jobs.retrieve'>(operation: O): RulesOf<O> =>
  Object.fromEntries(
    (Object.keys(jobRules) as JobRuleId[])
      .filter((id) => id.startsWith(operation))
      .map((id) => [id.slice(operation.length + 1), byRule(id)]),
  ) as RulesOf<O>

/** Whether an answer is granted and has its shape. `takes`: null if no other job shows the same. */
function answerVerdict(
  context: CheckContext,
  of: { readonly exchange: Exchange; readonly what: string; readonly takes: null | undefined },
  expected: string,
  schema: BodySchema,
): Verdict {
  const found = grantedFinding(context, of.exchange, expected) ?? shapeFinding(of.exchange, schema)
  return concluded([findingVerdict(found, of)])
}

export const eachCreated: Judge = async (context) => {
  const { client, given } = context
  const jobs = new Jobs(client, given)
  const verdictOf = (): Verdict => decisive(context, jobs.verdict(ids.created))
  const exchange = await orElse(
    client,
    () => controlExchange(client, given, 'jobs.create'),
    (error) => {
      // A fault on objects of the run counts even if the declared application is busy.
      if (verdictOf().outcome !== 'broken') throw error
      return undefined
    },
  )
  const verdict = verdictOf()
  if (!exchange) return verdict
  const { response } = exchange
  const isAlone = response && isGranted(response) && !isSomeCreated(jobs.history)
  const of = { exchange, what: 'with a valid body', takes: isAlone ? null : undefined }
  const expected = '202 with the id, status and created_at of the new job'
  const own = answerVerdict(context, of, expected, 'created-job')
  return own.outcome === 'held' ? joined([own, verdict]) : own
}

/** A reading of the declared job, or of the first one of the run, and all others. */
export const eachRead: Judge = async (context) => {
  const jobs = new Jobs(context.client, context.given)
  const { exchange } = await control(context.client, context.given, 'jobs.retrieve')
  if (!exchange) throw new NotExercised(leftOut('--read-only'))
  const takes = isSomeRight(jobs.history) ? undefined : null
  const own = answerVerdict(context, { exchange, what: '', takes }, '200 with a job', 'job')
  const verdict = jobs.verdict('jobs.retrieve/200-job')
  if (own.outcome !== 'held' || verdict.outcome === 'open') return own
  return joined([own, decisive(context, verdict)])
}

/** A job of the application declared for it, or a retrieval that a scenario directs to a failed job. */
export const failsAsDeclared: Judge = async (context) => {
  const { client, given } = context
  if (context.scenario)
    return grantedVerdict(context, {
      make: () => validRequest(client, given, 'jobs.retrieve'),
      what: ofFailing.what,
      tries: 1,
      check(_, exchange) {
        const fault = failedFault(jsonValue(exchange.response))
        return fault && { expected: ofFailing.expected, actual: fault.actual }
      },
    })
  const jobs = new Jobs(client, given)
  const verdict = failedRule(declaredResource(given, 'failingApplication').id)(jobs.history)
  if (verdict.outcome === 'open') await reach(client, given, 'failing')
  return decisive(context, verdict)
}
