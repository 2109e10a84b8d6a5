import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, isGranted, member } from '../ask/answer.ts'
import { ask } from '../ask/ask.ts'
import type { Exchange } from '../ask/exchange.ts'
import { operationProbe } from '../request/operation-probe.ts'
import type { Run } from '../run/run.ts'

/** One look at a job: `status` is undefined where the answer was no job. */
export interface Reading {
  readonly exchange: Exchange
  readonly status: string | undefined
  /** The job object; undefined where the answer was not 200 with a JSON body. */
  readonly job: unknown
}

/** A job of this run, from its creation on. */
export interface Job {
  readonly id: string
  readonly application: string
  /** The exchange that created it. */
  readonly creation: Exchange
  readonly createdAtMs: number
  /** Every look at it, in order. */
  readonly readings: Reading[]
}

/** All jobs of a run, what was read of them, and the waiting for their end. */
export interface JobBook {
  readonly all: readonly Job[]
  /** Notes the job that a granted creation made; undefined where the answer names no id. */
  track(creation: Exchange, application: string): Job | undefined
  /** Looks at a job. */
  read(job: Job, requirement: string | null): Promise<Reading>
  /** Waits until a reading shows the job ended, at most until `deadline` (`performance.now()`). False where none does. */
  awaitEnd(job: Job, deadline: number): Promise<boolean>
}

const firstPauseMs = 20
const longestPauseMs = 1000
/** A job that cannot be read for this long is not waited for, in ms. */
const unreadableMs = 3000

/** Any status but `in_progress` ends the waiting: one outside the enum is judged as a fault of the job, not waited for. */
export function isEnded(reading: Reading | undefined): boolean {
  return reading?.status !== undefined && reading.status !== 'in_progress'
}

function bodyOf(answer: Answer | undefined): unknown {
  const json = answer?.json()
  return json?.ok ? json.value : undefined
}

function statusOf(body: unknown): string | undefined {
  const status = member(body, 'status')
  return typeof status === 'string' ? status : undefined
}

export function createJobBook(run: () => Run): JobBook {
  const all: Job[] = []
  const ends = new Map<Job, Promise<boolean>>()
  const read = async (job: Job, requirement: string | null): Promise<Reading> => {
    const probe = await operationProbe(run(), 'jobs.retrieve', { params: { job_id: job.id } })
    const exchange = await ask(run(), probe, { requirement, role: 'poll' })
    const body = exchange.answer?.status === 200 ? bodyOf(exchange.answer) : undefined
    const reading = { exchange, job: body, status: statusOf(body) }
    job.readings.push(reading)
    return reading
  }
  const poll = async (job: Job, deadline: number): Promise<boolean> => {
    let pause = firstPauseMs
    let lastRead = performance.now()
    for (;;) {
      const reading = await read(job, null)
      if (isEnded(reading)) return true
      if (reading.status !== undefined) lastRead = performance.now()
      const now = performance.now()
      if (now >= deadline || now - lastRead > unreadableMs) return false
      await sleep(Math.min(pause, Math.max(1, deadline - now)), undefined, { signal: run().signal }).catch(
        () => undefined,
      )
      run().signal.throwIfAborted()
      pause = Math.min(pause * 1.5, longestPauseMs)
    }
  }
  return {
    all,
    track(creation, application) {
      const id = creation.answer && isGranted(creation.answer) ? member(bodyOf(creation.answer), 'id') : undefined
      if (typeof id !== 'string' || id === '') return undefined
      const job: Job = { id, application, creation, createdAtMs: creation.endedAt, readings: [] }
      all.push(job)
      return job
    },
    read,
    async awaitEnd(job, deadline) {
      if (isEnded(job.readings.at(-1))) return true
      const under = ends.get(job)
      if (under) return under
      const waiting = poll(job, deadline).finally(() => ends.delete(job))
      ends.set(job, waiting)
      return waiting
    },
  }
}
