import {
  isDisguise,
  isSamePath,
  isSpelling,
  otherBodyMembers,
  type OtherPlace,
  otherPlaces,
  pathAt,
  shownQuery,
  turnOf,
} from '../../catalogue/faults.ts'
import {
  type Case,
  type Material,
  once,
  placesIn,
  sharedBy,
  unknownWord,
} from '../../harness/checks/index.ts'
import {
  type Credential,
  describeResponse,
  type Exchange,
  isGranted,
  jsonOf,
  type Probe,
  Throttled,
  withHeader,
} from '../../harness/engine/index.ts'
import type { CheckContext } from '../../harness/run/index.ts'
import { isUuid } from '../../schemas/formats.ts'
import { getAt, setAt } from '../../schemas/json.ts'
import { noCredential } from './key-forms.ts'

interface Wrong {
  readonly what: string
  readonly kind: string
  readonly credential: Credential
}

/** Places that it is sent to: every one; those at another path; one of them; or the first spelling in turn that shows anything. */
type Where = 'all' | 'each' | OtherPlace | 'one spelling'

/** Requests in a row that get no answer at a place: a gateway may drop what it does not like, and is not asked for ever. */
const maxUnanswered = 2

interface Elsewhere {
  readonly place: OtherPlace
  readonly path: string
  /** A path that means nothing, in the same spelling. */
  readonly unknown: string
  /** Which of the bodies that the spec shows besides. */
  readonly body?: number
}

/**
 * §4: all operations need authentication. Whether a server takes another path or spelling for the same operation is its own
 * affair, but what it refuses at one it must not serve at the other: any answer but a 2xx will do. It may be a gateway's.
 */
export function elsewhere(material: Material, wrong: Wrong, where: Where): Case[] {
  const { operation, options, requirement, valid } = material
  const turn = turnOf(operation, options.seed)
  const word = `/v1/${unknownWord(material, requirement.id)}`
  const at = (place: OtherPlace): Elsewhere[] => {
    const path = pathAt(operation, valid.path, place, turn)
    if (path === undefined) return []
    const unknown = place === 'other path' ? undefined : pathAt(operation, word, place, turn)
    const one = { place, path, unknown: unknown ?? word }
    return place === 'other body'
      ? otherBodies(material, valid).map((_, body) => ({ ...one, body }))
      : [one]
  }
  if (where === 'one spelling') {
    const spellings = otherPlaces.filter(isSpelling)
    const first = turn % spellings.length
    const inTurn = [...spellings.slice(first), ...spellings.slice(0, first)].flatMap(at)
    return inTurn.length === 0 ? [] : [caseAt(material, wrong, inTurn)]
  }
  return otherPlaces
    .filter((place) =>
      where === 'each' ? !isSamePath(place, operation) : where === 'all' || place === where,
    )
    .flatMap(at)
    .map((one) => caseAt(material, wrong, [one]))
}

/** A case at the first of these places that shows anything. */
function caseAt(material: Material, wrong: Wrong, places: readonly Elsewhere[]): Case {
  const [first] = places as readonly [Elsewhere, ...Elsewhere[]]
  const isAlone = places.length === 1
  const mayBeAbsent = wrong.credential !== noCredential && isSpelling(first.place)
  return {
    what: isAlone ? whatAt(wrong, first) : `${wrong.what}, and another spelling of the path`,
    ...(isAlone && { fault: `${wrong.kind} @ ${first.place}` }),
    when: 'after the others',
    change: (valid) => probeAt({ material, valid, wrong, at: first }),
    ...(mayBeAbsent && { mayBeAbsent }),
    async bringAbout({ context, valid: make }, { what }) {
      const valid = await make()
      for (const at of places)
        if (await tryAt(context, { material, valid, wrong, at }, what)) return
    },
  }
}

function whatAt({ what }: Wrong, { place, path }: Elsewhere): string {
  const words: Partial<Record<OtherPlace, string>> = {
    'no body': 'no body',
    query: 'a query',
    'other body': 'another body',
    forwarded: 'X-Forwarded-For: 127.0.0.1',
    'no user agent': 'no User-Agent',
    multipart: 'a body labelled multipart/form-data',
    'uuid in the other letter case': 'the uuid in the other letter case',
  }
  return `${what}, and ${words[place] ?? `the path ${path}`}`
}

interface Asked {
  readonly material: Material
  readonly valid: Probe
  readonly wrong: Wrong
  readonly at: Elsewhere
}

