import {
  additionOperation,
  operationOf,
  type OperationId,
  uploadOperation,
  isOperationId,
} from '../../catalogue/operations.ts'
import { groupBy } from '../../harness/group-by.ts'
import {
  type Evidence,
  type History,
  type HistoryEvent,
  idKey,
  isConflict,
  isMeant,
  isMissing,
  judged,
  overlaps,
  type Rule,
  sameId,
  seconds,
  type Shown,
  timesAlike,
  describeResponse,
  type Exchange,
  jsonValue,
} from '../../harness/journal/index.ts'
import { isOwnBreakdown } from '../../harness/client/index.ts'
import { type CatalogueRequirement, refusalOfExisting } from '../../catalogue/catalogue.ts'

type RelationRule = (history: History, operation: OperationId) => readonly Shown[]

/** How the creation of what exists is answered, and what that is called. */
export function creatorOf(id: OperationId) {
  const { creates } = operationOf(id)
  const what = creates?.what ?? 'a file in a graph'
  return { exists: refusalOfExisting(id), what, same: creates ? 'the same name' : 'the same file' }
}

/** What a creation makes, or finds if it exists: a thing of its name, or a file in a graph. */
function thingOf(event: HistoryEvent): string | undefined {
  const { operation: id, within, name, object } = event
  if (id !== additionOperation) return name
  // If the place of the file is undeclared, the whole body identifies it.
  return within && `${idKey(within)} ${object === undefined ? event.content : idKey(object)}`
}

function thingsOf(history: History, id: OperationId): HistoryEvent[][] {
  const all = history.events.filter((one) => one.operation === id && thingOf(one))
  const inOrder = all.toSorted((one, other) => one.sentAt - other.sentAt)
  return [...groupBy(inOrder, thingOf).values()]
}

/** To any graph. */
const additionsOf = (history: History, file = ''): HistoryEvent[] =>
  history.of(file).filter((one) => one.operation === additionOperation && isMeant(one))

const isIn = (one: HistoryEvent, graph = ''): boolean => sameId(one.within ?? '', graph)

const isGranted = (event: HistoryEvent): boolean => event.isGranted
const isAnswered = (event: HistoryEvent): boolean =>
  event.status !== undefined && event.noise === undefined

/** Refused for its content: rights, limits and throttling do not count. */
export const isRefused = ({ response }: Exchange): boolean =>
  response !== undefined &&
  !response.isBlock &&
  !response.isGranted &&
  ![401, 403, 429, 503].includes(response.status)

/** The same bytes with the same label and a valid key. */
const isSameRequest = (one: HistoryEvent, other: HistoryEvent): boolean =>
  one.content !== undefined &&
  one.content === other.content &&
  one.label === other.label &&
  one.key === other.key &&
  [one, other].every((each) => each.exchange.probe.credential.full)

/** A timer may fire 1 ms early. */
const hasSettled = (history: History, madeAt: number, at: number): boolean =>
  at - madeAt >= history.limits.settleMs - 1

const acceptedBy = (history: History, id: OperationId): HistoryEvent[] =>
  history.events.filter(
    (one) => one.operation === id && one.isGranted && one.object !== undefined && isMeant(one),
  )

/** The first accepted creation of each id. */
export function madeBy(history: History, id: OperationId): HistoryEvent[] {
  const alike = groupBy(acceptedBy(history, id), (one) => `${one.within} ${idKey(one.object!)}`)
  return [...alike.values()].map((all) => all[0]!)
}

/** Objects in a recording may be removed by others: later observations (ms) prove nothing. */
const longestMs = 60_000

/**
 * A wrong answer about an object. It shows nothing if that may be gone: in a recording by an undocumented request or an
 * unrecorded client, or the file of an addition, which another requirement judges.
 * @param what ends with how long before it was made
 */
function wrongSince(
  history: History,
  made: HistoryEvent,
  wrong: HistoryEvent,
  what: string,
  expected: Evidence['expected'],
): Shown {
  const { endedAt, exchange, object = '', operation: id, sentAt } = wrong
  const readings = history
    .of(object)
    .filter((one) => one.kind === 'reading' && one.sentAt >= sentAt && isAnswered(one))
  const isLost = readings.length > 0 && readings.every(isMissing)
  const mayBeRemoved =
    !(endedAt - made.sentAt <= longestMs) ||
    history.othersAt.some((at) => !(at < made.sentAt || at > endedAt))
  // A single crash may be chance, and a recording contains it once.
  if (history.isRecorded && (mayBeRemoved || wrong.status! >= 500)) return undefined
  if (id === additionOperation && isMissing(wrong) && isLost) return undefined
  return {
    exchange,
    what: `${what} ${seconds(sentAt - made.endedAt)} before`,
    expected,
    shownBy: made.exchange.purpose.requirement,
  }
}

