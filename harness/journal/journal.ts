import { isDeepStrictEqual } from 'node:util'
import { type Exchange, perRun, type Run, type RunHook } from '../engine/index.ts'
import type { Limits } from '../target/index.ts'
import { eventOf, type HistoryEvent, idKey } from './event.ts'

/** What a rule has to know besides what happened, in ms. */
export type HistoryLimits = Pick<Limits, 'settleMs' | 'jobTimeoutMs'>

/** What a run, a recording or a test saw of objects, in order. Whoever sends only appends to it; whoever judges only reads it. */
export interface History {
  readonly events: readonly HistoryEvent[]
  /** How often it changed: by an event more, or by one in the place of another. */
  readonly changes: number
  readonly limits: HistoryLimits
  /** Others use the objects of a recording as well, and are not in it; those of a run now and then. */
  readonly isRecorded: boolean
  /** When requests came of kinds that the spec does not show: what was made may be changed, or gone. In ms. */
  readonly othersAt: readonly number[]
  /** The events about an object: its creation, its readings and its uses. */
  of(id: string): readonly HistoryEvent[]
  /** The creations within an object: the jobs of an application, the additions to a graph. */
  within(id: string): readonly HistoryEvent[]
  /** Tells each event so far, and each one more as soon as it is appended. */
  follow(tell: (event: HistoryEvent) => void): void
}

/** A history that can still grow. */
export interface GrowingHistory extends History {
  append(event: HistoryEvent | undefined): void
  appendOther(at: number): void
}

/** Where an event is found: by its object, and by what that is in. */
const placesOf = ({ object, within }: HistoryEvent): string[] => [
  ...(object === undefined ? [] : [`of ${idKey(object)}`]),
  ...(within === undefined ? [] : [`within ${idKey(within)}`]),
]

const saysTheSame = (one: HistoryEvent | undefined, other: HistoryEvent): boolean =>
  one !== undefined &&
  one.operation === other.operation &&
  one.status === other.status &&
  isDeepStrictEqual(placesOf(one), placesOf(other)) &&
  isDeepStrictEqual(one.body, other.body)

/**
 * A history that holds nothing yet. A recorded one may be endless: of readings, uses or refusals in a row that say the same it
 * keeps the first two and the last, which takes the place of the one before: what refers to that refers to it from then on.
 */
export function createHistory(
  limits: HistoryLimits,
  { isRecorded = false }: { readonly isRecorded?: boolean } = {},
): GrowingHistory {
  const events: HistoryEvent[] = []
  const othersAt: number[] = []
  const byPlace = new Map<string, HistoryEvent[]>()
  const followers: ((event: HistoryEvent) => void)[] = []
  let changes = 0
  return {
    events,
    get changes() {
      return changes
    },
    limits,
    isRecorded,
    othersAt,
    of: (id) => byPlace.get(`of ${idKey(id)}`) ?? [],
    within: (id) => byPlace.get(`within ${idKey(id)}`) ?? [],
    follow(tell) {
      events.forEach(tell)
      followers.push(tell)
    },
    appendOther: (at) => void othersAt.push(at),
    append(event) {
      if (!event) return
      changes++
      const places = placesOf(event)
      // A creation that made nothing is like another one that asked for the same.
      if (isRecorded && places.length === 0)
        places.push(`asked ${event.operation} ${event.name} ${event.content}`)
      const last = byPlace.get(places[0]!)?.slice(-3) ?? []
      const mayRepeat = isRecorded && !(event.kind === 'creation' && event.isGranted)
      if (mayRepeat && last.length === 3 && last.every((one) => saysTheSame(one, event)))
        return void Object.defineProperties(last[2], Object.getOwnPropertyDescriptors(event))
      events.push(event)
      for (const place of places) {
        const known = byPlace.get(place)
        if (known) known.push(event)
        else byPlace.set(place, [event])
      }
      for (const tell of followers) tell(event)
    },
  }
}

/** What is derived from a history: made anew only once it has changed. */
export function derived<T>(make: (history: History) => T): (history: History) => T {
  const known = new WeakMap<History, { readonly changes: number; readonly value: T }>()
  return (history) => {
    const { changes } = history
    let last = known.get(history)
    if (last?.changes !== changes) known.set(history, (last = { changes, value: make(history) }))
    return last.value
  }
}

/** What is gathered from the events of a history, one after the other: whoever holds a part of it sees that grow with the history. */
export function gathered<T>(
  begin: () => T,
  add: (state: T, event: HistoryEvent) => void,
): (history: History) => T {
  const known = new WeakMap<History, { readonly state: T }>()
  return (history) => {
    const last = known.get(history)
    if (last) return last.state
    const state = begin()
    known.set(history, { state })
    history.follow((event) => add(state, event))
    return state
  }
}

/** The history of a run. */
export const historyOf = perRun(({ target }) => createHistory(target.limits))

/** Appends what an exchange of a run was about. Uses that are to be refused are many, and show nothing. */
function note(run: Run, exchange: Exchange): void {
  const event = eventOf(run.target, exchange, false)
  const { purpose, probe } = exchange
  const isValid = !purpose.expects && probe.fault === undefined && probe.credential.full
  if (event?.kind !== 'use' || isValid) historyOf(run).append(event)
}

/** Appends the exchanges of a run that are about objects, whoever sent them and whatever came of it. */
export const historyHook: RunHook = { observe: note, unanswered: note }
