import type { Exchange, Probe, Purpose, Run } from '../../harness/engine/index.ts'
import {
  operationProbe,
  pastBlocks,
  askHolding,
  sendWithStaleRetry,
} from '../../harness/engine/index.ts'
import { holdBack } from '../../harness/checks/index.ts'
import { type HistoryEvent, historyOf } from '../../harness/history/index.ts'
import type { ApplicationResource } from '../../harness/target-file/index.ts'
import { getAt } from '../../schemas/json.ts'
import { isRead, type Job } from './job.ts'
import { jobsIn } from './view.ts'
import { ids } from './rules.ts'

// What is sent

/** A creation of a job for that application, with its declared inputs. */
export function jobRequest(run: Run, { id, inputs }: ApplicationResource): Promise<Probe> {
  const params = { application_id: id }
  return operationProbe(run, 'jobs.create', { params, json: { inputs }, effect: 'generates' })
}

/** Gives each text of the inputs another value; every other time only to the required inputs, or the first one. */
export function withOtherValues(
  application: ApplicationResource,
  moment: number,
): ApplicationResource {
  const required = application.requiredInputs
  const isKept = (input: unknown, at: number) =>
    required.length === 0 ? at === 0 : required.includes(String(getAt(input, '/id')))
  const own = moment % 4 === 3 ? application.inputs.filter(isKept) : application.inputs
  const inputs = own.map((input) => {
    const texts = getAt(input, '/value')
    return Array.isArray(texts)
      ? { ...input, value: texts.map((text) => `${String(text)} ${moment}`) }
      : input
  })
  return { ...application, inputs }
}

/** The event that an exchange of this run was appended as. */
export function eventOf(run: Run, { sentAt, probe }: Exchange): HistoryEvent {
  const history = historyOf(run)
  const { application_id: application, job_id: job } = probe.params
  const events = application === undefined ? history.of(job ?? '') : history.within(application)
  const event = events.findLast(
    (one) => one.exchange.probe === probe && one.exchange.sentAt === sentAt,
  )
  if (!event) throw new Error('an exchange about a job is not in the history')
  return event
}

const asProbe = (requirement: string): Purpose => ({
  requirement,
  role: 'probe',
  expects: [[409, 'BadRequest']],
})

/**
 * Creates a job. The connection is its own: a creation that is sent once more, because the target had closed a connection, may
 * have made a job that nobody knows of.
 */
export async function create(
  run: Run,
  application: ApplicationResource,
  requirement: string,
): Promise<HistoryEvent> {
  const make = () => jobRequest(run, application)
  return eventOf(run, await askHolding(run, make, asProbe(requirement), { fresh: true }))
}

/** Creates beside a job. Sent once: while a throttled creation waited, the job would end. */
export async function createBeside(
  run: Run,
  application: ApplicationResource,
): Promise<HistoryEvent> {
  const probe = await jobRequest(run, application)
  const send = (fresh: boolean) =>
    pastBlocks(() => sendWithStaleRetry(run, probe, asProbe(ids.inProgress), { fresh }))
  let exchange = await send(false)
  const { isGranted, isFirst, status } = eventOf(run, exchange)
  // The previous request on the connection may have spoiled any other answer, and a connection may be lost.
  const isClear = status === 409 || isGranted || (status !== undefined && isFirst)
  if (!isClear) exchange = await send(true)
  holdBack(run, exchange)
  return eventOf(run, exchange)
}

/** Reads a job. */
export async function read(
  run: Run,
  id: string,
  requirement: string | null,
): Promise<HistoryEvent> {
  const probe = await operationProbe(run, 'jobs.retrieve', { params: { job_id: id } })
  const isSuccess: Purpose['isSuccess'] = ({ response }) => response?.status === 200
  return eventOf(run, await askHolding(run, probe, { requirement, role: 'poll', isSuccess }))
}

/** Whether jobs cannot be read at all: one was asked for until `settleMs` were over. It is not waited for again. */
export function cannotBeRead(run: Run): boolean {
  const jobs = jobsIn(historyOf(run))
  const { settleMs } = run.target.limits
  const isAsked = ({ creation, readings }: Job): boolean =>
    readings.some(({ sentAt }) => sentAt - creation.endedAt >= settleMs)
  return jobs.some(isAsked) && !jobs.some(({ readings }) => readings.some(isRead))
}
