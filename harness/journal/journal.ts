import { isDeepStrictEqual } from 'node:util'
import type { Limits } from '../target/index.ts'
import { type HistoryEvent, idKey } from './event.ts'

export type HistoryLimits = Pick<Limits, 'settleMs' | 'jobTimeoutMs'>

/** The events about objects in a run, recording or test, in order. Senders only append; rules only read. */
export interface History {
  readonly events: readonly HistoryEvent[]
  readonly changes: number
  readonly limits: HistoryLimits
  /** True for recorded traffic, in which requests may be missing that changed the objects. */
  readonly isRecorded: boolean
  /** Times (ms) of undocumented requests that may have changed or removed objects. */
  readonly othersAt: readonly number[]
  of(id: string): readonly HistoryEvent[]
  within(id: string): readonly HistoryEvent[]
  follow(tell: (event: HistoryEvent) => void): void
}

export interface GrowingHistory extends History {
  append(event: HistoryEvent | undefined): void
  appendOther(at: number): void
}

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
 * Creates an empty history. A recording may be endless: of consecutive equal readings, uses or refusals it keeps the
 * first two and the last, and references move to that.
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
      // Creations without an object are compared by their request.
      if (isRecorded && places.length === 0)
        places.push(`asked ${event.operation} ${event.name} ${event.content}`)
      const last = byPlace.get(places[0]!)?.slice(-3) ?? []
      const mayRepeat = isRecorded && !(event.kind === 'creation' && event.isGranted)
      if (mayRepeat && last.length === 3 && last.every((one) => saysTheSame(one, event)))
        return void Object.assign(last[2]!, event)
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

export function derived<T>(make: (history: History) => T): (history: History) => T {
  const known = new WeakMap<History, { readonly changes: number; readonly value: T }>()
  return (history) => {
    const { changes } = history
    let last = known.get(history)
    if (last?.changes !== changes) known.set(history, (last = { changes, value: make(history) }))
    return last.value
  }
}

/** A value accumulated from the events of a history; parts of it grow with the history. */
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
