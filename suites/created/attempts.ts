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

/** A rule for all that an operation creates: a pure function of a history. */
export type RelationRule = (history: History, operation: OperationId) => Verdict

export interface Creator {
  readonly operation: OperationId
  /** Accepted pairs for creating something that exists. */
  readonly exists: Pairs
  readonly what: string
  readonly same: string
  /** New objects may be processed for `settleMs`, and be unknown before. */
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

function thingOf(event: HistoryEvent): string | undefined {
  const { kind, operation: id, within, name } = event
  if (kind !== 'creation') return undefined
  if (id !== additionOperation) return operation(id).creates?.hasUniqueName ? name : undefined
  return within === undefined ? undefined : `${idKey(within)} ${fileOf(event)}`
}

/** The file in an addition; if its place is undeclared, the whole body identifies it. */
export const fileOf = ({ object, content }: Pick<HistoryEvent, 'object' | 'content'>): string =>
  object === undefined ? String(content) : idKey(object)

/** The additions of each file to graphs, in order. */
export const additionsByFile = derived((history) =>
  groupBy(thingsOf(history, additionOperation).flat(), fileOf),
)

const things = derived((history) => {
  const sent = history.events.toSorted((one, other) => one.sentAt - other.sentAt)
  const known = sent.filter((event) => thingOf(event) !== undefined)
  const byOperation = groupBy(known, (event) => event.operation)
  return new Map([...byOperation].map(([id, events]) => [id, groupBy(events, thingOf)]))
})

/** The creations of each thing, in order. */
export const thingsOf = (history: History, id: OperationId): (readonly HistoryEvent[])[] => [
  ...(things(history).get(id)?.values() ?? []),
]

export const isGranted = (event: HistoryEvent): boolean => event.isGranted
export const isAnswered = ({ status, noise }: HistoryEvent): boolean =>
  status !== undefined && noise === undefined

/** Expected to be accepted; in a recording, only the answer shows that the key was invalid. */
export const isMeant = ({ request, status = 0 }: HistoryEvent): boolean =>
  request === 'unknown' ? status !== 401 && status !== 403 : request !== 'faulty'

export const overlaps = (one: HistoryEvent, other: HistoryEvent): boolean =>
  one.sentAt <= other.endedAt && other.sentAt <= one.endedAt

/** Sent after the first was answered; a deliberate repetition always is, whatever the clock. */
export const isAfter = ({ sentAt, request }: HistoryEvent, { endedAt }: HistoryEvent): boolean =>
  sentAt > endedAt || (sentAt === endedAt && request === 'faulty')

/** Refused for its content: rights, limits and throttling do not count. */
export const isRefused = (event: HistoryEvent): boolean =>
  isAnswered(event) && !event.isGranted && ![401, 403, 429, 503].includes(event.status!)

/** The same request with a valid key: the same bytes with the same label. */
export const isSameRequest = (one: HistoryEvent, other: HistoryEvent): boolean =>
  one.content !== undefined &&
  one.content === other.content &&
  one.label === other.label &&
  one.key === other.key &&
  (one.request === 'unknown'
    ? isMeant(one)
    : [one, other].every(({ exchange }) => exchange.probe.credential.full))

/** A timer may fire early, in ms. */
const earlyMs = 1

/** Whether an object made then had its time to settle. */
export const hasSettled = ({ limits }: History, madeAt: number, at: number): boolean =>
  at - madeAt >= limits.settleMs - earlyMs

/** A request spoils its connection if this many answers on fresh ones are right, and none of this many after it. */
const proof = { fresh: 2, behind: 3 }

/**
 * Whether the client has alternated between a suspected request and fresh connections.
 * @param alike answers to similar requests
 */
export function isOfConnection(
  wrong: HistoryEvent,
  alike: readonly HistoryEvent[],
  isRight: (event: HistoryEvent) => boolean,
): boolean {
  // In a recording every event counts as first: no connection is known.
  if (wrong.isFirst) return false
  const known = alike.filter(isAnswered)
  const fresh = known.filter(({ isFirst }) => isFirst)
  const behind = known.filter(({ exchange: { purpose } }) => purpose.skipJudging === 'at all')
  const isProven = fresh.length >= proof.fresh && behind.length >= proof.behind
  return isProven && fresh.every(isRight) && !behind.some(isRight)
}

/** Whether an addition failed because its file is gone, as a later retrieval shows. */
export function isForFile(history: History, { object, status = 0, sentAt }: HistoryEvent): boolean {
  if (object === undefined || !isMissing(status)) return false
  const readings = history
    .of(object)
    .filter((one) => one.operation === 'files.retrieve' && one.sentAt > sentAt && isAnswered(one))
  return readings.length > 0 && readings.every((one) => isMissing(one.status ?? 0))
}

/** Whether an addition found no graph because a created one has disappeared: another requirement judges that. */
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

/** For example `3.2 s`. */
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Objects made by an operation: accepted creations, the first per id. */
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

/** Objects in a recording may be removed by others: later observations (ms) prove nothing. */
const longestMs = 60_000

/** Whether an object may be gone by then, through an undocumented request or an unrecorded client. */
export const mayBeGone = (history: History, from: number, to: number): boolean =>
  history.isRecorded &&
  (!(to - from <= longestMs) || history.othersAt.some((at) => !(at < from || at > to)))
