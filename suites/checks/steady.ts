import { findRequirement, granting } from '../../catalogue/catalogue.ts'
import { type Given, type Client, isOwnBreakdown } from '../../harness/client/index.ts'
import {
  describeResponse,
  differing,
  type Exchange,
  isBlocked,
  countsAsGranted,
} from '../../harness/journal/index.ts'
import { isPlanned, perRun } from '../../harness/run/index.ts'

interface Answers {
  granted: number
  readonly broken: Exchange[]
}

const answersIn = perRun(() => new Map<string, Answers>())

const longest = 10_000

/** Identifies a request that must be accepted; undefined if it may be refused. Each creation is unique. */
function nameOf(
  { objects, target }: Given,
  { probe, purpose, sentAt }: Exchange,
): string | undefined {
  const { operation, path, params, query, headers, body = '', credential, effect, fault } = probe
  const { requirement, role, isSuccess, badInput, skipJudging, skipPassive } = purpose
  const isOfGranted = requirement !== null && findRequirement(requirement)?.expects === '2xx'
  const isMeant = role === 'control' || role === 'setup' || isSuccess !== undefined || isOfGranted
  const isOdd = badInput ?? skipPassive ?? skipJudging ?? fault
  if (operation === null || !credential.full || !isMeant || isOdd || body.length > longest)
    return undefined
  if (requirement !== null && target.scenarios[requirement]) return undefined
  const since = sentAt - target.limits.settleMs
  if (Object.values(params).some((id) => (objects.madeAt.get(id) ?? -Infinity) > since))
    return undefined
  const own = effect === 'creates' ? [] : [query, headers, String(body)]
  return JSON.stringify([operation, path, params, ...own])
}

/** Refusals for which no state explains that the same request is granted at other times. */
const refusals = new Set([400, 404, 410, 422])

function isRefusedNow(exchange: Exchange): boolean {
  const { previousRequest, probe, response } = exchange
  const leavesNothing = probe.effect === 'none' || probe.effect === 'generates'
  // An invalid request may have spoiled the connection.
  const { probe: before, purpose } = previousRequest ?? {}
  const isBehindFault = before?.fault !== undefined || purpose?.expects || purpose?.badInput
  const isRefusal = refusals.has(response?.status ?? 0) && !isBlocked(exchange)
  return leavesNothing && isRefusal && !isBehindFault
}

/**
 * A valid request that is refused or crashes the server now and then fails the requirement for valid requests of its
 * operation, wherever it was sent, except when its connection is to blame.
 */
export function noteSteady(client: Client, given: Given, exchange: Exchange): void {
  const isBroken = isOwnBreakdown(exchange) || isRefusedNow(exchange)
  if (!isBroken && !countsAsGranted(exchange)) return
  const name = nameOf(given, exchange)
  if (name === undefined) return
  const all = answersIn(client)
  const known = all.get(name) ?? { granted: 0, broken: [] }
  all.set(name, known)
  if (isBroken) known.broken.push(exchange)
  else known.granted++
}

export async function failUnsteady(client: Client, given: Given): Promise<void> {
  const { onTraffic, poisonedResponses, spoiled } = client.findings
  for (const { granted, broken } of answersIn(client).values()) {
    const [wrong, ...more] = broken.filter(
      (one) => !poisonedResponses.has(one.response!) && !(spoiled.size > 0 && one.previousRequest),
    )
    const requirement = wrong && granting(wrong.probe.operation!)
    if (!requirement || granted === 0 || onTraffic.has(requirement.id)) continue
    if (!isPlanned(given, requirement.id)) continue
    const words = [wrong, ...more].map(describeResponse)
    const finding = differing([...words, ...Array<string>(granted).fill('granted')])
    const what = wrong.purpose.what ?? 'with a valid request'
    const exchange = { ...wrong, finding }
    onTraffic.set(requirement.id, { exchange, what, expected: '2xx, each time' })
  }
}
