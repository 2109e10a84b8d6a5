import { isDeepStrictEqual } from 'node:util'
import { type Exchange, perRun, type Run, type RunHook } from '../engine/index.ts'
import type { Limits } from '../target-file/index.ts'
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
}

/** A history that can still grow. */
export interface GrowingHistory extends History {
  append(event: HistoryEvent | undefined): void
  appendOther(at: number): void
}

const listOf = <T>(lists: Map<string, T[]>, key: string): T[] => {
  const known = lists.get(key) ?? []
  lists.set(key, known)
  return known
}

/** The lists in which an event is kept. */
const placeOf = ({ object, within }: HistoryEvent) =>
  [object, within].map((id) => (id === undefined ? undefined : idKey(id)))

/** Whether one shows nothing but what another one showed, of the same object. */
function saysTheSame(one: HistoryEvent | undefined, other: HistoryEvent): boolean {
  return (
    one !== undefined &&
    one.operation === other.operation &&
    one.status === other.status &&
    isDeepStrictEqual(placeOf(one), placeOf(other)) &&
    isDeepStrictEqual(one.body, other.body)
  )
}

/**
 * A history that holds nothing yet. A recorded one may be endless: of readings, uses or refusals in a row that say the same it
 * keeps the first two and the last.
 */
export function createHistory(
  limits: HistoryLimits,
  { isRecorded = false }: { readonly isRecorded?: boolean } = {},
): GrowingHistory {
  const events: HistoryEvent[] = []
  const othersAt: number[] = []
  let changes = 0
  const byObject = new Map<string, HistoryEvent[]>()
  const byPlace = new Map<string, HistoryEvent[]>()
  const listsOf = ({ object, within }: HistoryEvent): HistoryEvent[][] => [
    ...(object === undefined ? [] : [listOf(byObject, idKey(object))]),
    ...(within === undefined ? [] : [listOf(byPlace, idKey(within))]),
  ]
  /** Replaces the last one if neither it nor this one shows anything new. */
  const replaceLast = (event: HistoryEvent, lists: readonly HistoryEvent[][]): boolean => {
    const [list] = lists
    if (!isRecorded || !list || (event.kind === 'creation' && event.isGranted)) return false
    const last = list.at(-1)
    if (![-1, -2, -3].every((at) => saysTheSame(list.at(at), event)) || !last) return false
    events[events.lastIndexOf(last)] = event
    for (const each of lists) each[each.lastIndexOf(last)] = event
    return true
  }
  return {
    events,
    get changes() {
      return changes
    },
    limits,
    isRecorded,
    othersAt,
    of: (id) => byObject.get(idKey(id)) ?? [],
    within: (id) => byPlace.get(idKey(id)) ?? [],
    appendOther: (at) => void othersAt.push(at),
    append(event) {
      if (!event) return
      changes++
      const lists = listsOf(event)
      if (replaceLast(event, lists)) return
      events.push(event)
      for (const list of lists) list.push(event)
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
