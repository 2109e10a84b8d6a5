import fc from 'fast-check'
import { isOperationId, numberOf, type OperationId } from '../../catalogue/operations.ts'
import type { OtherPlace } from '../../catalogue/faults.ts'
import {
  allFormsOn,
  isFormOn,
  isSamePath,
  isSentToOtherPaths,
  isSpelling,
  otherBodyMembers,
  otherPlaces,
  pathAt,
  shownQuery,
} from '../../catalogue/faults.ts'
import { isUuid } from '../../schemas/formats.ts'
import { getAt, setAt } from '../../schemas/json.ts'
import type { RefusalContext } from '../../harness/checks/index.ts'
import {
  condition,
  judgeEach,
  placesIn,
  property,
  refused,
  unknownWord,
} from '../../harness/checks/index.ts'
import type { CheckContext, Credential, Exchange, Probe, Run } from '../../harness/engine/index.ts'
import { isGranted, jsonOf, NotExercised, oncePerRun, perRun } from '../../harness/engine/index.ts'
import { givesOf, invalidForms, type KeyForm, malformedForms, noCredential } from './key-forms.ts'
import { generatedKeysOn } from '../../catalogue/general.ts'
import { credentialProbesIn } from '../estimate.ts'

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
async function judgeElsewhere(
  context: CheckContext,
  probe: Probe,
  wrong: Wrong,
  where: Where,
): Promise<void> {
  const { operation } = context.requirement
  if (!isOperationId(operation)) return
  const word = `/v1/${unknownWord(context.run, context.requirement.id)}`
  const at = (place: OtherPlace): Elsewhere[] => {
    const path = pathAt(operation, probe.path, place)
    const unknown = place === 'other path' ? undefined : pathAt(operation, word, place)
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
  const sent: Probe = {
    ...probe,
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
function queryIn({ run, requirement: { operation } }: CheckContext): Probe['query'] | undefined {
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
  if (place === 'no body') return false
  const sent = { ...probe, path: unknown, fault: undefined }
  const exchange = await context.send(sent, { skipPassive: true, role: 'control' })
  return exchange.response !== undefined && isGranted(exchange.response)
}

/** The request with that credential in place of its own; a conforming target refuses it. */
export function withCredential(probe: Probe, credential: Credential): Probe {
  return refused({ ...probe, credential })
}

function wantsFew({ context, operation }: RefusalContext): boolean {
  const { target, options } = context.run
  const isThorough = options.depth === 'full' && allFormsOn.includes(operation)
  return credentialProbesIn(target, options) === 'few' && !isThorough
}

async function judgeForms(refusal: RefusalContext, all: readonly KeyForm[]): Promise<void> {
  const { context, valid, judge, operation } = refusal
  const forms = all.filter(({ kind }) => isFormOn(operation, kind))
  const few = wantsFew(refusal)
  const place = numberOf(operation)
  const sent = few ? forms.filter((_, at) => at === place % forms.length) : forms
  if (sent.length === 0) throw new NotExercised('every form of the full key equals a declared key')
  for (const { credential } of sent) context.run.keys.learn(credential)
  const query = queryIn(context)
  await judgeEach([...sent.entries()], async ([at, { credential, what, kind, expects }]) => {
    const probe = withCredential(await valid(), credential)
    // A query that the spec shows may have a route of its own: every second form is sent with it.
    const own = at % 2 ? { ...probe.query, ...query } : probe.query
    await judge({ ...probe, query: own, fault: kind }, what, expects)
    if (!few && isSentToOtherPaths(kind))
      await judgeElsewhere(context, probe, { what, kind }, 'other path')
  })
  const [form] = sent.slice(place % sent.length)
  if (few || !form) return
  // A server that checks keys at all checks their form: elsewhere one of them is enough.
  for (const where of [{ turn: place }, 'other body', 'uuid in the other letter case'] as const)
    await judgeElsewhere(context, withCredential(await valid(), form.credential), form, where)
}

/** A credential without forms: at every place. */
const everywhere = (
  what: string,
  kind: string,
  credentialOf: (refusal: RefusalContext) => Promise<Credential>,
) =>
  condition(async (refusal) => {
    const probe = withCredential(await refusal.valid(), await credentialOf(refusal))
    const places = kind === 'no credential' ? 'all' : 'each'
    // Its own path first: what fails there is told, and ends a run that ends at the first failure, before anything else is sent.
    await refusal.judge({ ...probe, fault: kind }, what)
    if (wantsFew(refusal)) return
    await judgeElsewhere(refusal.context, probe, { what, kind }, places)
    // To a POST more than one request without a key is sent anyway.
    if (kind !== 'no credential' || probe.method !== 'GET') return
    refusal.context.atEnd = () => judgeAtEnd(refusal, what)
  })

/** Twice more when others have been answered: a cache, or the connection, may know them by then, and replicas take turns. */
async function judgeAtEnd({ valid, judge }: RefusalContext, what: string): Promise<void> {
  for (const time of ['at the end of the run', 'once more at the end of the run'])
    await judge(withCredential(await valid(), noCredential), `${what}, ${time}`)
}

export const missing = everywhere(
  'without an Authorization header',
  'no credential',
  async () => noCredential,
)

export const expired = everywhere('with an expired key', 'expired key', ({ context }) =>
  context.run.keys.expired(),
)

export const restricted = everywhere(
  'with a key that lacks the permission',
  'restricted key',
  (refusal) => refusal.context.run.keys.restricted(refusal.operation),
)

export const malformed = condition(async (refusal) => {
  const { context, valid, judge, operation } = refusal
  await judgeForms(
    refusal,
    malformedForms(await context.run.keys.fullKey(), numberOf(refusal.operation)),
  )
  const served = generatedKeysOn.find((id) => context.run.target.absent[id] === undefined)
  if (operation !== served) return
  const word = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 1,
    maxLength: 1000,
    size: 'max',
  })
  await property(context, 'refusalRuns', word, async (key) =>
    judge(
      withCredential(await valid(), {
        value: `Bearer ${key}`,
        shown: `Bearer ${key}`,
        full: false,
      }),
      'with a key that is not a JWT',
      givesOf(key),
    ),
  )
})

export const invalid = condition(async (refusal) => {
  const { keys } = refusal.context.run
  const full = await keys.fullKey()
  if (full === undefined)
    throw new NotExercised('no key: the suite makes an invalid key from the full key')
  const [expired, restricted] = [
    await keys.expiredKey(),
    await keys.restrictedKey(refusal.operation),
  ]
  await judgeForms(
    refusal,
    invalidForms({
      full,
      expired,
      restricted,
      all: await keys.declared(),
      number: numberOf(refusal.operation),
    }),
  )
})
