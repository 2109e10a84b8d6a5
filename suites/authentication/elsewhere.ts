import { operationOf } from '../../catalogue/operations.ts'
import type { Pairs } from '../../catalogue/answers.ts'
import { perRun, whySilent } from '../../harness/run/index.ts'
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
import { type Case, type Fault, type Material, nameOfFaults, type Refusal } from '../checks/case.ts'
import { type CaseVerdict, held } from '../checks/rules.ts'
import { placesIn } from '../checks/changes.ts'
import { unknownWord } from '../checks/random.ts'
import {
  type Credential,
  jsonOf,
  type Probe,
  withChange,
  withHeader,
  type Journal,
  type Look,
  lookAt,
  type Ask,
  open,
} from '../../harness/journal/index.ts'
import { isUuid } from '../../schemas/formats.ts'
import { getAt, setAt } from '../../schemas/json.ts'
import { noCredential } from './key-forms.ts'

export interface Wrong {
  readonly what: string
  readonly kind: string
  readonly credential: Credential
  /** Accepted pairs, if different from the requirement's. */
  readonly expects?: Pairs | undefined
}

/** Places to send it to: all; those at another path; one of them; or the first conclusive spelling. */
type Where = 'all' | 'each' | OtherPlace | 'one spelling'

/** Consecutive unanswered requests at a place before giving up: a gateway may drop them. */
const maxUnanswered = 2

interface Elsewhere {
  readonly place: OtherPlace
  readonly path: string
  /** An unknown path in the same spelling. */
  readonly unknown: string
  readonly body?: number
}

/**
 * §4: all operations need authentication. A server may accept other paths and spellings, but must not serve there what
 * it refuses on the main path: any answer but a 2xx passes, including a gateway's.
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

function caseAt(material: Material, wrong: Wrong, places: readonly Elsewhere[]): Case {
  const [first] = places as readonly [Elsewhere, ...Elsewhere[]]
  const isAlone = places.length === 1
  const mayBeAbsent = wrong !== keyless && isSpelling(first.place)
  return {
    what: isAlone ? whatAt(wrong, first) : `${wrong.what}, and another spelling of the path`,
    ...(isAlone && { faults: [faultAt(wrong, first)] }),
    when: 'after the others',
    change: (valid) => probeAt(material, valid, wrong, first),
    ...(mayBeAbsent && { at: 'other spelling' }),
    judge: (journal, refusal) => judgeAt(journal, refusal, wrong, places),
  }
}

const faultAt = (wrong: Wrong, at: Elsewhere): Fault => ({
  part: 'key',
  kind: `${wrong.kind} @ ${at.place}`,
})

export const keyless: Wrong = {
  what: 'without an Authorization header',
  kind: 'no credential',
  credential: noCredential,
}

function judgeAt(
  journal: Journal,
  refusal: Refusal,
  wrong: Wrong,
  places: readonly Elsewhere[],
): CaseVerdict {
  const { context, material } = refusal
  for (const at of places) {
    // Sent without a key, once per run: if the server does not serve the spelling, a wrong key there proves nothing.
    if (wrong !== keyless && isSpelling(at.place)) {
      const before = lookThere(journal, refusal, requestAt(refusal, keyless, at), at)
      if (before.outcome === 'asks') return before
      if (!takes(before)) continue
    }
    const seen = lookThere(journal, refusal, requestAt(refusal, wrong, at), at)
    if (seen.outcome === 'asks') return seen
    // Without an answer nothing was served, and the usual path is judged anyway.
    if (seen.outcome === 'open' || !seen.exchange.response) continue
    const { exchange } = seen
    const why = whySilent(exchange)
    if (why) return open(why)
    if (!seen.exchange.response.isGranted) return held
    if (!isAtOwnPath(at.place)) {
      // A page that answers an unknown path in the same spelling too is not an operation.
      const { requirement } = exchange.purpose
      const atUnknown: Ask = {
        name: `${material.requirement.id} ${wrong.kind} at ${at.unknown}`,
        source: { ...exchange.probe, path: at.unknown, fault: undefined },
        purpose: { requirement, role: 'control', skipPassive: true },
      }
      const control = lookAt(journal, atUnknown, context.client.known)
      if (control.outcome === 'asks') return control
      const served = control.outcome === 'answered' ? control.exchange.response : undefined
      if (served?.isGranted) return held
    }
    const expected = 'any answer but a 2xx: no operation works without a valid key'
    return { outcome: 'broken', evidence: { exchange, what: whatAt(wrong, at), expected } }
  }
  return { outcome: 'held', cases: 0 }
}

const isAtOwnPath = (place: OtherPlace): boolean =>
  ['no body', 'other body', 'query'].includes(place) || isDisguise(place)

function whatAt(wrong: Wrong, one: Elsewhere): string {
  const words: Partial<Record<OtherPlace, string>> = {
    'no body': 'no body',
    query: 'a query',
    'other body': 'another body',
    forwarded: 'X-Forwarded-For: 127.0.0.1',
    'no user agent': 'no User-Agent',
    multipart: 'a body labelled multipart/form-data',
    'uuid in the other letter case': 'the uuid in the other letter case',
  }
  return `${wrong.what}, and ${words[one.place] ?? `the path ${one.path}`}`
}

const disguises: Partial<Record<OtherPlace, readonly [name: string, value: string]>> = {
  forwarded: ['x-forwarded-for', '127.0.0.1'],
  'no user agent': ['user-agent', ''],
  multipart: ['content-type', 'multipart/form-data; boundary=conform'],
}

/** As an upload may come. */
const form =
  '--conform\r\nContent-Disposition: form-data; name="file"; filename="tea.txt"\r\n\r\ntea\r\n--conform--\r\n'

