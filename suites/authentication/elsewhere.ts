import { isOperationId, type OperationId } from '../../catalogue/operations.ts'
import type { OtherPlace } from '../../catalogue/faults.ts'
import {
  isDisguise,
  isSamePath,
  isSpelling,
  otherBodyMembers,
  otherPlaces,
  pathAt,
  shownQuery,
  turnOf,
} from '../../catalogue/faults.ts'
import { isUuid } from '../../schemas/formats.ts'
import { getAt, setAt } from '../../schemas/json.ts'
import { judgeEach, placesIn, unknownWord } from '../../harness/checks/index.ts'
import type { CheckContext, Exchange, Probe, Run } from '../../harness/engine/index.ts'
import { isGranted, jsonOf, oncePerRun, perRun, withHeader } from '../../harness/engine/index.ts'
import { noCredential } from './key-forms.ts'

/** A credential that is wrong, in words, and as a kind. */
interface Wrong {
  readonly what: string
  readonly kind: string
}

/**
 * Places that it is sent to: every one; those at another path; one of them; or in
 * one spelling, the first of those from that number on that shows anything.
 */
type Where = 'all' | 'each' | OtherPlace | { readonly turn: number }

/** Requests in a row that got no answer, by place: a gateway may drop what it does not like, and is not asked for ever. */
const unansweredAt = perRun(() => new Map<OtherPlace, number>())
const maxUnanswered = 2

interface Elsewhere {
  readonly place: OtherPlace
  readonly path: string
  /** A path that means nothing, in the same spelling. */
  readonly unknown: string
  /** Body in place of the valid one. */
  readonly body?: string
}

/**
 * §4: all operations need authentication. Whether a server takes another path or spelling for the same operation is its own
 * affair, but what it refuses at one it must not serve at the other: any answer but a 2xx will do. It may be a gateway's.
 */
export async function judgeElsewhere(
  context: CheckContext,
  probe: Probe,
  wrong: Wrong,
  where: Where,
): Promise<void> {
  const { operation } = context.requirement
  if (!isOperationId(operation)) return
  const word = `/v1/${unknownWord(context.run, context.requirement.id)}`
  const turn = turnOf(operation, context.run.options.seed)
  const at = (place: OtherPlace): Elsewhere[] => {
    const path = pathAt(operation, probe.path, place, turn)
    const unknown = place === 'other path' ? undefined : pathAt(operation, word, place, turn)
    if (path === undefined) return []
    const one = { place, path, unknown: unknown ?? word }
    return place === 'other body'
      ? otherBodies(context.run, probe).map((body) => ({ ...one, body }))
      : [one]
  }
  const judge = (one: Elsewhere): Promise<boolean> => judgeAt(context, probe, wrong, one)
  if (typeof where === 'object') {
    const spellings = otherPlaces.filter(isSpelling)
    const first = where.turn % spellings.length
    for (const one of [...spellings, ...spellings]
      .slice(first, first + spellings.length)
      .flatMap(at))
      if (await judge(one)) return
    return
  }
  const isMeant = (place: OtherPlace): boolean =>
    where === 'each' ? !isSamePath(place, operation) : place === where
  await judgeEach(
    otherPlaces.filter((place) => where === 'all' || isMeant(place)).flatMap(at),
    judge,
  )
}

/** True if there was something to judge. */
async function judgeAt(
  context: CheckContext,
  probe: Probe,
  wrong: Wrong,
  at: Elsewhere,
): Promise<boolean> {
  const isKeyless = probe.credential === noCredential
  if (!isKeyless && isSpelling(at.place) && !(await takes(context, probe, at))) return false
  const exchange = isKeyless
    ? await withoutKey(context, probe, at)
    : await ask(context, probe, wrong, at)
  // No answer proves nothing, and the usual path is judged anyway.
  if (!exchange?.response || exchange.throttled) return false
  context.cases++
  if (!isGranted(exchange.response) || (await servesAnything(context, exchange.probe, at)))
    return true
  const told =
    {
      ...{ 'no body': 'no body', query: 'a query', 'other body': 'another body' },
      ...{ forwarded: 'X-Forwarded-For: 127.0.0.1', 'no user agent': 'no User-Agent' },
      multipart: 'a body labelled multipart/form-data',
      'uuid in the other letter case': 'the uuid in the other letter case',
    }[at.place as string] ?? `the path ${at.path}`
  context.fail(
    exchange,
    'any answer but a 2xx: nothing is served without a valid key',
    `${wrong.what}, and ${told}`,
  )
}

