import type { Pairs } from '../../catalogue/expected.ts'
import { additionOperation, operation, type OperationId } from '../../catalogue/operations.ts'
import { groupBy } from '../../harness/group-by.ts'
import {
  derived,
  type History,
  type HistoryEvent,
  idKey,
  type Verdict,
} from '../../harness/journal/index.ts'

/** What is true of all that an operation creates: a pure function of a history. */
export type RelationRule = (history: History, operation: OperationId) => Verdict

export interface Creator {
  readonly operation: OperationId
  /** Pair that answers the creation of something that exists. */
  readonly exists: Pairs
  readonly what: string
  readonly same: string
  /** What is made may be processed for `settleMs`, and is not known before. */
  readonly isProcessed: boolean
}

/** Describes what an operation creates; §7.3: names are unique, and a file is in a graph once. */
export function creatorOf(id: OperationId): Creator {
  const isProcessed = id === additionOperation
  return {
    operation: id,
    isProcessed,
    exists: [[isProcessed ? 409 : 400, 'BadRequest']],
    what: isProcessed ? 'a file in a graph' : (operation(id).creates?.what ?? ''),
    same: isProcessed ? 'the same file' : 'the same name',
  }
}

/** What may exist once of that which a creation asks for; undefined if nothing is known of it. */
function thingOf(event: HistoryEvent): string | undefined {
  const { kind, operation: id, within, name } = event
  if (kind !== 'creation') return undefined
  if (id !== additionOperation) return operation(id).creates?.hasUniqueName ? name : undefined
  return within === undefined ? undefined : `${idKey(within)} ${fileOf(event)}`
}

/** The file that an addition names; if nobody says where it stands in the body, the body does. */
export const fileOf = ({ object, content }: Pick<HistoryEvent, 'object' | 'content'>): string =>
  object === undefined ? String(content) : idKey(object)

/** The additions of each file to graphs, in the order in which they were sent. */
export const additionsByFile = derived((history) =>
  groupBy(thingsOf(history, additionOperation).flat(), fileOf),
)

const things = derived((history) => {
  const sent = history.events.toSorted((one, other) => one.sentAt - other.sentAt)
  const known = sent.filter((event) => thingOf(event) !== undefined)
  const byOperation = groupBy(known, (event) => event.operation)
  return new Map([...byOperation].map(([id, events]) => [id, groupBy(events, thingOf)]))
})

/** The creations of each thing, in the order in which they were sent. */
export const thingsOf = (history: History, id: OperationId): (readonly HistoryEvent[])[] => [
  ...(things(history).get(id)?.values() ?? []),
]

export const isGranted = (event: HistoryEvent): boolean => event.isGranted
export const isAnswered = ({ status, noise }: HistoryEvent): boolean =>
  status !== undefined && noise === undefined

/** To be granted if nothing stands in the way; of a recorded one nobody knows but by its answer that its key was no good. */
export const isMeant = ({ request, status = 0 }: HistoryEvent): boolean =>
  request === 'unknown' ? status !== 401 && status !== 403 : request !== 'faulty'

export const overlaps = (one: HistoryEvent, other: HistoryEvent): boolean =>
  one.sentAt <= other.endedAt && other.sentAt <= one.endedAt

/** Sent when the first had been answered: who sends what is to be refused knows that, whatever the clock. */
export const isAfter = ({ sentAt, request }: HistoryEvent, { endedAt }: HistoryEvent): boolean =>
  sentAt > endedAt || (sentAt === endedAt && request === 'faulty')

/** Refused for what it asks for: the rights of a key, a limit and a pause say nothing of that. */
export const isRefused = (event: HistoryEvent): boolean =>
  isAnswered(event) && !event.isGranted && ![401, 403, 429, 503].includes(event.status!)

/** Whether it is the very same request with a key that is good: the same bytes with the same label. */
export const isSameRequest = (one: HistoryEvent, other: HistoryEvent): boolean =>
  one.content !== undefined &&
  one.content === other.content &&
  one.label === other.label &&
  one.key === other.key &&
  (one.request === 'unknown'
    ? isMeant(one)
    : [one, other].every(({ exchange }) => exchange.probe.credential.full))

/** A timer may fire a moment early, in ms. */
const earlyMs = 1

/** Whether what was made then has had its time when it is looked at. */
export const hasSettled = ({ limits }: History, madeAt: number, at: number): boolean =>
  at - madeAt >= limits.settleMs - earlyMs

/** A request is to blame for what comes after it on its connection if so many answers on fresh ones are right, and none of so many behind it. */
const proof = { fresh: 2, behind: 3 }

/** Whether the client has tried it in turns, behind the suspected request and on fresh connections. @param alike answers to requests like it */
export function isOfConnection(
  wrong: HistoryEvent,
  alike: readonly HistoryEvent[],
  isRight: (event: HistoryEvent) => boolean,
): boolean {
  // So is every one in a recording, of which each would be read again.
  if (wrong.isFirst) return false
  const known = alike.filter(isAnswered)
  const fresh = known.filter(({ isFirst }) => isFirst)
  const behind = known.filter(({ exchange: { purpose } }) => purpose.skipJudging === 'at all')
  const isProven = fresh.length >= proof.fresh && behind.length >= proof.behind
  return isProven && fresh.every(isRight) && !behind.some(isRight)
}

/** Whether an addition found no file since the file is gone, as a retrieval shows that came after it: its graph is no matter of that. */
export function isForFile(history: History, { object, status = 0, sentAt }: HistoryEvent): boolean {
  if (object === undefined || !isMissing(status)) return false
  const readings = history
    .of(object)
    .filter((one) => one.operation === 'files.retrieve' && one.sentAt > sentAt && isAnswered(one))
  return readings.length > 0 && readings.every((one) => isMissing(one.status ?? 0))
}

/** Whether an addition found no graph since one that was made is gone for good: what was made can be used by another requirement. */
export function isForGraph(
  history: History,
  { within = '', status = 0, sentAt }: HistoryEvent,
): boolean {
  const isMade = madeBy(history, 'graphs.create').some(({ object }) => object === within)
  const isThere = (one: HistoryEvent): boolean =>
    one.sentAt > sentAt && isAnswered(one) && !isMissing(one.status!)
  return isMissing(status) && isMade && !history.within(within).some(isThere)
}

const isMissing = (status: number): boolean => status === 404 || status === 410

/** `3.2 s` */
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** What the history made by an operation, as it was meant to: the granted creations, the first of each id. */
export const madeBy = (history: History, id: OperationId): readonly HistoryEvent[] =>
  made(history).get(id) ?? []

const made = derived((history) => {
  const first = new Map<string, HistoryEvent>()
  for (const event of history.events) {
    const { operation: id, object, within } = event
    const isMade = event.kind === 'creation' && event.isGranted && isMeant(event)
    if (!isMade || object === undefined) continue
    const key = `${id} ${id === additionOperation ? within : ''} ${idKey(object)}`
    if (!first.has(key)) first.set(key, event)
  }
  return groupBy(first.values(), (event) => event.operation)
})

/** What a recording made may be removed by others: what is looked at so many ms later proves nothing. */
const longestMs = 60_000

/** Whether what was made may be gone by then, by a request of a kind that the spec does not show, or by whoever is not recorded. */
export const mayBeGone = (history: History, from: number, to: number): boolean =>
  history.isRecorded &&
  (!(to - from <= longestMs) || history.othersAt.some((at) => !(at < from || at > to)))
