import type { Exchange, HttpResponse, Probe, Purpose, Run } from '../../harness/engine/index.ts'
import {
  isGranted,
  jsonValue,
  operationProbe,
  pause,
  perRun,
  sendWithRetries,
} from '../../harness/engine/index.ts'
import type { ApplicationResource } from '../../harness/target-file/index.ts'
import { getAt, isObject, member } from '../../schemas/json.ts'
import { usableId } from '../../harness/history/index.ts'
import { isOwn, type SeenJob, type SeenReading } from './seen-jobs.ts'

/** One reading of a job: `status` is undefined if the answer was no job. */
export interface Reading extends SeenReading {
  readonly status: string | undefined
}

/** A job of this run, from its creation on. */
export interface Job extends SeenJob {
  readonly createdAtMs: number
  /** Every reading of it, in order. */
  readonly readings: Reading[]
}

/** A creation of a job for that application, with its declared inputs. */
export function jobRequest(run: Run, { id, inputs }: ApplicationResource): Promise<Probe> {
  return operationProbe(run, 'jobs.create', {
    params: { application_id: id },
    json: { inputs },
    effect: 'generates',
  })
}

/** Moments at which a creation has fewer inputs: what they break is told by another requirement. */
export const hasFewer = (moment: number): boolean => moment % 4 === 3

/** Gives each text of the inputs another value; every other time only to the required inputs, or the first one. */
export function withOtherValues(
  application: ApplicationResource,
  moment: number,
): ApplicationResource {
  const required = application.requiredInputs
  const isKept = (input: unknown, at: number) =>
    required.length === 0 ? at === 0 : required.includes(String(getAt(input, '/id')))
  const own = hasFewer(moment) ? application.inputs.filter(isKept) : application.inputs
  const inputs = own.map((input) => {
    const texts = getAt(input, '/value')
    return Array.isArray(texts)
      ? { ...input, value: texts.map((text) => `${String(text)} ${moment}`) }
      : input
  })
  return { ...application, inputs }
}

/** Answers above this many bytes are not kept whole for each of the many readings of a job. */
const largeBytes = 64 * 1024
/** Longest text that is kept of a member, in characters: any id or date-time that the spec shows is shorter. */
const longestText = 1024

/** The value as a shape sees it: texts and numbers as they are, objects and arrays emptied. */
function trimmed(value: unknown): unknown {
  if (typeof value === 'string') return leanText(value)
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? [] : {}
}

/** An endless fraction of a second is cut inside the fraction, so that a date-time stays one. */
function leanText(text: string): string {
  if (text.length <= longestText) return text
  const zone = /(?:Z|[+-]\d\d:\d\d)$/i.exec(text.slice(-6))?.[0] ?? ''
  return text.slice(0, longestText - zone.length) + zone
}

/** Whether all of the reading is kept, even when another one follows. */
export function isWhole({ exchange: { response } }: SeenReading): boolean {
  return !response || response.size <= largeBytes
}

/** The reading without the weight of its answer: members of the job with their type, and what is short of their text. */
export function leanReading(reading: Reading): Reading {
  const { response } = reading.exchange
  if (!response || isWhole(reading) || !isObject(reading.job)) return reading
  const job = Object.fromEntries(
    Object.entries(reading.job).map(([name, value]) => [
      name.slice(0, longestText),
      trimmed(value),
    ]),
  )
  const light: HttpResponse = { ...response, json: () => ({ ok: true, value: job }) }
  return { ...reading, job, exchange: { ...reading.exchange, response: light } }
}

/** Readings are so far apart at least, in ms, and no further than that share of the time that the job has taken. */
const firstPauseMs = { full: 15, quick: 30 }
const longestPauseMs = 1000
/** A quick run sees the end of a job later, with fewer requests. */
const pauseShare = { full: 0.2, quick: 0.4 }
/** A job that cannot be read for so much longer than `settleMs` is not waited for, in ms. */
const unreadableMs = 1000

/** Any status but `in_progress` ends the waiting: one outside the enum is judged as a fault of the job, not waited for. */
export function isEnded(reading: Reading | undefined): boolean {
  return reading?.status !== undefined && reading.status !== 'in_progress'
}

/** True if a reading shows that very job as ended. */
export function wasSeenEnded(job: Job): boolean {
  return job.readings.some((reading) => isEnded(reading) && isOwn(reading, job))
}

/** A replica that lags behind may show a job in progress for so long after another one showed its end, in ms. */
export const maxLagMs = 1000