/** Sends the probe there; undefined if such paths are not answered any more. */
async function ask(
  context: CheckContext,
  probe: Probe,
  { what, kind }: Wrong,
  { place, path, body: other }: Elsewhere,
): Promise<Exchange | undefined> {
  const unanswered = unansweredAt(context.run)
  if ((unanswered.get(place) ?? 0) >= maxUnanswered) return undefined
  const body = place === 'no body' ? '' : (other ?? probe.body)
  const query =
    place === 'query'
      ? { ...probe.query, ...(queryIn(context) ?? { file_types: 'txt' }) }
      : probe.query
  // No operation: what a gateway does with such a path says nothing about the operation itself.
  const params =
    place === 'uuid in the other letter case' ? inOtherCase(probe.params) : probe.params
  const disguise = disguises[place]
  const sent: Probe = {
    ...(disguise === undefined ? probe : withHeader(probe, ...disguise)),
    body,
    path,
    params,
    query,
    operation: null,
    fault: `${kind} @ ${place}`,
  }
  // What shows without a key is a matter of that requirement, whichever asked.
  const own =
    kind === 'no credential'
      ? { requirement: `${context.requirement.operation}/401-missing-credentials` }
      : {}
  const exchange = await context.send(sent, {
    skipPassive: true,
    what,
    isSuccess: isRefused,
    ...own,
  })
  unanswered.set(place, exchange.response ? 0 : (unanswered.get(place) ?? 0) + 1)
  return exchange
}

/** The header of each way to seem a request that needs no key. */
const disguises: Partial<Record<OtherPlace, readonly [name: string, value: string]>> = {
  forwarded: ['x-forwarded-for', '127.0.0.1'],
  'no user agent': ['user-agent', ''],
  multipart: ['content-type', 'multipart/form-data; boundary=conform'],
}

/** The same uuids, which a router may not take for some. */
function inOtherCase(params: Probe['params']): Probe['params'] {
  const other = (id: string): string =>
    id === id.toLowerCase() ? id.toUpperCase() : id.toLowerCase()
  return Object.fromEntries(
    Object.entries(params).map(([name, id]) => [name, isUuid(id) ? other(id) : id]),
  )
}

/** The bodies that the spec shows besides: with each of those members, as a valid request has it. */
function otherBodies(run: Run, probe: Probe): string[] {
  const id = probe.operation as OperationId
  const valid = jsonOf(probe)
  const declared = run.target.operations[id]?.body
  const others = otherBodyMembers(id)
  return placesIn(run, id, valid)
    .filter(({ member }) => others.includes(member))
    .map(({ member: { allowed, kinds }, pointer, like }) => {
      const isSwitch = allowed !== undefined || kinds.includes('boolean')
      const other = allowed?.find((value) => value !== like) ?? true
      return JSON.stringify(
        setAt(valid, pointer, isSwitch ? other : (getAt(declared, pointer) ?? like)),
      )
    })
}

/** The query that the spec shows for the operation, as a valid request has it; undefined if there is none. */
export function queryIn({
  run,
  requirement: { operation },
}: CheckContext): Probe['query'] | undefined {
  const { name, declaredAt } = (isOperationId(operation) && shownQuery(operation)) || {}
  const declared = declaredAt === undefined ? 'txt' : getAt(run.target.file, declaredAt)
  return name !== undefined && typeof declared === 'string' && declared !== ''
    ? { [name]: declared }
    : undefined
}

const isRefused = ({ response }: Exchange): boolean =>
  response !== undefined && !isGranted(response)

/** Answer that comes there without a key. Asked once a run: that no other key is good there either depends on it. */
function withoutKey(
  context: CheckContext,
  probe: Probe,
  at: Elsewhere,
): Promise<Exchange | undefined> {
  const wrong = { what: 'without an Authorization header', kind: 'no credential' }
  const { run, requirement } = context
  return oncePerRun(
    run,
    `without a key: ${requirement.operation} ${at.place} ${at.path} ${at.body}`,
    () => ask(context, { ...probe, credential: noCredential }, wrong, at),
  )
}

/**
 * True if the server takes the spelling for a path of its own: it asks for a key, or does without. One that it does not know,
 * redirects or finds malformed is the same with any key, and shows nothing.
 */
async function takes(context: CheckContext, probe: Probe, at: Elsewhere): Promise<boolean> {
  const { response } = (await withoutKey(context, probe, at)) ?? {}
  return (
    response !== undefined &&
    (isGranted(response) || response.status === 401 || response.status === 403)
  )
}

/** True if a path that means nothing is answered by a 2xx in that spelling as well: such a page is no operation. */
async function servesAnything(
  context: CheckContext,
  probe: Probe,
  { place, unknown }: Elsewhere,
): Promise<boolean> {
  // There it is the operation's own path.
  if (['no body', 'other body', 'query'].includes(place) || isDisguise(place)) return false
  const sent = { ...probe, path: unknown, fault: undefined }
  const exchange = await context.send(sent, { skipPassive: true, role: 'control' })
  return exchange.response !== undefined && isGranted(exchange.response)
}
