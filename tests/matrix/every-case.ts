import { expect, test } from 'vitest'
import { catalogue, type RequirementId, requirementById } from '../../catalogue/catalogue.ts'
import { isRefusal, type Pairs } from '../../catalogue/answers.ts'
import type { HttpRequest, HttpResult } from '../../harness/http/message.ts'
import type { RequirementResult } from '../../schemas/report.ts'
import { matchesId } from '../../harness/report/index.ts'
import { answer, isGranted, judge, lost, refusal, type Way } from '../engine/networks.ts'
import { randomFrom } from '../support/lossy-network.ts'
import { withoutCleanup, withTwoMessages } from './changed-targets.ts'

/** Each case of each refusal, answered wrongly by a network in front of a server that refuses all others rightly. */

/** Refusals that need states: rules judge them, and switches break them. */
const ofStates = '4xx-no-effect 4xx-removed 400-atomic 400-duplicate-name 409-* 429-quota-exceeded'
  .split(' ')
  .map((row) => `*/${row}`)

export const isOfStates = (id: string): boolean =>
  ofStates.some((pattern) => matchesId(id, pattern))

const refusals = catalogue.filter(({ expects }) => isRefusal(expects))

/** The operations that refuse something, and what cuts across them. */
const groups = [...new Set(refusals.map(({ operation }) => operation))].filter(
  (operation) => operation !== 'envelope',
)

/** A request that a requirement wants refused. */
interface Case {
  readonly id: string
  /** Its fault, and the request itself. */
  readonly what: string
  /** How many requests just like it come before it. */
  readonly nth: number
}

type CasesById = ReadonlyMap<string, readonly Case[]>

/** A wrong answer to what these pairs should refuse; undefined if there is none of the kind. */
type Wrong = (pairs: Pairs, granted: HttpResult) => HttpResult | undefined

const isNumber = (status: unknown): status is number => typeof status === 'number'
const statusesOf = (pairs: Pairs): number[] => pairs.map(([status]) => status).filter(isNumber)
/** A status that is right: the first pair's own, or one of its range. */
const rightStatus = (pairs: Pairs): number => statusesOf(pairs)[0] ?? 422

/** The status alone may count: then any body is right. */
const isOfAnyBody = (pairs: Pairs): boolean =>
  pairs.some((pair) => pair.length === 1 && pair[0] === rightStatus(pairs))

/** Bad input may be granted: whatever answers it is right but a breakdown. */
const mayBeGranted = (pairs: Pairs): boolean => pairs.some(([status]) => status === 'no-5xx')

const granted: Wrong = (pairs, control) =>
  mayBeGranted(pairs)
    ? refusal(500, 'InternalServerError')
    : { ...control, sentAt: performance.now(), endedAt: performance.now() }

const others: Readonly<Record<string, Wrong>> = {
  'another status': (pairs) => {
    const statuses = statusesOf(pairs)
    if (pairs.some(([status]) => status === 'any')) return undefined
    if (statuses.length < pairs.length) return refusal(500, 'InternalError')
    return statuses.includes(422) ? refusal(409, 'Conflict') : refusal(422, 'UnprocessableEntity')
  },
  'another name': (pairs) => {
    if (pairs.every(([, ...names]) => names.length === 0)) return undefined
    return refusal(rightStatus(pairs), rightStatus(pairs) === 401 ? 'Gone' : 'BadCredentials')
  },
  'a body that is not an envelope': (pairs) =>
    isOfAnyBody(pairs) ? undefined : answer(rightStatus(pairs), '{"error": "refused"}'),
  'a page': (pairs) =>
    isOfAnyBody(pairs)
      ? undefined
      : answer(rightStatus(pairs), '<!doctype html><title>Refused</title>', {
          'content-type': 'text/html',
        }),
  'no answer': () => lost(),
}

/** Ids and names of what is made differ from run to run, and each time that something is sent again. */
const made = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|test\w{4}/g

function described(fault: string | undefined, { method, path, headers, body = '' }: HttpRequest) {
  const sent = typeof body === 'string' ? body : Buffer.from(body).toString('latin1')
  const head = headers.map(({ name, value }) => `${name}: ${value}`)
  return [fault, method, path, sent, ...head].join(' ').replaceAll(made, '*')
}

const refusalsOf = (group: string): string[] =>
  ['4*', '5*', 'model-*'].map((row) => `${group}/${row}`)
const allOf = (group: string): string[] => [...refusalsOf(group), `${group}/bad-input-no-5xx`]

