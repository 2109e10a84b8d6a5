import { randomUUID } from 'node:crypto'
import type { Call, Members } from './call.ts'
import { countUp, type Owned, type World } from './world.ts'

export function newId(world: World, kind: string): string {
  const { varied } = world.switches
  const uuid = randomUUID()
  if (varied('ids/numeric') || varied('ids/json-number'))
    return String(100_000_000 + countUp(world, 'ids'))
  // Above Number.MAX_SAFE_INTEGER.
  if (varied('ids/int64'))
    return String(9_007_199_254_740_993n + 2n * BigInt(countUp(world, 'ids')))
  if (varied('ids/long')) return `${kind}_${uuid.replaceAll('-', '')}Z${uuid.slice(0, 8)}`
  return varied('ids/upper-case') ? uuid.toUpperCase() : uuid
}

export function writeId(world: World, id: string): string | number {
  return world.switches.varied('ids/json-number') && /^\d+$/.test(id) ? Number(id) : id
}

const atOnceMs = 20

/** The object that the answer to a creation names: another one, under the defects of `2xx-own-id`. */
export function namedBy<T extends Owned>(call: Call, all: Iterable<T>, own: T): T {
  const before = [...all].filter(
    (each) => each.made && each !== own && each.createdAt <= own.createdAt,
  )
  if (call.broken('2xx-own-id')) return before[0] ?? own
  const beside = before.find((one) => own.createdAt - one.createdAt < atOnceMs)
  return beside && call.broken('2xx-own-id#at-once') ? beside : own
}

export const askedTwice = new WeakSet<object>()

/** Whether a broken server overlooks an existing object; `all`: created objects, newest last. */
export function overlooks(
  call: Call,
  requirement: string,
  name: string,
  all: readonly string[],
): boolean {
  return call.brokenIn(requirement, {
    '#latest-only': all.at(-1) !== name,
    '#few-known': !all.slice(-3).includes(name),
    // Once a name was refused as existing, its next creation is accepted.
    '#third': countUp(call.world, `${requirement} ${name}`) % 2 === 0,
  })
}

/** The name or file in a refused request that still has an effect, under the defects of `4xx-no-effect`. */
export async function refusedName(call: Call, status: number): Promise<string | undefined> {
  const isLabelled = call.request.header('content-type') === 'application/json'
  const isEffective = call.brokenIn('4xx-no-effect', {
    '': status === 401,
    '#forbidden': status === 403,
    '#content-type': status === 400 && !isLabelled,
    '#blueprint': status === 400 && isLabelled,
  })
  if (!isEffective) return undefined
  const body = (await call.request.json().catch(() => undefined)) as Members | undefined
  return [body?.['name'], body?.['file_id']].find((name) => typeof name === 'string')
}

/** Time between a check and its consequence, under the defects of simultaneous requests, in ms. */
export const checkMs = 10

/** Default of `settleMs` and of the duration of uploads and additions under `processing/slow`. */
const usualMs = 1000
/** Longer than any client waits. */
const tooLateMs = 30_000

function age(world: World, thing: Owned): number {
  return thing.made ? world.clock.now() - thing.createdAt : Infinity
}

export function isSettling(world: World, kind: string, thing: Owned): boolean {
  return (
    world.switches.varied(`settling/${kind}`) &&
    age(world, thing) < (world.pace.settleMs ?? usualMs)
  )
}

/** A request within this many ms of the creation makes the object unavailable for a minute. */
const earlyMs = 600
const missedMs = 60_000
const askedEarly = new WeakSet<object>()

function breakUse(call: Call, id: string, thing: Owned, all: Iterable<Owned>): void {
  if (!thing.made) return
  const made = [...all].filter((each) => each.made)
  const next = made[made.findIndex((each) => each.id === thing.id) + 1]
  const ms = age(call.world, thing)
  if (call.broken(`${id}#early`) && ms < earlyMs) askedEarly.add(thing)
  const isLost = call.brokenIn(id, {
    '': true,
    '#last-only': next !== undefined,
    '#at-once': next !== undefined && next.createdAt - thing.createdAt < atOnceMs,
    '#asked-twice': askedTwice.has(thing),
    '#early': askedEarly.has(thing) && ms < missedMs,
    '#late': ms < tooLateMs,
  })
  if (isLost) call.reject('404-ResourceNotFound')
  call.rejectIf(`${id}#gone`, true, '410-Gone')
  call.rejectIf(`${id}#forbidden`, true, '403-InsufficientAccessRights')
  call.rejectIf(`${id}#5xx`, true, '500-InternalError')
}

/** @param usable the requirement that a new object can be used */
export function findMade<T extends Owned>(
  call: Call,
  kind: 'file' | 'graph' | 'application',
  among: ReadonlyMap<string, T>,
  usable: string,
): T {
  const thing = among.get(call.param(`${kind}_id`))
  if (!thing) return call.refuse(`404-unknown-${kind}`)
  if (isSettling(call.world, kind === 'file' ? 'uploads' : `${kind}s`, thing))
    call.reject('404-ResourceNotFound')
  breakUse(call, usable, thing, among.values())
  return thing
}

/** When a file uploaded or added now becomes part of its graph, in ms since the epoch. */
export function processedFrom(world: World): number {
  return (
    Date.now() + (world.switches.varied('processing/slow') ? (world.pace.settleMs ?? usualMs) : 0)
  )
}
