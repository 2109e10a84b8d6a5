import { operation, type OperationId, uploadOperation } from '../../catalogue/operations.ts'
import { groupBy } from '../../harness/group-by.ts'
import {
  type Evidence,
  type History,
  type HistoryEvent,
  idKey,
  verdictOf,
} from '../../harness/journal/index.ts'
import {
  creatorOf,
  hasSettled,
  isAnswered,
  isForFile,
  isGranted,
  isMeant,
  isRefused,
  isSameRequest,
  madeBy,
  mayBeGone,
  type RelationRule,
  seconds,
  thingsOf,
} from './attempts.ts'

/** §4.4: ids of creations are unique, except for identical bytes. */
export const ownIdRule: RelationRule = (history, id) => {
  const granted = history.events.filter(
    (one) => one.operation === id && one.isGranted && one.object !== undefined && isIdentified(one),
  )
  const first = new Map<string, HistoryEvent>()
  const evidence = granted.flatMap((one): Evidence[] => {
    const { exchange, name, object } = one
    const key = `${one.key} ${idKey(object!)}`
    const twin = first.get(key)
    if (!twin) first.set(key, one)
    if (!twin || twin.content === one.content) return []
    const which =
      name !== undefined && name === twin.name
        ? `another creation of the same name, ${name}, returned`
        : `another creation${twin.name === undefined ? '' : `, of ${twin.name},`} gave`
    return [
      {
        exchange,
        what: name === undefined ? '' : `of ${name}`,
        expected: 'an id that no other creation returns',
        actual: `id ${object}, which ${which} (operations.${id}.fields.id says where it is)`,
        takes: twin.endedAt <= one.sentAt ? 'object-of-run' : undefined,
        shownBy: exchange.purpose.requirement,
      },
    ]
  })
  const cases = granted.length - evidence.length
  const why = 'fewer than two creations returned an id'
  return verdictOf(evidence, cases < 2 && evidence.length === 0 ? 0 : cases, why)
}

const isIdentified = ({ content, label = '' }: HistoryEvent): boolean =>
  content !== undefined && !/^multipart/i.test(label)

interface Look {
  readonly kind: string
  readonly refusal: HistoryEvent
  readonly creation: HistoryEvent
}

/** Statuses of a real refusal: a conflict or limit may have another reason. */
const ofFaults: readonly number[] = [400, 401, 403, 413, 415, 422]

function lookIn({ isRecorded }: History, attempts: readonly HistoryEvent[]): Look[] {
  const last = attempts.at(-1)!
  const isFault = (one: HistoryEvent): boolean =>
    isRecorded ? !isSameRequest(one, last) : one.request === 'faulty'
  const from = attempts.findIndex((one) => !isFault(one))
  const before = attempts.slice(0, Math.max(0, from))
  const refusal = before.findLast(({ status = 0, noise }) => ofFaults.includes(status) && !noise)
  if (!refusal || before.some(isGranted)) return []
  const later = attempts.slice(from).filter(isMeant)
  // An unanswered one may have created what the next one conflicts with.
  const isLost = later.some(({ status }) => status === undefined)
  const creation = later.find(isGranted) ?? (isLost ? undefined : later.findLast(isRefused))
  const { fault, status, tpe } = refusal
  return creation ? [{ kind: fault ?? `${status} ${tpe}`, refusal, creation }] : []
}

/** Observations needed for a fault that another client or a replica could explain. */
export const timesAlike = 3

/** §7.2: a refused creation has no effect: its name is still free. */
export const noEffectRule: RelationRule = (history, id) => {
  const looks = thingsOf(history, id).flatMap((attempts) => lookIn(history, attempts))
  const plain = thingsOf(history, id).flatMap(([first]) => (first?.isGranted ? [first] : []))
  // In a recording, the thing may have existed before.
  const isProof = ({ creation }: Look): boolean =>
    !history.isRecorded &&
    !creation.isGranted &&
    plain.some(({ sentAt }) => sentAt > creation.endedAt)
  const evidence = [...groupBy(looks, ({ kind }) => kind).values()].flatMap((alike): Evidence[] => {
    const [first] = alike
    if (!first || alike.length < timesAlike || !alike.every(isProof)) return []
    const { exchange, status, tpe } = first.refusal
    const how = exchange.purpose.what ?? `by ${status} ${tpe}`
    return [
      {
        exchange: alike.at(-1)!.creation.exchange,
        what: `after the same one was refused ${how}, in ${alike.length} attempts`,
        expected: `a 2xx: the refused creation had no effect, so ${creatorOf(id).same} is still free`,
      },
    ]
  })
  const cases = looks.filter(({ creation }) => creation.isGranted).length
  const why = 'no refused creation was sent again without its fault'
  return verdictOf(evidence, cases, why)
}

export interface Use {
  readonly operation: OperationId
  readonly param: string
}

