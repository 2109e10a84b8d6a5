import type { Exchange } from '../../harness/engine/index.ts'
import { type History, type HistoryEvent, sameId } from '../../harness/history/index.ts'
import type { Story, StoryStep } from '../../harness/report/index.ts'
import { member } from '../../schemas/json.ts'
import { creationsOn, type Job, jobsIn } from './jobs.ts'

/** More steps than that are not read: of those in between only the number is told. */
const MOST = 14
/** So many of them are the first ones, with the creation that began the story. */
const FIRST = 4

/** What happened on the application before an exchange and with it: from the creation of the job that was there, or of its own. */
export function storyOf(history: History, exchange: Exchange): Story | undefined {
  const last = history.events.find((event) => isOf(event, exchange))
  const application = last && applicationOf(history, last)
  if (!last || application === undefined) return undefined
  const jobs = jobsIn(history).filter((job) => sameId(job.application, application))
  const began = beginning(jobs, last)
  const readings = jobs.flatMap((job) => job.readings)
  const before = [...creationsOn(history, application), ...readings].filter(
    ({ sentAt }) => sentAt >= began && sentAt <= last.endedAt,
  )
  // What a job was read as right afterwards proves the state that it was in.
  const proof = jobs
    .filter(({ creation }) => before.includes(creation) && creation !== last)
    .flatMap((job) => job.readings.find(({ sentAt }) => sentAt > last.endedAt) ?? [])
  const steps = [...before, ...(last.kind === 'creation' ? proof : [])].toSorted(
    (one, other) => one.sentAt - other.sentAt,
  )
  if (steps.length < 2) return undefined
  const letters = new Map<string, number>()
  const shown = steps.map((event) => stepOf(event, { began, letters, last }))
  const left = shown.length - MOST
  return left <= 0
    ? { steps: shown }
    : { steps: [...shown.slice(0, FIRST), ...shown.slice(FIRST + left)], left, leftAfter: FIRST }
}

/** The history holds it in a lighter form: it is known by its times. */
function isOf({ endedAt, sentAt }: HistoryEvent, exchange: Exchange): boolean {
  return sentAt === exchange.sentAt && endedAt === exchange.endedAt
}

function applicationOf(history: History, { object, operation, within }: HistoryEvent) {
  if (operation === 'jobs.create') return within
  if (operation !== 'jobs.retrieve' || object === undefined) return undefined
  return jobsIn(history).find(({ id }) => sameId(id, object))?.application
}

/** When the job was created that was the last one before this exchange; of a reading, its own. */
function beginning(jobs: readonly Job[], last: HistoryEvent): number {
  const own = jobs.find(({ id }) => last.object !== undefined && sameId(id, last.object))
  if (last.kind === 'reading' && own) return own.creation.sentAt
  const before = jobs.filter(({ creation }) => creation.sentAt < last.sentAt)
  return before.at(-1)?.creation.sentAt ?? last.sentAt
}

interface Telling {
  readonly began: number
  /** Jobs in the order in which they come up. */
  readonly letters: Map<string, number>
  readonly last: HistoryEvent
}

function stepOf(event: HistoryEvent, { began, last, letters }: Telling): StoryStep {
  const { body, endedAt, kind, object, request, sentAt, status, tpe } = event
  const key = object?.toLowerCase()
  if (key !== undefined && !letters.has(key)) letters.set(key, letters.size)
  const state = member(body, 'status')
  return {
    kind: kind === 'creation' ? 'creation' : 'reading',
    sentMs: Math.round(sentAt - began),
    endedMs: Math.round(endedAt - began),
    status: status ?? null,
    ...(key !== undefined && { job: letters.get(key)! }),
    ...(tpe !== undefined && { tpe }),
    ...(status !== undefined && status < 300 && isState(state) && { state }),
    ...(request === 'faulty' && { isFaulty: true as const }),
    ...(event === last && { isWrong: true as const }),
  }
}

/** What a target says is shown only if it is a word of the interface. */
const states: readonly unknown[] = ['in_progress', 'completed', 'failed']

function isState(state: unknown): state is NonNullable<StoryStep['state']> {
  return states.includes(state)
}