/** §4.4: ids of creations are unique, except for identical bytes. */
const ownIdRule: RelationRule = (history, id) => {
  // Recorded multipart bodies differ even if they contain the same file.
  const known = acceptedBy(history, id).filter(
    (one) => one.content !== undefined && !/^multipart/i.test(one.label ?? ''),
  )
  if (known.length < 2) return []
  const of = (event: HistoryEvent): string =>
    event.name === undefined ? '' : `, of ${event.name},`
  const alike = groupBy(known, (one) => `${one.key} ${idKey(one.object!)}`)
  return [...alike.values()].flatMap((all) =>
    all.map((one): Shown => {
      const twin = all[0]!
      if (one.content === twin.content) return 'held'
      return {
        exchange: one.exchange,
        what: one.name === undefined ? '' : `of ${one.name}`,
        expected: 'an id that no other creation returns',
        actual: `id ${one.object}, which another creation${of(twin)} gave (operations.${id}.fields.id says where it is)`,
        takes: twin.endedAt <= one.sentAt ? 'object-of-run' : undefined,
      }
    }),
  )
}

/** Statuses of a real refusal: a conflict or limit may have another reason. */
export const ofFaults: readonly number[] = [400, 401, 403, 413, 415, 422]

/** A refusal, and the same creation without its fault after it, if both are conclusive. */
function lookIn(history: History, attempts: readonly HistoryEvent[]) {
  const last = attempts.at(-1)!
  const isFault = (one: HistoryEvent) =>
    history.isRecorded ? !isSameRequest(one, last) : one.request === 'faulty'
  const sound = attempts.filter((one) => !isFault(one))
  // One that got no answer, was throttled or blocked may have created what the next one conflicts with.
  const isLost = sound.some((one) => one.status === undefined || one.noise !== undefined)
  const creation =
    sound.find(isGranted) ?? (isLost ? undefined : sound.findLast((one) => isRefused(one.exchange)))
  if (!creation) return []
  const refusal = attempts.findLast(
    (one) => isFault(one) && one.sentAt < creation.sentAt && ofFaults.includes(one.status ?? 0),
  )
  return refusal ? [{ refusal, creation }] : []
}

/** §7.2: a refused creation has no effect: its name is still free. */
const noEffectRule: RelationRule = (history, id) => {
  const all = thingsOf(history, id)
  const looks = all.flatMap((attempts) => lookIn(history, attempts))
  // A new file may be unknown at first.
  const firsts = all.flatMap((attempts) => attempts.find((one) => !isMissing(one)) ?? [])
  const isRefusedAlone = ({ creation }: (typeof looks)[number]): boolean =>
    !creation.isGranted && firsts.some((one) => one.isGranted && one.sentAt > creation.endedAt)
  const kinds = groupBy(looks, (one) => one.refusal.fault)
  const faults = [...kinds.values()].flatMap((alike): Shown => {
    // In a recording, the thing may have existed before.
    if (history.isRecorded || alike.length < timesAlike || !alike.every(isRefusedAlone)) return
    const how = alike[0]!.refusal.exchange.purpose.what
    return {
      exchange: alike.at(-1)!.creation.exchange,
      what: `after the same one was refused ${how}, in ${alike.length} attempts`,
      expected: `a 2xx: the refused creation had no effect, so ${creatorOf(id).same} is still free`,
    }
  })
  return [...faults, ...looks.flatMap((look) => (look.creation.isGranted ? 'held' : []))]
}

/** Uses of a created object by its id in a path. Not every file is a PDF that can be parsed. */
export const usesByPath = (id: OperationId): { operation: OperationId; param: string }[] =>
  (operationOf(id).creates?.usedBy ?? []).flatMap((use) => {
    const by = use.operation as OperationId
    const isUse = by !== 'pdf.parse' && operationOf(by).effect !== 'destroys'
    return 'param' in use && isUse ? [{ operation: by, param: use.param }] : []
  })