/** Uses of a created object by its id in a path. Not every file is a PDF that can be parsed. */
export const usesByPath = (id: OperationId): Use[] =>
  (operation(id).creates?.usedBy ?? []).flatMap((use) =>
    'param' in use && use.operation !== 'pdf.parse'
      ? [{ operation: use.operation as OperationId, param: use.param }]
      : [],
  )

function usesOf(history: History, made: HistoryEvent): HistoryEvent[] {
  const uses = usesByPath(made.operation).map(({ operation: by }) => by)
  const id = made.object ?? ''
  return [...new Set([...history.of(id), ...history.within(id)])].filter(
    (one) =>
      uses.includes(one.operation) &&
      one.sentAt >= made.endedAt &&
      isMeant(one) &&
      one.noise === undefined &&
      one.key === made.key,
  )
}

/** False if the object is missing or crashes the server. Only a file is requested by itself. */
export const isUsable = ({ operation: id, status = 0, isGranted: is }: HistoryEvent): boolean =>
  id === 'files.retrieve' ? is : status > 0 && ![404, 410].includes(status) && status < 500

/** Whether the operation also fails for other objects, failed the same way before, or crashes there. */
function failsAnyway(history: History, use: HistoryEvent, ids: ReadonlySet<string>): boolean {
  const others = history.events.filter(
    (one) =>
      one.operation === use.operation &&
      isMeant(one) &&
      !ids.has((one.kind === 'creation' ? one.within : one.object) ?? ''),
  )
  const isFile = use.operation === 'files.retrieve'
  const isTaken = (one: HistoryEvent): boolean => one.isGranted || (!isFile && one.status === 409)
  // A key that can retrieve another file has the permission: a 403 concerns this one.
  if (isFile) return use.status === 403 && !others.some(isTaken)
  const isBroken = (one: HistoryEvent): boolean => one === use || (one.status ?? 0) >= 500
  const breaks = isBroken(use) && others.some((one) => isBroken(one) && isAnswered(one))
  return others.length > 0 && (!others.some(isTaken) || others[0]?.status === use.status || breaks)
}

/** Whether a use proves a missing object; a crash only as the last answer of its operation. */
function isProofOfLoss(history: History, made: HistoryEvent, use: HistoryEvent): boolean {
  const file = use.kind === 'creation' && use.object !== undefined ? history.of(use.object) : []
  const uploaded = file.find(({ operation: id, isGranted: is }) => id === uploadOperation && is)
  const from = Math.max(made.endedAt, uploaded?.endedAt ?? -Infinity)
  if (!hasSettled(history, from, use.sentAt)) return false
  if (mayBeGone(history, made.sentAt, use.endedAt)) return false
  if (use.kind === 'creation' && isForFile(history, use)) return false
  const uses = usesOf(history, made).filter(({ operation: id }) => id === use.operation)
  // A recording may contain a transient crash.
  if (history.isRecorded) return use.status === 404 && !uses.some(isUsable)
  return (use.status ?? 0) < 500 || uses.at(-1) === use
}

/** §4.4: an object can be used at the latest `settleMs` later, and ever after. */
export const usableRule: RelationRule = (history, id) => {
  const { settleMs } = history.limits
  const isFile = id === uploadOperation
  const all = madeBy(history, id)
  const ids = new Set(all.map(({ object }) => object!))
  let why = `it is not known whether ${operation(id).creates?.what} can be used after its creation`
  let cases = 0
  const evidence = all.flatMap((made): Evidence[] => {
    const uses = usesOf(history, made)
    cases += uses.filter(isUsable).length
    const isWrong = (one: HistoryEvent): boolean =>
      one.status === undefined
        ? isNeverAnswered(history, all, one)
        : isProofOfLoss(history, made, one)
    const wrong = uses.filter((one) => !isUsable(one) && isWrong(one))
    const lost = wrong.filter((one) => !failsAnyway(history, one, ids))
    if (lost.length < wrong.length)
      why = isFile
        ? 'the full key lacks a right (403): use a key with all rights'
        : 'requests that use the declared object fail too: declare some that succeed'
    return lost.slice(0, 1).map(({ exchange, sentAt }) => ({
      exchange,
      what: `with the id of an object created ${seconds(sentAt - made.endedAt)} before`,
      expected: `${isFile ? 'a 2xx' : 'neither 404 nor 410 nor a 5xx'} at the latest ${settleMs} ms after its creation (limits.settleMs)`,
      shownBy: made.exchange.purpose.requirement,
    }))
  })
  return verdictOf(evidence, cases + evidence.length, why)
}

function isNeverAnswered(
  history: History,
  made: readonly HistoryEvent[],
  { operation: id, isFirst }: HistoryEvent,
): boolean {
  if (id !== 'files.retrieve' || history.isRecorded || !isFirst) return false
  const readings = made.flatMap((one) => usesOf(history, one))
  return readings.length > 1 && readings.every(({ status }) => status === undefined)
}
