import type { NotServed } from '../report/index.ts'
import { describeResponse } from './describe.ts'
import { type Exchange, pathOf, type Probe } from './exchange.ts'
import { headBytes, isThrottled, tpeOf } from './response.ts'
import { perRun } from './run.ts'

/** An operation that was asked for, and whether it seems to be there. */
interface Asked {
  /** A response that only a server which has the operation gives. */
  isThere: boolean
  /** How a response was put that only one which lacks it gives. */
  said?: string
  /** The 404s that may be of either kind, as they compare; and how the first was put. */
  readonly perhaps: Set<string>
  saidPerhaps?: string
  readonly hasParams: boolean
  hasEnvelope: boolean
}

/** Statuses that say nothing of an operation: what stands before it gives them too. */
const saysNothing: readonly number[] = [401, 403, 502, 504]

/**
 * Operations that the server does not have, by all that it answered: a 405, a 501, or a 404 that is no envelope, or the very one
 * of a path that nobody has. If a 404 may be that of an object that is not there, it counts if it is known from another place.
 */
export const absentOf = perRun(() => {
  const operations = new Map<string, Asked>()
  /** 404s of paths that the interface does not have. */
  const nowhere = new Set<string>()
  const askedOf = ({ probe }: Exchange): Asked => {
    const known = operations.get(probe.operation!)
    if (known) return known
    const hasParams = Object.keys(probe.params).length > 0
    const fresh = { isThere: false, perhaps: new Set<string>(), hasParams, hasEnvelope: false }
    operations.set(probe.operation!, fresh)
    return fresh
  }
  const say = (exchange: Exchange): string =>
    describeResponse(exchange)
      .replaceAll(pathOf(exchange.probe, {}), '<path>')
      .replaceAll(pathOf(exchange.probe, {}).split('?')[0]!, '<path>')
  const isLike = ({ hasEnvelope, hasParams, perhaps }: Asked, known: ReadonlySet<string>) =>
    hasEnvelope ? !hasParams && [...perhaps].every((one) => nowhere.has(one)) : isOf(perhaps, known)
  const found = (): [string, Asked][] => {
    const missing = [...operations].filter(
      ([, { isThere, said, saidPerhaps }]) => !isThere && (said ?? saidPerhaps) !== undefined,
    )
    const known = new Set([
      ...nowhere,
      ...missing.flatMap(([, one]) => (isSure(one) ? [...one.perhaps] : [])),
    ])
    return missing.filter(([, one]) => isSure(one) || isLike(one, known))
  }
  const isNowhere = (): boolean =>
    operations.size >= fewestOperations && found().length === operations.size
  return {
    observe(exchange: Exchange): void {
      const { probe, purpose, response } = exchange
      if (!response || purpose.skipPassive) return
      const { status } = response
      const alike = (): string => withoutEchoes(response.text(headBytes), probe)
      if (probe.operation === null) {
        if (status === 404) nowhere.add(alike())
        return
      }
      if (purpose.skipJudging) return
      const asked = askedOf(exchange)
      if (asked.isThere || saysNothing.includes(status) || isThrottled(response)) return
      const isMissing = status === 404 || status === 405 || status === 501
      if (!isMissing) asked.isThere = true
      else if (status !== 404 || isRouters(exchange)) asked.said ??= say(exchange)
      else {
        asked.saidPerhaps ??= say(exchange)
        asked.perhaps.add(alike())
        asked.hasEnvelope ||= tpeOf(response) !== undefined
      }
    },
    /** Whether no operation of several is there: the base URL is a wrong one. */
    get isNowhere(): boolean {
      return isNowhere()
    },
    /** What is absent, in the order in which it was asked for; nothing if no operation is there. */
    list(clean: (text: string) => string): NotServed[] {
      if (isNowhere()) return []
      return found().map(([operation, { said, saidPerhaps }]) => ({
        operation,
        answered: clean((said ?? saidPerhaps)!),
      }))
    },
  }
})

/** A server that has none of so many is not the one that was meant. */
const fewestOperations = 3

/** Whether no object can be meant that is not there. */
function isSure({ hasEnvelope, hasParams, said }: Asked): boolean {
  return said !== undefined || (!hasParams && !hasEnvelope)
}

function isOf(some: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  return [...some].every((one) => all.has(one))
}

/** The 404 of what looks for an operation by its path, not that of an operation which looks for an object. */
function isRouters({ probe, response }: Exchange): boolean {
  return tpeOf(response!) === undefined && namesPath(response!.text(headBytes), probe)
}

/**
 * The text of a response without what differs from one to the next though it is the same response: the path and the method of
 * the request, times, ids of traces. For comparing only.
 */
export function withoutEchoes(text: string, probe: Probe): string {
  const plain = text.replaceAll(String.raw`\/`, '/')
  const [path = ''] = pathOf(probe, {}).split('?')
  return [pathOf(probe, {}), path, decoded(path)]
    .reduce((rest, echo) => rest.replaceAll(echo, '…'), plain)
    .replaceAll(new RegExp(String.raw`\b${probe.method}\b`, 'g'), '…')
    .replaceAll(/[\w:.-]*\d[\w:.-]*/g, (word) => (word.length < shortestId ? word : '…'))
}

/** Shorter words with digits are statuses, versions and the like. */
const shortestId = 8

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Whether a sentence of the response names the path of the request; a member that is the path, as some frameworks always add, is none. */
function namesPath(text: string, probe: Probe): boolean {
  const [path = ''] = pathOf(probe, {}).split('?')
  const plain = text.replaceAll(String.raw`\/`, '/')
  return [path, decoded(path)].some((echo) =>
    plain.replaceAll(new RegExp(`"${escaped(echo)}(?:\\?[^"]*)?"`, 'g'), '').includes(echo),
  )
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