function usesOf(history: History, made: HistoryEvent): HistoryEvent[] {
  const uses = usesByPath(made.operation).map((one) => one.operation)
  const id = made.object ?? ''
  return [...history.of(id), ...history.within(id)].filter(
    (one) =>
      uses.includes(one.operation) &&
      one.sentAt >= made.endedAt &&
      isMeant(one) &&
      one.noise === undefined &&
      one.key === made.key,
  )
}

/** False if the object is missing or crashes the server. Only a file is requested by itself. */
export function isUsable({ probe, response }: Exchange): boolean {
  if (!response) return false
  if (probe.operation === 'files.retrieve') return response.isGranted
  return !isMissing(response) && response.status < 500
}

/** Whether the operation fails for other objects, too, or failed the same way before. */
function failsAnyway(history: History, use: HistoryEvent, ids: ReadonlySet<string>): boolean {
  const { operation: id, status = 0 } = use
  const others = history.events.filter(
    (one) =>
      one.operation === id &&
      isMeant(one) &&
      !ids.has((one.kind === 'creation' ? one.within : one.object) ?? ''),
  )
  // A key that can retrieve another file has the permission: a 403 concerns this one.
  if (id === 'files.retrieve') return status === 403 && !others.some(isGranted)
  const isTaken = others.some((one) => one.isGranted || isConflict(one))
  return others.length > 0 && (!isTaken || others[0]!.status === status)
}

/** Whether a use proves a missing object; a crash only as the last answer of its operation. */
function isProofOfLoss(history: History, made: HistoryEvent, use: HistoryEvent): boolean {
  const { exchange, operation: id, sentAt, status } = use
  if (status === undefined) return id === 'files.retrieve' && exchange.unansweredTimes !== undefined
  const file = uploadOf(history, use)
  if (!hasSettled(history, Math.max(made.endedAt, file?.endedAt ?? 0), sentAt)) return false
  const uses = usesOf(history, made).filter((one) => one.operation === id)
  // A recording may contain a transient crash.
  if (history.isRecorded) return status === 404 && !uses.some((one) => isUsable(one.exchange))
  return status < 500 || uses.at(-1) === use
}

/** §4.4: an object can be used at the latest `settleMs` later, and ever after. */
const usableRule: RelationRule = (history, id) => {
  const isFile = id === uploadOperation
  const good = isFile ? 'a 2xx' : 'neither 404 nor 410 nor a 5xx'
  const expected = `${good} at the latest ${history.limits.settleMs} ms after its creation (limits.settleMs)`
  const why = isFile
    ? 'the full key lacks a right (403): use a key with all rights'
    : 'requests that use the declared object fail too: declare some that succeed'
  const all = madeBy(history, id)
  const ids = new Set(all.map((one) => one.object!))
  return all.flatMap((made) =>
    usesOf(history, made).map((use): Shown => {
      if (isUsable(use.exchange)) return 'held'
      if (!isProofOfLoss(history, made, use)) return undefined
      if (failsAnyway(history, use, ids)) return { why }
      return wrongSince(history, made, use, 'with the id of an object created', expected)
    }),
  )
}

const onceRule: RelationRule = (history, id) => {
  const { exists, what, same } = creatorOf(id)
  const graphs = madeBy(history, 'graphs.create')
  const isAddition = id === additionOperation
  const isRight = (event: HistoryEvent) =>
    exists.some(([status, name]) => event.status === status && event.tpe === name)
  // A declared file may already be in the graph.
  const isThere = (one: HistoryEvent) =>
    isAddition && !history.isRecorded && isMeant(one) && isRight(one)
  return thingsOf(history, id).flatMap((attempts): Shown[] => {
    const first = attempts.find(isGranted) ?? attempts.find(isThere)
    if (!first) return []
    const { endedAt, sentAt, within } = first
    // Another requirement judges what a graph shows once the file was added to another one.
    const elsewhere = additionsOf(history, first.object).find(
      (one) => one.isGranted && one.sentAt > sentAt && !isIn(one, within),
    )
    const repetitions = attempts.filter(
      (one) =>
        // A deliberate repetition comes after it, whatever the clock says.
        (one.sentAt > endedAt || (one.sentAt === endedAt && one.request === 'faulty')) &&
        one.sentAt < (elsewhere?.sentAt ?? Infinity) &&
        (isAnswered(one) || one.exchange.unansweredTimes) &&
        isSameRequest(one, first),
    )
    // Until processed, neither an acceptance nor an unknown file proves anything.
    const isEarly = (one: HistoryEvent) =>
      isAddition && !hasSettled(history, endedAt, one.sentAt) && (one.isGranted || isMissing(one))
    // Another requirement judges whether a created graph can be used.
    const isLost = (one: HistoryEvent) =>
      isMissing(one) && graphs.some((graph) => graph.object === within)
    return repetitions.map((one) => {
      if (isRight(one)) return 'held'
      if (isEarly(one) || isLost(one)) return undefined
      return wrongSince(history, first, one, `with ${same} as ${what} that exists, made`, exists)
    })
  })
}

