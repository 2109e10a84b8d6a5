import { validRequest } from './valid-request.ts'
import { isLoose, looseBodies, mostLooseGenerations } from '../../catalogue/faults.ts'
import { type Effect, jsonKinds } from '../../catalogue/operation.ts'
import { getAt, setAt } from '../../schemas/pointer.ts'
import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { describeAnswer } from '../engine/describe.ts'
import { countsAsGranted } from './control.ts'
import { effectOf } from '../engine/operation-probe.ts'
import { NotExercised } from '../engine/outcome.ts'
import type { CheckContext } from '../engine/check-context.ts'
import { jsonOf, type Probe, withJson } from '../engine/probe.ts'
import { judgeEach, mostAtOnce } from './at-once.ts'
import { randomOf, sampled, seedFor } from './seed.ts'
import { leftOut } from '../report/reason.ts'
import {
  absent,
  having,
  type MemberCase,
  ofKinds,
  type Placed,
  shownMembers,
  undescribedMembers,
} from './member-faults.ts'
import { type Condition, condition, type RefusalContext } from './refusals.ts'
import { bodyOf, withoutRoles } from './valid-request.ts'
import type { Run } from '../engine/run.ts'
import { examplesFor } from './member-examples.ts'

/** Everything that can be wrong with one member: left out, null, of each other type, and a value that a server may convert. */
function casesOf(place: Placed): MemberCase[] {
  const { kinds } = place
  return [
    ...absent(place),
    ...ofKinds(
      place,
      jsonKinds.filter((kind) => !kinds.includes(kind)),
    ),
    ...(kinds.includes('number') ? [having(place, '1', 'the text "1"', 'string')] : []),
    ...(kinds.includes('boolean') ? [having(place, 1, 'the number 1', 'number')] : []),
  ]
}

/** A request that some other row wants refused has no effect; any other may be granted, with the effect of a valid one. */
function effectOfCase({ context, operation }: RefusalContext, { member }: Placed, { fault }: MemberCase): Effect {
  return isLoose(member, fault.slice(0, fault.indexOf(' '))) ? effectOf(context.run, operation) : 'none'
}

/** Stands in a text until the bytes take its place. */
const stand = 'conform-bad-bytes'