/**
 * The request at that place, outside any operation, since a gateway's answer there says nothing about the operation.
 */
function probeAt(material: Material, valid: Probe, wrong: Wrong, at: Elsewhere): Probe {
  const { place, path, body } = at
  const isForm = place === 'multipart' && operationOf(material.operation).body === 'raw'
  const plain = isForm ? form : valid.body
  const own = body === undefined ? plain : otherBodies(material, valid)[body]
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
    fault: nameOfFaults([faultAt(wrong, at)]),
  }
}

/** What was sent to each place. */
const askedAtIn = perRun(() => new Map<string, readonly Ask[]>())

function lookThere(journal: Journal, refusal: Refusal, request: Ask, other: Elsewhere): Look {
  const { client } = refusal.context
  const last = (askedAtIn(client).get(other.place) ?? []).slice(-maxUnanswered)
  const isDropped = (one: Ask): boolean => {
    const [entry] = journal.entriesOf(one)
    return entry !== undefined && entry.exchange.response === undefined
  }
  const isOver = last.length === maxUnanswered && last.every(isDropped)
  return isOver && journal.entriesOf(request).length === 0
    ? open('no answer came there before')
    : lookAt(journal, request, client.known)
}

function requestAt(refusal: Refusal, wrong: Wrong, at: Elsewhere): Ask {
  const { context, material } = refusal
  const { id, operation } = material.requirement
  const { place, path, body } = at
  const asked = askedAtIn(context.client)
  const request: Ask = {
    name: `${wrong === keyless ? operation : id} ${wrong.what} at ${place} ${path} ${body}`,
    async source() {
      const before = asked.get(place) ?? []
      if (!before.includes(request)) asked.set(place, [...before, request])
      return withChange(refusal.valid(), (valid) => probeAt(material, valid, wrong, at))
    },
    purpose: {
      role: 'probe',
      skipPassive: true,
      what: whatAt(wrong, at),
      isSuccess: (one) => one.response !== undefined && !one.response.isGranted,
      // A failure without a key counts for the requirement about missing keys, whichever requirement sent it.
      requirement: wrong === keyless ? `${operation}/401-missing-credentials` : id,
    },
  }
  return request
}

/** The same uuids, which a router may not recognise. */
function inOtherCase(params: Probe['params']): Probe['params'] {
  const other = (id: string): string =>
    id === id.toLowerCase() ? id.toUpperCase() : id.toLowerCase()
  return Object.fromEntries(
    Object.entries(params).map(([name, id]) => [name, isUuid(id) ? other(id) : id]),
  )
}

/** The alternative bodies of the spec: the valid one with each of those members. */
function otherBodies(material: Material, probe: Probe): string[] {
  const { target, operation } = material
  const valid = jsonOf(probe)
  const declared = target.operations[operation]?.body
  const others = otherBodyMembers(operation)
  return placesIn(material, operation, valid)
    .filter((one) => others.includes(one.member))
    .map(({ member: { allowed, kinds }, pointer, like }) => {
      const isSwitch = allowed !== undefined || kinds.includes('boolean')
      const other = allowed?.find((value) => value !== like) ?? true
      const value: unknown = isSwitch ? other : (getAt(declared, pointer) ?? like)
      return JSON.stringify(setAt(valid, pointer, value))
    })
}

/** The documented query of the operation with valid values, if any. */
export function queryIn(material: Material): Probe['query'] | undefined {
  const { name, declaredAt } = shownQuery(material.operation) ?? {}
  const declared = declaredAt === undefined ? 'txt' : getAt(material.target.file, declaredAt)
  return name !== undefined && typeof declared === 'string' && declared !== ''
    ? { [name]: declared }
    : undefined
}

/**
 * True if the server serves the spelling: it asks for a key, or needs none. Unknown, redirected or malformed paths get
 * the same answer with any key, and show nothing.
 */
function takes(seen: Look): boolean {
  const response = seen.outcome === 'answered' ? seen.exchange.response : undefined
  return response !== undefined && (response.isGranted || [401, 403].includes(response.status))
}
