import type { Exchange, Probe, Purpose, Run, GatedSend } from '../../harness/engine/index.ts'
import {
  createSemaphore,
  describeResponse,
  NotExercised,
  operationProbe,
  pause,
  perRun,
  sendWithRetries,
  Throttled,
} from '../../harness/engine/index.ts'
import { type HistoryEvent, historyOf, idKey } from '../../harness/history/index.ts'
import type { ApplicationResource } from '../../harness/target-file/index.ts'
import { getAt } from '../../schemas/json.ts'
import { isEnded, type Job, jobOf, jobsIn, jobsOn, statusOf } from './jobs.ts'

/** A creation of a job for that application, with its declared inputs. */
export function jobRequest(run: Run, { id, inputs }: ApplicationResource): Promise<Probe> {
  return operationProbe(run, 'jobs.create', {
    params: { application_id: id },
    json: { inputs },
    effect: 'generates',
  })
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
function eventOf(events: readonly HistoryEvent[], { sentAt, probe }: Exchange): HistoryEvent {
  const event = events.findLast(
    (one) => one.exchange.probe === probe && one.exchange.sentAt === sentAt,
  )
  if (!event) throw new Error('an exchange about a job is not in the history')
  return event
}

/**
 * Creates a job. The connection is its own: a creation that is sent once more, because the target had closed a connection, may
 * have made a job that nobody knows of.
 */
export async function create(
  run: Run,
  application: ApplicationResource,
  requirement: string,
): Promise<HistoryEvent> {
  const purpose = { requirement, role: 'probe', expects: [[409, 'BadRequest']] } as const
  const make = () => jobRequest(run, application)
  const exchange = await sendWithRetries(run, make, purpose, { fresh: true })
  return createdBy(run, exchange)
}

export const createdBy = (run: Run, exchange: Exchange): HistoryEvent =>
  eventOf(historyOf(run).within(exchange.probe.params['application_id'] ?? ''), exchange)

/** Reads a job. */
export async function read(
  run: Run,
  id: string,
  requirement: string | null,
): Promise<HistoryEvent> {
  const probe = await operationProbe(run, 'jobs.retrieve', { params: { job_id: id } })
  const isSuccess: Purpose['isSuccess'] = ({ response }) => response?.status === 200
  const exchange = await sendWithRetries(run, probe, { requirement, role: 'poll', isSuccess })
  return eventOf(historyOf(run).of(id), exchange)
}

/** Readings are so far apart at least, in ms, and no further than that share of the time that the job has taken. */
const firstPauseMs = { full: 15, quick: 30 }
const longestPauseMs = 1000
/** A quick run sees the end of a job later, with fewer requests. */
const pauseShare = { full: 0.2, quick: 0.4 }
/** A job that cannot be read for so much longer than `settleMs` is not waited for, in ms. */
const unreadableMs = 1000

/** Whether jobs cannot be read at all: one was asked for until `settleMs` were over. It is not waited for again. */
export function cannotBeRead(run: Run): boolean {
  const jobs = jobsIn(historyOf(run))
  const { settleMs } = run.target.limits
  return (
    jobs.some(({ creation, readings }) =>
      readings.some(({ sentAt }) => sentAt - creation.endedAt >= settleMs),
    ) && !jobs.some(({ readings }) => readings.some((one) => statusOf(one) !== undefined))
  )
}

const isOver = ({ twinOf, readings }: Job): boolean =>
  twinOf !== undefined || readings.some(isEnded)

/** Polls under way, by job. */
const polls = perRun(() => new Map<string, Promise<boolean>>())

/** Waits until a reading shows that the job has ended, at most until `deadline` (`performance.now()`); false if none shows it. */
export async function awaitEnd(run: Run, id: string, deadline: number): Promise<boolean> {
  const job = jobOf(historyOf(run), id)
  if (!job || isOver(job)) return true
  const known = polls(run).get(idKey(id))
  if (known) return known
  const polling = poll(run, id, deadline).finally(() => polls(run).delete(idKey(id)))
  polls(run).set(idKey(id), polling)
  return polling
}

async function poll(run: Run, id: string, deadline: number): Promise<boolean> {
  const { depth } = run.options
  const started = performance.now()
  let lastRead = started
  for (;;) {
    const reading = await read(run, id, null)
    if (isEnded(reading)) return true
    const now = performance.now()
    if (statusOf(reading) !== undefined) lastRead = now
    const patienceMs = run.target.limits.settleMs + unreadableMs
    const isUnread = lastRead < now && (now - lastRead > patienceMs || cannotBeRead(run))
    if (now >= deadline || isUnread) return false
    const wait = Math.max((now - started) * pauseShare[depth], firstPauseMs[depth])
    await pause(run, Math.min(wait, longestPauseMs, Math.max(1, deadline - now)))
  }
}

/** Pauses before a request is sent again to an application that is busy with somebody else's job, in ms. */
const busyPausesMs = [250, 500, 1000, 2000, 3000, 5000]
/** What starts no job is sent so often. */
const maxAttempts = 5

export type Access = ReturnType<typeof createAccess>

/**
 * Access to one application: while it has a job in progress, only what a 409 requirement sends itself goes there. Refusals go
 * through together, creations alone.
 */
function createAccess(run: Run, id: string) {
  // A refusal takes one place, a creation all of them.
  const places = createSemaphore(Number.MAX_SAFE_INTEGER)
  const { jobTimeoutMs } = run.target.limits
  const unread = new Set<string>()
  /** How long it is waited for yet, in ms, if its jobs cannot be read: one of the run may go on for as long as it likes. */
  let blindMs = run.target.limits.settleMs
  let gaveUp: NotExercised | undefined
  const jobs = (): readonly Job[] => jobsOn(historyOf(run), id)
  /** Waits for the end of every job of it, at most `jobTimeoutMs`; false if one is still read as in progress then. */
  const settle = async (): Promise<boolean> => {
    const deadline = performance.now() + jobTimeoutMs
    for (const job of jobs()) {
      if (unread.has(job.id) || (await awaitEnd(run, job.id, deadline))) continue
      const last = jobOf(historyOf(run), job.id)?.readings.at(-1)
      if (last?.noise !== undefined)
        throw new Throttled(`a reading was answered ${describeResponse(last.exchange)}`)
      if (last && statusOf(last) === 'in_progress') return false
      unread.add(job.id)
    }
    return true
  }
  const giveUp = (why: string): NotExercised =>
    (gaveUp ??= new NotExercised(
      `application ${id} ${why} after ${jobTimeoutMs} ms (limits.jobTimeoutMs)`,
    ))
  /** Pauses while it is busy; throws if its jobs cannot be read and it has been waited for long enough. */
  const pauseBusy = async (ms: number): Promise<void> => {
    if (cannotBeRead(run) && (blindMs -= ms) < 0)
      throw (gaveUp ??= new NotExercised(`application ${id} is busy, and its jobs cannot be read`))
    await pause(run, ms)
  }
  const idle = async (): Promise<void> => {
    if (gaveUp) throw gaveUp
    if (!(await settle())) throw giveUp('still had a job in progress')
  }
  return {
    settle,
    pauseBusy,
    /** It is not waited for any more. */
    giveUp,
    get isGivenUp(): boolean {
      return gaveUp !== undefined
    },
    /**
     * Sends once the application is idle; if it is answered 409 unexpectedly, waits and sends again.
     * @param exclusive it may start a job: nothing else goes to the application meanwhile
     */
    async sendWhenIdle(
      exclusive: boolean,
      expects409: boolean,
      send: GatedSend,
    ): Promise<Exchange> {
      // Kept over all attempts: another request would make the application busy again.
      // Refusals, of which many go at once, do not wait for creations that wait too, each for a job to end.
      const turn = exclusive ? { count: places.size } : { count: 1, urgent: true }
      const release = await places.acquire(run.life.signal, turn)
      try {
        let busySince: number | undefined
        /** Connections of their own on which no answer came: such a creation may be what makes the application busy. */
        let lost = 0
        let fresh = false
        for (let attempt = 1; ; attempt++) {
          await idle()
          const exchange = await send({ fresh })
          if (exchange.response?.status !== 409 || expects409) return exchange
          const { unanswered } = exchange
          const isLost = unanswered && !unanswered.noResponse?.staleConnection
          if (isLost && ++lost >= run.client.losses.proof(lost, 0))
            return { ...unanswered, unansweredTwice: true }
          fresh ||= unanswered !== undefined
          busySince ??= performance.now()
          const waits = (exclusive || fresh) && performance.now() - busySince < jobTimeoutMs
          if (attempt >= maxAttempts && !waits) {
            if (exclusive) giveUp('was still answered 409')
            throw new NotExercised(
              `application ${id} is busy: answered 409 ${attempt} times in a row`,
            )
          }
          // Busy with a job that this run did not create, or not released yet: all that helps is time.
          await pauseBusy(Math.min(busyPausesMs[attempt - 1] ?? 5000, jobTimeoutMs))
        }
      } finally {
        release()
      }
    },
    /** Has the idle application to itself while `action` lasts; what it sends goes past all others. */
    async hold<T>(action: () => Promise<T>): Promise<T> {
      const release = await places.acquire(run.life.signal, { count: places.size })
      try {
        // Even then its release is judged, if a reading showed that its last job ended.
        if (!gaveUp || !jobs().every(isOver)) await idle()
        return await action()
      } finally {
        release()
      }
    },
  }
}

const known = perRun(() => new Map<string, Access>())

export function accessTo(run: Run, application: string): Access {
  const access = known(run).get(application) ?? createAccess(run, application)
  known(run).set(application, access)
  return access
}