/** Judges refusals; what is sent for them is answered wrongly if `wrong` says so. */
async function judgeRefusals(
  only: readonly string[],
  wrong: (id: string, what: string, nth: number, control: HttpResult) => HttpResult | undefined,
): Promise<readonly RequirementResult[]> {
  const counts = new Map<string, number>()
  const controls = new Map<string, HttpResult>()
  const way: Way = async (request, send, { probe, purpose }) => {
    const operation = probe?.operation ?? ''
    if (purpose?.role === 'control' && probe?.credential.full && !controls.has(operation)) {
      const result = await send()
      if (isGranted(result)) controls.set(operation, result)
      return result
    }
    const id = purpose?.requirement ?? ''
    const control = controls.get(operation)
    if (purpose?.role !== 'probe' || id === '' || !control) return send()
    const what = described(probe?.fault, request)
    const nth = counts.get(id + what) ?? 0
    counts.set(id + what, nth + 1)
    return wrong(id, what, nth, control) ?? send()
  }
  const { results } = await judge(only, {
    way,
    skip: ofStates,
    change: (file) => withTwoMessages(withoutCleanup(file)),
    // What is another spelling of a path to this server may be one that needs no key to another.
    reference: { variants: ['spellings/served'] },
  })
  return results
}

const known = new Map<string, CasesById>()

/** The cases of the refusals of a group, as they are sent if all of them are refused. */
async function casesOf(group: string): Promise<CasesById> {
  const sent = known.get(group)
  if (sent) return sent
  const cases = new Map<string, Case[]>()
  await judgeRefusals(allOf(group), (id, what, nth) => {
    cases.set(id, [...(cases.get(id) ?? []), { id, what, nth }])
    return undefined
  })
  known.set(group, cases)
  return cases
}

const rowOf = ({ id }: Pick<Case, 'id'>): Pairs =>
  requirementById[id as RequirementId].expects as Pairs

/** Answers these cases so, one of a requirement at most; gives a line for each that does not fail, and for whatever else fails. */
async function mistakes({ cases, only }: Round, wrong: Wrong): Promise<string[]> {
  const chosen = new Map(cases.map((one) => [one.id, one]))
  const met = new Set<string>()
  const hasBadInput = cases.some((one) => mayBeGranted(rowOf(one)))
  const results = await judgeRefusals(only, (id, what, nth, control) => {
    // What is bad input by itself is sent once, for whichever asks first.
    const also = id.endsWith('/bad-input-no-5xx') ? cases : []
    const one = [chosen.get(id), ...also].find((other) => other?.what === what)
    if (!one || nth < one.nth) return undefined
    met.add(one.id)
    return wrong(rowOf(one), control)
  })
  return results.flatMap(({ id, outcome, reason, failures: [first] }) => {
    const one = chosen.get(id)
    // What is bad input by itself is sent once, for both.
    const isSent =
      /\/(?:4xx-malformed-body|4xx-missing-member|400-missing-(?:body|format)|400-malformed-(?:format|parameters|text))$/.test(
        id,
      ) && hasBadInput
    if (outcome === 'failed') return one || isSent ? [] : [`${id} failed, too: ${first?.actual}`]
    return one ? [`${id} ${met.has(id) ? outcome : 'not sent'} ${reason ?? ''}: ${one.what}`] : []
  })
}

interface Round {
  readonly cases: readonly Case[]
  /** Patterns of the requirements that are judged. */
  readonly only: readonly string[]
}

/** So many rounds judge all refusals of a group; a requirement with more cases is judged by itself in further ones. */
const shared = 24

/** Deals the cases to rounds, in each of which some requirements are left as they are. */
function rounds(group: string, cases: CasesById): Round[] {
  const all = [...cases.values()]
  const most = Math.max(2, ...all.map(({ length }) => length))
  const dealt = Array.from({ length: most }, (): Case[] => [])
  for (const [first, of] of all.entries()) {
    const size = Math.max(of.length, Math.min(most, shared))
    for (const [at, one] of of.entries()) dealt[(first + at) % size]!.push(one)
  }
  const large = all.filter(({ length }) => length > shared).map(([first]) => first!.id)
  return dealt.map((of, at) => ({ cases: of, only: at < shared ? allOf(group) : large }))
}

