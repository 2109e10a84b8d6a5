import type { Exchange, History, HistoryEvent } from '../../harness/journal/index.ts'
import type { Story, StoryStep } from '../../harness/report/index.ts'
import { member } from '../../schemas/json.ts'
import { viewOf } from './view.ts'

const MOST = 14
const FIRST = 4

/** The requests on the application up to an exchange, from the creation of the job in progress. */
export function storyOf(history: History, exchange: Exchange): Story | undefined {
  // The history contains a trimmed form, identified by its times.
  const last = history.events.find(
    (event) => event.sentAt === exchange.sentAt && event.endedAt === exchange.endedAt,
  )
  const view = viewOf(history)
  const own = last?.operation === 'jobs.retrieve' ? view.jobOf(last.object ?? '') : undefined
  const isCreation = last?.operation === 'jobs.create'
  const application = isCreation ? view.applicationOf(last.within ?? '') : own?.application
  if (!last || !application) return undefined
  const { creations, jobs } = application
  const job = own ?? jobs.findLast((one) => one.creation.sentAt < last.sentAt)
  const began = job?.creation.sentAt ?? last.sentAt
  const readings = jobs.flatMap((one) => one.readings)
  const before = [...creations, ...readings].filter(
    (one) => one.sentAt >= began && one.sentAt <= last.endedAt,
  )
  // Readings right afterwards prove a job's state.
  const proof = jobs
    .filter((one) => before.includes(one.creation) && one.creation !== last)
    .flatMap((one) => one.readings.find((reading) => reading.sentAt > last.endedAt) ?? [])
  const steps = [...before, ...(isCreation ? proof : [])].toSorted(
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

interface Telling {
  readonly began: number
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

/** Only words of the interface are shown, not arbitrary text of the target. */
const states: readonly unknown[] = ['in_progress', 'completed', 'failed']

function isState(state: unknown): state is NonNullable<StoryStep['state']> {
  return states.includes(state)
}
