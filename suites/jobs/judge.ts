import {
  byScenario,
  control,
  controlExchange,
  declaredResource,
  grantedByScenario,
  grantedControl,
  once,
  grantedVerdict,
  joined,
  validRequest,
} from '../../harness/checks/index.ts'
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
import type { ApplicationResource } from '../../harness/target/index.ts'
import { clientOf, type JobClient, jobRequest } from './client.ts'
import { isSomeCreated } from './creations.ts'
import { provokeConflicts, provokeRefusals } from './drive.ts'
import { hasEnded, isGone, isRead, type Job, ownJobs, statusOf, viewOf } from './view.ts'
import { apartMs, failedFault, failedRule, isSomeRight, ofFailing } from './readings.ts'
import { ids, type JobRuleId, jobRules, rulesAfter, type State } from './rules.ts'

/** The id of the job of the `jobs.create` control, once it can be read or `settleMs` have passed. */
async function readNewJob(client: JobClient): Promise<string> {
  const { run, history } = client
  if (run.options.readOnly) throw new NotExercised(leftOut('--read-only'))
  const { exchange, said } = await grantedControl(run, 'jobs.create', 'no job could be created')
  const job = exchange && viewOf(history).madeBy(client.eventOf(exchange))
  if (!job) throw new NotExercised(`the creation response has no id: ${said()}`)
  await client.readUntilFound(job, 'jobs.create/202-retrievable')
  return job.id
}

/** Creates a job on a declared application and follows it to its end; throws `NotExercised` with `none` if refused. */
async function follow(
  client: JobClient,
  application: ApplicationResource,
  requirement: string,
  none: string,
): Promise<void> {
  const { run, history } = client
  const purpose = { requirement, role: 'setup' } as const
  const exchange = await ask(run, () => jobRequest(run, application), purpose)
  const job = viewOf(history).madeBy(client.eventOf(exchange))
  if (!job) throw new NotExercised(`${none}: ${describeResponse(exchange)}`)
  await client.readUntilFound(job, 'jobs.create/202-retrievable')
  await client.awaitEnd(job.id)
}

const states: Readonly<Record<State, (client: JobClient) => Promise<unknown>>> = {
  readable: readNewJob,
  ended: async (client) => client.awaitEnd(await reach(client, 'readable')),
  conflicts: provokeConflicts,
  refusals: provokeRefusals,
  other: (client) =>
    follow(
      client,
      declaredResource(client.run, 'otherApplication'),
      'jobs.retrieve/200-identity',
      'no job of resources.otherApplication could be created',
    ),
  failing: (client) =>
    follow(
      client,
      declaredResource(client.run, 'failingApplication'),
      'jobs.retrieve/200-failed',
      'no job of resources.failingApplication could be created',
    ),
}

export function reach(client: JobClient, state: 'readable'): Promise<string>
export function reach(client: JobClient, state: State): Promise<unknown>
export function reach(client: JobClient, state: State): Promise<unknown> {
  return once(client.run, `jobs ${state}`, () => states[state](client))
}

/** Interval before an ended job is read again, in ms: after its creation, or in a quick run after its observed end. */
const againMs = { full: 2000, quick: 1000 }
/** Maximum ended jobs per application and outcome to read again, besides the first; the latest. */
const maxReadAgain = { full: 2, quick: 1 }
/** Intervals before a missing job is read again, in ms: a slow replica knows it by then, or another one answers. */
const goneAgainMs = [1000, 2000, 3000, 3000]

/**
 * Per application, the first job and the latest of each outcome; also jobs that were read and then disappeared: they are
 * lost, or a replica is slow.
 */
function jobsToReadAgain({ run: { options }, history }: JobClient): Job[] {
  const made = ownJobs(history).filter(({ twinOf }) => !twinOf)
  const ended = made.filter(({ isOver }) => isOver)
  const gone = made.filter(({ readings }) => readings.some(isRead) && isGone(readings.at(-1)!))
  const jobs = [...groupBy(ended, ({ application }) => application).values()].flatMap((own) => [
    ...own.slice(0, 1),
    ...[...groupBy(own, ({ end }) => end && statusOf(end)).values()].flatMap((alike) =>
      alike.slice(-maxReadAgain[options.depth]),
    ),
  ])
  return [...new Set([...jobs, ...gone])]
}

async function readAgain(client: JobClient, { id, creation }: Job): Promise<void> {
  const settledIn = creation.endedAt + client.run.target.limits.settleMs - performance.now()
  const later = client.isQuick ? [] : goneAgainMs
  for (const ms of [0, ...(settledIn > 0 ? [settledIn] : []), ...later]) {
    await client.pause(ms)
    if (!isGone(await client.read(id, ids.stable))) return
  }
}

/**
 * Reads what is only visible once all jobs are made and ended, before requirements about all of them are judged, and
 * late enough for effects that take seconds.
 */
