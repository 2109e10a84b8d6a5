import { looseBodies } from '../../catalogue/faults.ts'
import type { Effect } from '../../catalogue/operation.ts'
import { getAt, setAt } from '../../schemas/pointer.ts'
import { operation as operationOf } from '../../catalogue/operations.ts'
import { describeAnswer } from '../engine/describe.ts'
import { countsAsGranted } from './control.ts'
import { effectOf } from '../engine/operation-probe.ts'
import { NotExercised } from '../engine/outcome.ts'
import { jsonOf, type Probe, withJson } from '../engine/probe.ts'
import { leftOut } from '../report/reason.ts'
import {
  absent,
  having,
  type MemberCase,
  ofKinds,
  type Placed,
  shownMembers,
  undescribedMembers,
  wrongKinds,
} from './member-faults.ts'
import { type Condition, condition, type RefusalContext } from './refusals.ts'
import { bodyOf, withoutRoles } from './valid-request.ts'
import type { Run } from '../engine/run.ts'
import { examplesFor } from './member-examples.ts'
import type { JsonKind } from './values.ts'

const all: readonly JsonKind[] = ['null', 'boolean', 'number', 'string', 'array', 'object']

/** Everything that can be wrong with one member: left out, null, of each other type, and a value that a server may convert. */
function casesOf(place: Placed): MemberCase[] {
  const { kinds } = place
  const others = all.filter((kind) => !kinds.includes(kind))
  return [
    ...absent(place),
    ...ofKinds(place, others),
    ...(kinds.includes('number') ? [having(place, '1', 'the text "1"', 'string')] : []),
    ...(kinds.includes('boolean') ? [having(place, 1, 'the number 1', 'number')] : []),
  ]
}

/** A request that some other row wants refused has no effect; any other may be granted, with the effect of a valid one. */
function effectOfCase({ context, operation }: RefusalContext, place: Placed, { fault }: MemberCase): Effect {
  const kind = fault.slice(0, fault.indexOf(' '))
  const named = place.member?.judgedBy
  const type = wrongKinds(place).some((wrong) => wrong === kind) ? named?.type : undefined
  const isNamed = kind === 'absent' ? named?.absent : kind === 'null' ? named?.null : type
  return isNamed === undefined ? effectOf(context.run, operation) : 'none'
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

/** Each body that is none, each member of the declared body and of the record: whatever is wrong with it, no 5xx answers. */
export const badInput: Condition = condition(async (refusal) => {
  const { context, operation, valid, judge } = refusal
  const { run } = context
  const effect = effectOf(run, operation)
  // Some of it may be granted.
  if (run.options.readOnly && effect !== 'none') throw new NotExercised(leftOut('--read-only'))
  await requireAnother(refusal)
  const send = async (probe: Probe, what: string) => judge({ ...probe }, what)
  for (const kind of looseBodies) {
    const probe = await valid()
    const body = bodies[kind](jsonOf(probe))
    const own = operation === 'jobs.create' || kind !== 'invalid UTF-8' ? 'none' : effect
    if (body !== undefined)
      await send({ ...probe, body, effect: own, fault: `body: ${kind}` }, `with a body that is ${kind}`)
  }
  const first = await valid()
  const fields = run.target.operations[operation]?.fields ?? {}
  const examples = examplesFor(run, operation, jsonOf(first))
  const shown = [
    ...shownMembers(operation, jsonOf(first), fields, examples),
    ...(operation === 'chat.create' ? shownMembers(operation, withTools(run), fields, examples) : []),
  ].filter(({ at }, index, all) => all.findIndex((other) => other.at === at) === index)
  for (const place of [...shown, ...undescribedMembers(jsonOf(first), shown)]) {
    for (const one of casesOf(place)) {
      const probe = withFreshName(await valid(), first, one.body, place.pointer)
      await send({ ...probe, effect: effectOfCase(refusal, place, one), fault: one.fault }, one.what)
    }
  }
})

/** Of a creation that may be granted nothing is learned if no second valid one is: that it breaks then is told by another row. */
async function requireAnother({ context, operation, valid }: RefusalContext): Promise<void> {
  if (operationOf(operation).creates?.name === undefined) return
  const another = await context.send(valid, { role: 'setup', wanted: countsAsGranted })
  if (!countsAsGranted(another))
    throw new NotExercised(`a second valid request was answered ${describeAnswer(another)}`)
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