/** True if the job was seen to have ended long enough before that time, in ms, for every later reading to show its end. */
export function endedBefore(job: Job, at: number): boolean {
  const end = job.readings.find((reading) => isEnded(reading) && isOwn(reading, job))
  return end !== undefined && end.exchange.endedAt + maxLagMs <= at
}

/** How long the longest of these jobs lasted until it was read as ended, in ms; undefined if none was. */
export function longestMs(jobs: readonly Job[]): number | undefined {
  const lengths = jobs.flatMap(({ readings, createdAtMs }) => {
    const end = readings.find(isEnded)
    return end ? [end.exchange.endedAt - createdAtMs] : []
  })
  return lengths.length > 0 ? Math.max(...lengths) : undefined
}

function statusOf(body: unknown): string | undefined {
  const status = member(body, 'status')
  return typeof status === 'string' ? status : undefined
}

/** All jobs of a run, what was read of them, and the waiting for their end. */
export const jobsOf = perRun(createJobTracker)

function createJobTracker(run: Run) {
  const all: Job[] = []
  const creations: Exchange[] = []
  const of = (application: string): Job[] => all.filter((job) => job.application === application)
  const madeBy = (creation: Exchange | undefined): Job | undefined =>
    creation?.response && all.find((job) => job.creation.response === creation.response)
  const ends = new Map<Job, Promise<boolean>>()
  const read = async (job: Job, requirement: string | null): Promise<Reading> => {
    const probe = await operationProbe(run, 'jobs.retrieve', { params: { job_id: job.id } })
    const purpose: Purpose = {
      requirement,
      role: 'poll',
      isSuccess: ({ response }) => response?.status === 200,
    }
    const exchange = await sendWithRetries(run, probe, purpose)
    const shownJob = (): unknown =>
      exchange.response?.status === 200 ? jsonValue(exchange.response) : undefined
    const reading: Reading = {
      exchange,
      status: statusOf(shownJob()),
      // Parsed again each time: a large body is not kept as a value.
      get job() {
        return shownJob()
      },
    }
    const at = job.readings.push(reading) - 1
    // Only the last one is compared with others as a whole.
    const before = job.readings[at - 1]
    if (before) job.readings[at - 1] = leanReading(before)
    return reading
  }
  const poll = async (job: Job, deadline: number): Promise<boolean> => {
    const started = performance.now()
    const { depth } = run.options
    let lastRead = started
    for (;;) {
      const reading = await read(job, null)
      if (isEnded(reading)) return true
      if (reading.status !== undefined) lastRead = performance.now()
      const now = performance.now()
      if (now >= deadline || now - lastRead > run.target.limits.settleMs + unreadableMs)
        return false
      const wait = Math.min(
        Math.max((now - started) * pauseShare[depth], firstPauseMs[depth]),
        longestPauseMs,
      )
      await pause(run, Math.min(wait, Math.max(1, deadline - now)))
    }
  }
  const awaitEnd = async (job: Job, deadline: number): Promise<boolean> => {
    if (job.readings.some(isEnded)) return true
    const under = ends.get(job)
    if (under) return under
    const waiting = poll(job, deadline).finally(() => ends.delete(job))
    ends.set(job, waiting)
    return waiting
  }
  return {
    all: all as readonly Job[],
    /** Every granted creation, those that named no usable id among them. */
    creations: creations as readonly Exchange[],
    /** Creations that broke the server. */
    broken: [] as Exchange[],
    /** Jobs of an application. */
    of,
    /** The job that a creation made; undefined if it made none that is known. */
    madeBy,
    /** Notes the job that a granted creation made; undefined if the answer names no id. */
    track(creation: Exchange, application: string): Job | undefined {
      const { response } = creation
      if (!response || !isGranted(response)) return undefined
      if (creations.some((other) => other.response === response)) return madeBy(creation)
      creations.push(creation)
      const id = usableId(member(jsonValue(response), 'id'))
      if (id === undefined) return undefined
      const job: Job = { id, application, creation, createdAtMs: creation.endedAt, readings: [] }
      all.push(job)
      return job
    },
    read,
    /** Waits until a reading shows that the job has ended, at most until `deadline` (`performance.now()`). False if none shows it. */
    awaitEnd,
    /** Waits for the end of every job of the application, at most `jobTimeoutMs`; false if one does not end in time. */
    async awaitEnds(application: string): Promise<boolean> {
      const deadline = performance.now() + run.target.limits.jobTimeoutMs
      for (const job of of(application)) if (!(await awaitEnd(job, deadline))) return false
      return true
    },
  }
}