/** Sends it and judges the answer; true if there was something to judge. */
async function tryAt(context: CheckContext, asked: Asked, what: string): Promise<boolean> {
  const { wrong, at } = asked
  const isKeyless = wrong.credential === noCredential
  if (!isKeyless && isSpelling(at.place) && !(await takes(context, asked))) return false
  const exchange = isKeyless ? await askWithoutKey(context, asked) : await ask(context, asked, what)
  // Without an answer nothing was served, and the usual path is judged anyway.
  if (!exchange?.response) return false
  if (exchange.throttled) throw new Throttled(`${describeResponse(exchange)} on every try`)
  context.cases++
  if (!isGranted(exchange.response) || (await servesAnything(context, exchange.probe, at)))
    return true
  const expected = 'any answer but a 2xx: nothing is served without a valid key'
  return context.fail(exchange, expected, whatAt(wrong, at))
}

/** The header of each way to seem a request that needs no key. */
const disguises: Partial<Record<OtherPlace, readonly [name: string, value: string]>> = {
  forwarded: ['x-forwarded-for', '127.0.0.1'],
  'no user agent': ['user-agent', ''],
  multipart: ['content-type', 'multipart/form-data; boundary=conform'],
}

/** The request there. It is of no operation: what a gateway does with such a path says nothing about the operation itself. */
function probeAt({ material, valid, wrong, at: { place, path, body } }: Asked): Probe {
  const own = body === undefined ? valid.body : otherBodies(material, valid)[body]
  const query = place === 'query' ? (queryIn(material) ?? { file_types: 'txt' }) : {}
  const isOtherUuid = place === 'uuid in the other letter case'
  const disguise = disguises[place]
  return {
    ...(disguise === undefined ? valid : withHeader(valid, ...disguise)),
    body: place === 'no body' ? '' : own,
    path,
    params: isOtherUuid ? inOtherCase(valid.params) : valid.params,
    query: { ...valid.query, ...query },
    credential: wrong.credential,
    effect: 'none',
    operation: null,
    fault: `${wrong.kind} @ ${place}`,
  }
}

async function ask(
  context: CheckContext,
  asked: Asked,
  what: string,
): Promise<Exchange | undefined> {
  const { wrong, at } = asked
  const { unansweredAt } = sharedBy(context.run)
  const unanswered = unansweredAt.get(at.place) ?? 0
  if (unanswered >= maxUnanswered) return undefined
  const { id, operation } = context.requirement
  // What shows without a key is a matter of that requirement, whichever asked.
  const isKeyless = wrong.credential === noCredential
  const exchange = await context.send(probeAt(asked), {
    skipPassive: true,
    what,
    isSuccess: ({ response }) => response !== undefined && !isGranted(response),
    requirement: isKeyless ? `${operation}/401-missing-credentials` : id,
  })
  const before = unansweredAt.get(at.place) ?? 0
  unansweredAt.set(at.place, exchange.response ? 0 : before + 1)
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
function otherBodies(material: Material, probe: Probe): string[] {
  const { target, operation } = material
  const valid = jsonOf(probe)
  const declared = target.operations[operation]?.body
  const others = otherBodyMembers(operation)
  return placesIn(material, operation, valid)
    .filter(({ member }) => others.includes(member))
    .map(({ member: { allowed, kinds }, pointer, like }) => {
      const isSwitch = allowed !== undefined || kinds.includes('boolean')
      const other = allowed?.find((value) => value !== like) ?? true
      const value: unknown = isSwitch ? other : (getAt(declared, pointer) ?? like)
      return JSON.stringify(setAt(valid, pointer, value))
    })
}

/** The query that the spec shows for the operation, as a valid request has it; undefined if there is none. */
export function queryIn({ target, operation }: Material): Probe['query'] | undefined {
  const { name, declaredAt } = shownQuery(operation) ?? {}
  const declared = declaredAt === undefined ? 'txt' : getAt(target.file, declaredAt)
  return name !== undefined && typeof declared === 'string' && declared !== ''
    ? { [name]: declared }
    : undefined
}

/** Answer that comes there without a key. Asked once a run: that no other key is good there either depends on it. */
function askWithoutKey(context: CheckContext, asked: Asked): Promise<Exchange | undefined> {
  const what = 'without an Authorization header'
  const wrong = { what, kind: 'no credential', credential: noCredential }
  const { place, path, body } = asked.at
  const name = `without a key: ${asked.material.operation} ${place} ${path} ${body}`
  return once(context.run, name, () => ask(context, { ...asked, wrong }, whatAt(wrong, asked.at)))
}

/**
 * True if the server takes the spelling for a path of its own: it asks for a key, or does without. One that it does not know,
 * redirects or finds malformed is the same with any key, and shows nothing.
 */
async function takes(context: CheckContext, asked: Asked): Promise<boolean> {
  const { response } = (await askWithoutKey(context, asked)) ?? {}
  return response !== undefined && (isGranted(response) || [401, 403].includes(response.status))
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
  const { response } = await context.send(sent, { skipPassive: true, role: 'control' })
  return response !== undefined && isGranted(response)
}