/** At most one of several simultaneous creations of a thing is accepted; a crash each time is a fault, too. */
const atomicRule: RelationRule = (history, id) => {
  const crashes: Evidence[] = []
  return thingsOf(history, id).flatMap((attempts): Shown[] => {
    const meant = attempts.filter(isMeant)
    const beside = meant.filter((one) => meant.some((other) => overlaps(one, other)))
    if (beside.length === 0) return []
    const what = `with ${creatorOf(id).same}, at once with ${beside.length - 1} others`
    const granted = beside.filter(isGranted)
    const second = granted.find((one, at) => granted.slice(0, at).some((two) => overlaps(one, two)))
    if (second) {
      const actual = `${granted.length} of them were accepted`
      return [{ exchange: second.exchange, what, expected: 'at most one is accepted', actual }]
    }
    if (granted.length === 0) {
      const limited = beside.find((one) => one.noise === 'throttled')
      const said = describeResponse((limited ?? beside[0]!).exchange)
      const why = `none of the concurrent creations was accepted: ${said}`
      return [{ why: limited ? `throttled: ${why}` : why }]
    }
    const refused = beside.filter((one) => isAnswered(one) && isRefused(one.exchange))
    const exchange = refused.find((one) => isOwnBreakdown(one.exchange))?.exchange
    if (!exchange) return refused.map(() => 'held')
    const expected = 'a refusal, not a crash, for all but one of them'
    const why = `the server crashed once, which may be chance: ${describeResponse(exchange)}`
    return crashes.push({ exchange, what, expected }) > 1 ? crashes.slice(-1) : [{ why }]
  })
}

const uploadOf = (history: History, { object = '' }: HistoryEvent): HistoryEvent | undefined =>
  history.of(object).find((one) => one.operation === uploadOperation)

/** Whether a graph accepts a file that was not uploaded to a graph. */
const takesPlain = (history: History, graph: string | undefined): boolean =>
  madeBy(history, additionOperation).some(
    (one) => isIn(one, graph) && uploadOf(history, one)?.within === undefined,
  )

/**
 * §2.8: a file uploaded with graphId is in that graph: its first addition there gets 409, once processed. An
 * addition that was sent twice may have added it; a throttled or blocked one has not.
 */
const attachedRule: RelationRule = (history) =>
  madeBy(history, uploadOperation).map((upload): Shown => {
    const { endedAt, within: graph, object } = upload
    const first = additionsOf(history, object).find((one) => isIn(one, graph) && !one.noise)
    if (!first) return undefined
    if (isConflict(first)) return 'held'
    const isOther = isRefused(first.exchange) && first.status! < 500
    const isWrong = first.isGranted || (isOther && takesPlain(history, graph))
    if (!isWrong || !hasSettled(history, endedAt, first.sentAt)) return undefined
    const what = `of file ${object}, which was uploaded with graphId ${graph}`
    return wrongSince(history, upload, first, what, '409: the file is already in that graph')
  })

export const extensionIn = (filename: string): string | undefined => /\.(\w+)$/.exec(filename)?.[1]

const textOf = (exchange: Exchange): string => exchange.response?.text(exchange.response.size) ?? ''

/** Minimum characters of an id to search for outside members. */
const longEnough = 8

/** The members of an answer whose value is that id; an empty name in a list, and in a text other than JSON. */
export function placesOf(exchange: Exchange, id: string): readonly string[] {
  const parts = textOf(exchange).split(id)
  return parts.slice(1).flatMap((after, at) => {
    const before = parts[at]!
    const isWhole = /(?:^|["[:,\s>])$/.test(before) && /^(?:$|["\],}\s<])/.test(after)
    const name = /"([^"]*)"\s*:\s*"?$/.exec(before)?.[1]
    return isWhole ? (name ?? (id.length < longEnough ? [] : '')) : []
  })
}

const typesOf = ({ object = '' }: HistoryEvent): string[] =>
  object.replace(/^\S+ /, '').toLowerCase().split(',')

/** Maximum compared listings of a long recording. */
const mostRead = 200