export async function readFinalStates(client: JobClient): Promise<void> {
  const { run, history, isQuick } = client
  const { depth } = run.options
  const { application, job: declared } = run.target.resources
  await Promise.allSettled(ownJobs(history).map(({ id }) => client.awaitEnd(id)))
  const created = 'jobs.retrieve/200-created-at'
  const [first] = ownJobs(history)
  const isApart = ({ creation }: Job): boolean =>
    creation.sentAt - first!.creation.endedAt >= apartMs
  // The order of their times shows only in jobs that are far enough apart.
  if (
    application &&
    first &&
    !isQuick &&
    client.isPlanned(created) &&
    !ownJobs(history).some(isApart)
  ) {
    await client.pause(first.creation.endedAt + apartMs - performance.now())
    await follow(client, application, created, '').catch(() => undefined)
  }
  const isWanted = rulesAfter('ended').some((id) => id.startsWith('jobs.r') && client.isPlanned(id))
  if (!isWanted || client.cannotBeRead) return
  const from = depth === 'full' ? first?.creation : first?.end
  const before = declared === undefined ? undefined : history.of(declared).find(hasEnded)
  const since = Math.max(
    from?.endedAt ?? 0,
    (before?.endedAt ?? -Infinity) - againMs[depth] + againMs.quick,
  )
  await client.pause(since + againMs[depth] - performance.now())
  await Promise.allSettled([
    ...jobsToReadAgain(client).map((job) => readAgain(client, job)),
    ...(before && declared !== undefined ? [client.read(declared, ids.stable)] : []),
  ])
}

const granting: readonly string[] = [ids.released, ids.perApplication, ids.noEffect]

function byRule(id: JobRuleId): Judge {
  return async (context) => {
    if (context.scenario) return (granting.includes(id) ? grantedByScenario : byScenario)(context)
    const client = clientOf(context.run)
    const verdict = client.verdict(id)
    const { state } = jobRules[id]
    if (verdict.outcome === 'open') await reach(client, state)
    if (id === ids.inProgress || id === ids.noEffect) context.control = 'granted'
    if (verdict.outcome === 'open' && state === 'conflicts')
      throw new NotExercised(
        id === ids.atomic && context.run.target.limits.concurrency === 1
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
  if (!found) return { outcome: 'held', cases: 1 }
  return 'reason' in found
    ? { outcome: 'open', why: found.reason, reason: found }
    : { outcome: 'broken', cases: 1, evidence: [{ ...of, ...found }] }
}

export const eachCreated: Judge = async (context) => {
  const { run } = context
  const client = clientOf(run)
  const sent = await controlExchange(run, 'jobs.create').catch((error: unknown) => error)
  const verdict = decisive(context, client.verdict('jobs.create/202-created'))
  if (sent instanceof Error) {
    // Nobody else uses the objects of the run, so a fault there counts even if the declared application is busy.
    if (verdict.outcome !== 'broken' || run.life.ended) throw sent
    return verdict
  }
  const exchange = sent as Exchange
  const { response } = exchange
  const isAlone = response && isGranted(response) && !isSomeCreated(client.history)
  const of = { exchange, what: 'with a valid body', takes: isAlone ? null : undefined }
  const expected = '202 with the id, status and created_at of the new job'
  const own = answerVerdict(context, of, expected, 'created-job')
  return own.outcome === 'held' ? joined([own, verdict]) : own
}

/** A reading of the declared job, or of the first one of the run, and all others. */
export const eachRead: Judge = async (context) => {
  const client = clientOf(context.run)
  const { exchange } = await control(context.run, 'jobs.retrieve')
  if (!exchange) throw new NotExercised(leftOut('--read-only'))
  const takes = isSomeRight(client.history) ? undefined : null
  const own = answerVerdict(context, { exchange, what: '', takes }, '200 with a job', 'job')
  const verdict = client.verdict('jobs.retrieve/200-job')
  if (own.outcome !== 'held' || verdict.outcome === 'open') return own
  return joined([own, decisive(context, verdict)])
}

/** A job of the application declared for it, or a retrieval that a scenario directs to a failed job. */
export const failsAsDeclared: Judge = async (context) => {
  const { run } = context
  if (context.scenario)
    return grantedVerdict(context, {
      make: () => validRequest(run, 'jobs.retrieve'),
      what: ofFailing.what,
      tries: 1,
      check(_, exchange) {
        const fault = failedFault(jsonValue(exchange.response))
        return fault && { expected: ofFailing.expected, actual: fault.actual }
      },
    })
  const client = clientOf(run)
  const verdict = failedRule(declaredResource(run, 'failingApplication').id)(client.history)
  if (verdict.outcome === 'open') await reach(client, 'failing')
  return decisive(context, verdict)
}