/** Statuses of a range, by its name; an answer of any name will do. */
const ranges: Readonly<Record<string, readonly number[]>> = {
  '4xx': [400, 403, 404, 409, 410, 413, 415, 422],
  '4xx-body': [400, 409, 413, 415, 422],
  '4xx-id': [400, 403, 404, 410, 422],
  any: [400, 500],
}

/** Every answer that a row allows. */
const rightAnswers = (pairs: Pairs): HttpResult[] =>
  pairs.flatMap(([of, ...names]) =>
    (isNumber(of) ? [of] : (ranges[of] ?? [])).flatMap((status) =>
      (names.length > 0 ? names : ['OwnName']).map((name) => refusal(status, name)),
    ),
  )

/** Gives what fails if each refusal is the `nth` of the answers that its row allows, and how many have so many. */
async function accused(group: string, nth: number) {
  const met = new Set<string>()
  const results = await judgeRefusals(refusalsOf(group), (id) => {
    const right = rightAnswers(rowOf({ id }))[nth]
    if (right) met.add(id)
    return right
  })
  const failed = results.filter(({ outcome }) => outcome === 'failed')
  return {
    met: met.size,
    failed: failed.map(({ id, failures }) => `${id}: ${failures[0]?.actual}`),
  }
}

/** One case of each requirement that may be answered so, drawn by a fixed seed, in two rounds. */
function drawn(group: string, cases: CasesById, kind: string): Round[] {
  const wrong = others[kind]!
  const random = randomFrom(47)
  const all = [...cases]
    .map(([id, of]) => random.oneOf(`${kind} ${id}`, of))
    .filter((one) => !mayBeGranted(rowOf(one)) && wrong(rowOf(one), lost()) !== undefined)
  // An operation that gives no answer twice in a row is not asked again: three are enough, each by itself.
  const dealt =
    kind === 'no answer'
      ? all.slice(0, 3).map((one) => [one])
      : [0, 1].map((half) => all.filter((_, at) => at % 2 === half))
  return dealt.map((of) => ({ cases: of, only: refusalsOf(group) }))
}

async function expectFailures(all: readonly Round[], wrong: Wrong): Promise<void> {
  const found: string[] = []
  for (const round of all) found.push(...(await mistakes(round, wrong)))
  expect(found.map((line) => line.slice(0, 400))).toEqual([])
}

/** Tests that each case fails its requirement, and nothing else, if it is granted: in so many rounds. */
export function testGranted(some = groups, most = Infinity): void {
  test.each(some)(
    '%s: a request that should be refused is granted, and its requirement fails',
    async (group) => {
      const all = rounds(group, await casesOf(group))
      await expectFailures(all.slice(0, most), granted)
    },
  )
}

/** Tests that a case of each requirement fails if it is refused in another way. */
export function testOthers(some = groups): void {
  const rows = some.flatMap((group) => Object.keys(others).map((kind) => [group, kind] as const))
  test.each(rows)('%s: a refusal gets %s, and its requirement fails', async (group, kind) => {
    await expectFailures(drawn(group, await casesOf(group), kind), others[kind]!)
  })
}

/** Tests that no answer which a row allows fails it. */
export function testAllowed(some = groups): void {
  test.each(some)('%s: no refusal fails that its row allows', async (group) => {
    const found: string[] = []
    for (let nth = 0; ; nth++) {
      const { met, failed } = await accused(group, nth)
      if (met === 0) break
      found.push(...failed)
    }
    expect(found).toEqual([])
  })
}

/** Requirements that send one request several times, or ask for another id each time: an answer may be right once, by luck. */
const askedAgain = {
  2: 'pdf.parse/400-corrupted-pdf files.retrieve/410-deleted-file',
  3: 'pdf.parse/403-file-access jobs.create/403-application-access jobs.retrieve/4xx-unknown-job jobs.retrieve/4xx-foreign-job chat.create/403-graph-access files.upload/403-graph-access files.retrieve/403-file-access graphs.add-file/403-file-access graphs.add-file/403-graph-access graphs.query/403-graph-access vision.analyze/403-file-access',
}

/** Tests that these are sent as often: a case that vanished cannot fail. */
export function testAskedAgain(): void {
  test('what may be right once by luck is asked more than once', async () => {
    const sent = new Map<string, number>()
    for (const group of groups)
      for (const [id, cases] of await casesOf(group))
        sent.set(id, Math.max(...cases.map(({ nth }) => nth + 1)))
    for (const [times, ids] of Object.entries(askedAgain))
      for (const id of ids.split(' ')) expect([id, sent.get(id)]).toEqual([id, Number(times)])
  })
}