/** §2.8: a file is not listed under another extension, unless at a member at which its own does not list it. */
const filteredRule: RelationRule = (history) => {
  const listings = history.events
    .filter((event) => event.kind === 'listing' && event.isGranted)
    .slice(0, mostRead)
  return madeBy(history, uploadOperation).flatMap((made): Shown[] => {
    const id = made.object!
    const own = extensionIn(made.name ?? '')?.toLowerCase()
    const later = listings.filter((one) => one.sentAt >= made.endedAt && one.key === made.key)
    const known = later.filter((one) => typesOf(one).join() === own)
    const places = known.flatMap((one) => placesOf(one.exchange, id))
    // An empty list excludes nothing.
    const others = later.filter((one) => !typesOf(one).some((type) => ['', own].includes(type)))
    if (known.length === 0) return []
    return others.map((one): Shown => {
      const isThere = placesOf(one.exchange, id).some(
        (place) => places.length === 0 || places.includes(place),
      )
      // Listed nowhere, it is not known to be listed at all.
      if (!isThere) return places.length > 0 ? 'held' : undefined
      return {
        exchange: one.exchange,
        what: `with file_types ${typesOf(one).join()}`,
        expected: `a listing without the file ${id}, whose extension is ${own}`,
        actual: `${one.status}, and the file is in it`,
      }
    })
  })
}

/** §4.4: retrievals of two files with different names and content differ. */
const ownRecordRule: RelationRule = (history) => {
  const uploads = madeBy(history, uploadOperation)
  const ids = uploads.map((one) => JSON.stringify(one.object))
  const records = uploads
    .filter((made) => made.content !== undefined)
    .flatMap((made) => {
      const readings = history.of(made.object!).filter((one) => one.kind === 'reading')
      return readings.filter(isGranted).map(({ exchange, body }, at) => {
        // The text of a large answer is not kept.
        const text = textOf(exchange) || JSON.stringify(body)
        // It says which file it is about, by its id, or by a member such as `file_id` or `filename`.
        const isNaming =
          typeof jsonValue(exchange.response) === 'object' &&
          (/(?:id|name)"\s*:\s*["\d-]/i.test(text) || ids.some((id) => text.includes(id)))
        return { made, exchange, text, isNaming, isFirst: at === 0 }
      })
    })
    // Later ones, as at the end: among uploads, the latest record may be another one each time.
    .filter((one) => one.isFirst || one.isNaming)
  const byText = groupBy(records, (one) => one.text)
  return [...byText.values()].flatMap((alike) =>
    alike.map(({ made, exchange, isNaming }): Shown => {
      const first = alike[0]!.made
      if (first === made) return byText.size > 1 ? 'held' : undefined
      if (first.content === made.content || first.name === made.name) return undefined
      // To give two files one id is a fault of the upload.
      if (sameId(first.object!, made.object!)) return undefined
      if (!isNaming) return { why: 'the answers to both retrievals are the same, and name no file' }
      return {
        exchange,
        what: 'for the second of two uploaded files',
        expected: 'an answer that differs from the one for a file with another name and content',
        actual: `${describeResponse(exchange)}, as for the first`,
      }
    }),
  )
}

const usable = [usableRule, 'it is not known whether it can be used after its creation'] as const
const once = [onceRule, 'no existing object was requested again'] as const

/** By condition, with what is said if they show nothing. */
const rules: Readonly<Record<string, readonly [rule: RelationRule, why: string]>> = {
  '2xx-retrievable': usable,
  '2xx-usable': usable,
  '2xx-own-id': [ownIdRule, 'fewer than two creations returned an id'],
  '2xx-attached-to-graph': [
    attachedRule,
    'no file uploaded with graphId was added to that graph after enough time',
  ],
  '2xx-filtered': [filteredRule, 'no listing of its own extension contained an uploaded file'],
  '2xx-own-record': [ownRecordRule, 'no two files were uploaded and retrieved'],
  '4xx-no-effect': [noEffectRule, 'no refused creation was sent again without its fault'],
  '400-atomic': [atomicRule, 'no two creations of the same thing were sent at once'],
  '400-duplicate-name': once,
  '409-already-in-graph': once,
}

/** Undefined if none judges the requirement. Jobs have their own. */
export function relationRule({ condition, operation }: CatalogueRequirement): Rule | undefined {
  const known = rules[condition]
  if (!known || !isOperationId(operation) || operation.startsWith('jobs.')) return undefined
  const [rule, why] = known
  return (history) => judged(rule(history, operation), why)
}