/** The body with a lone continuation byte in its first text; undefined if it has none. */
function badUtf8(body: unknown): Uint8Array | undefined {
  const text = JSON.stringify(body).replace(/(:\s*")/, `$1${stand}`)
  const [before, after] = text.split(stand)
  if (before === undefined || after === undefined) return undefined
  return Buffer.concat([Buffer.from(before), Buffer.from([0x80]), Buffer.from(after)])
}

const bodies: Readonly<Record<(typeof looseBodies)[number], (valid: unknown) => string | Uint8Array | undefined>> = {
  null: () => 'null',
  '[]': () => '[]',
  'length 0': () => '',
  'invalid UTF-8': badUtf8,
}

/** One request with a fault; made when it is sent, so that a creation among them has a name of its own. */
interface Case {
  readonly what: string
  readonly effect: Effect
  make(): Promise<Probe>
}

/** Each body that is none. */
function bodyCases({ operation, valid }: RefusalContext, first: Probe, effect: Effect): Case[] {
  return looseBodies.flatMap((kind) => {
    const body = bodies[kind](jsonOf(first))
    const own = operation === 'jobs.create' || kind !== 'invalid UTF-8' ? 'none' : effect
    if (body === undefined) return []
    const make = async (): Promise<Probe> => ({ ...(await valid()), body, effect: own, fault: `body: ${kind}` })
    return [{ what: `with a body that is ${kind}`, effect: own, make }]
  })
}

/** Each member of the declared body and of the record. */
function memberCases(refusal: RefusalContext, first: Probe): Case[] {
  const { context, operation, valid } = refusal
  return placesIn(context.run, operation, jsonOf(first)).flatMap((place) =>
    casesOf(place).map((one) => {
      const effect = effectOfCase(refusal, place, one)
      const make = async (): Promise<Probe> => {
        const probe = withFreshName(await valid(), first, one.body, place.pointer)
        return { ...probe, effect, fault: one.fault }
      }
      return { what: one.what, effect, make }
    }),
  )
}

function placesIn(run: Run, operation: OperationId, body: unknown): Placed[] {
  const fields = run.target.operations[operation]?.fields ?? {}
  const examples = examplesFor(run, operation, body)
  const ofBody = shownMembers(operation, body, fields, examples)
  // A query_config of a chat stands in its tools, which a plain request lacks.
  const isSetting = ({ at }: Placed): boolean => operation === 'chat.create' && at.startsWith('{query_config}')
  const shown = [
    ...ofBody.filter((place) => !isSetting(place)),
    ...(operation === 'chat.create' ? shownMembers(operation, withTools(run), fields, examples) : []),
  ].filter(({ at }, index, all) => all.findIndex((other) => other.at === at) === index)
  return [...shown, ...undescribedMembers(body, shown)]
}

/** Whatever is wrong with a body or one of its members, no 5xx answers. */
export const badInput: Condition = condition(async (refusal) => {
  const { context, operation, valid, judge, granted } = refusal
  const { run } = context
  const effect = effectOf(run, operation)
  // Some of it may be granted.
  if (run.options.readOnly && effect !== 'none') throw new NotExercised(leftOut('--read-only'))
  await requireAnother(refusal)
  const first = await valid()
  const send = async ({ make, what }: Case): Promise<void> => judge(await make(), what)
  const all = sampled(context, [...bodyCases(refusal, first, effect), ...memberCases(refusal, first)])
  if (effect !== 'generates') return judgeEach(all, send)
  await judgeEach(
    all.filter((one) => one.effect === 'none'),
    send,
  )
  // What may be granted goes on until as much was generated as the dry run says.
  const may = mostLooseGenerations(operation, run.target) + granted()
  const loose = all.filter((one) => one.effect !== 'none')
  const left = run.target.limits.maxGenerations === 0 ? loose : shuffled(loose, context)
  while (left.length > 0 && granted() < may)
    await judgeEach(left.splice(0, Math.min(mostAtOnce, may - granted())), send)
})

/** Of a creation that may be granted nothing is learned if no second valid one is: that it breaks then is told by another row. */
async function requireAnother({ context, operation }: RefusalContext): Promise<void> {
  if (operationOf(operation).creates?.name === undefined) return
  // One of its own at each try: the answer to the first may be lost.
  const another = await context.send(() => validRequest(context.run, operation), {
    role: 'setup',
    wanted: countsAsGranted,
  })
  if (!countsAsGranted(another))
    throw new NotExercised(`a second valid request was answered ${describeAnswer(another)}`)
}

/** In an order drawn from the seed: of those that a limit leaves out each has its turn. */
function shuffled(cases: readonly Case[], { run, row }: CheckContext): Case[] {
  const random = randomOf(seedFor(run.options.seed, row.id))
  const drawn = cases.map((one) => [random(), one] as const).toSorted(([one], [other]) => one - other)
  return drawn.map(([, one]) => one)
}

/** The declared chat with its tools, in which a query_config may stand. */
function withTools(run: Run): unknown {
  return withoutRoles(run, 'chat.create', bodyOf(run, 'chat.create'), ['stream', 'stream_options'])
}

/** What differs between two valid requests, the name of what is created or the file that is added, is that of the fresh one. */
function withFreshName(fresh: Probe, first: Probe, body: unknown, changed: string): Probe {
  if (fresh.body === first.body) return withJson(fresh, body)
  const own = jsonOf(fresh)
  const names = Object.keys(own as object).map((name) => `/${name}`)
  const kept = names.filter((at) => at !== changed && !changed.startsWith(`${at}/`) && getAt(body, at) !== undefined)
  return withJson(
    fresh,
    kept.reduce((whole, at) => setAt(whole, at, getAt(own, at)), body),
  )
}
