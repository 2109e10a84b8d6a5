import { perRun, isPlanned } from '../../harness/run/index.ts'
import {
  type Exchange,
  isSettling,
  countsAsGranted,
  describeResponse,
  differing,
} from '../../harness/journal/index.ts'
import { type Given, type Client, isOwnBreakdown } from '../../harness/client/index.ts'
import { findRequirement, granting } from '../../catalogue/catalogue.ts'
import {
  additionOperation,
  uploadOperation,
  operation as operationOf,
} from '../../catalogue/operations.ts'

const answersIn = perRun(() => new Map<string, { granted: number; readonly broken: Exchange[] }>())

const longest = 10_000

/** Identifies a request that must be accepted; undefined if it may be refused. Each creation is unique, but for its label. */
function nameOf(given: Given, { probe, purpose, sentAt }: Exchange): string | undefined {
  const { operation, path, params, query, headers, body = '', credential, effect, fault } = probe
  const { requirement, role, isSuccess, badInput, skipJudging, skipPassive } = purpose
  const isOfGranted = requirement !== null && findRequirement(requirement)?.expects === '2xx'
  const isMeant = role === 'control' || role === 'setup' || isSuccess !== undefined || isOfGranted
  // A change that leaves a request valid has a name, too. Of creations, no two are the same request.
  const isFaulty = fault !== undefined && !(isOfGranted && effect !== 'creates')
  const isOdd = badInput ?? skipPassive ?? skipJudging ?? isFaulty
  if (operation === null || !credential.full || !isMeant || isOdd || body.length > longest)
    return undefined
  if (requirement !== null && given.target.scenarios[requirement]) return undefined
  const since = sentAt - given.target.limits.settleMs
  if (Object.values(params).some((id) => (given.objects.madeAt.get(id) ?? -Infinity) > since))
    return undefined
  const label = headers.find((one) => one.name.toLowerCase() === 'content-type')?.value
  if (effect === 'creates') return JSON.stringify([operation, path, params, label])
  return `${JSON.stringify([operation, path, params, query, headers])} ${String(body)}`
}

/** Refusals for which no state explains that the same request is granted at other times. */
const refusals = new Set([400, 404, 410, 422])

/**
 * Whether it was the first addition of a file that was uploaded once, and to no graph: a file may be in one graph only. A new
 * one may also conflict because it is still processed, unless the answer says that it was added.
 */
function isFirstAddition(client: Client, exchange: Exchange): boolean {
  if (isSettling(client.known, exchange) && !countsAsGranted(exchange)) return false
  const event = client.journal.events.at(-1)
  if (event?.exchange !== exchange || event.operation !== additionOperation) return false
  const [upload, ...others] = client.journal.of(event.object ?? '')
  const isPlain = upload?.operation === uploadOperation && upload.within === undefined
  return isPlain && others.every((one) => one === event)
}

/** Names of creations that were sent. */
const namesIn = perRun(() => new Set<string>())

/**
 * A valid request that is refused or crashes the server now and then fails the requirement for valid requests of its
 * operation, wherever it was sent, except when its connection is to blame.
 */
export function noteSteady(client: Client, given: Given, exchange: Exchange): void {
  const { creates, effect, operation } = exchange.probe
  const names = namesIn(client)
  const isNamed = operation !== null && operationOf(operation).creates?.hasUniqueName === true
  const isNewName = isNamed && creates !== undefined && !names.has(creates)
  if (isNewName) names.add(creates)
  const { status = 0, isBlock = false, isEnvelope = false } = exchange.response ?? {}
  // What was never asked for before cannot exist.
  const isNew = isNewName || (status === 409 && isFirstAddition(client, exchange))
  const leavesNothing = isNew || effect === 'none' || effect === 'generates'
  // An invalid request may have spoiled the connection.
  const { probe: before, purpose } = exchange.previousRequest ?? {}
  const isBehindFault = before?.fault !== undefined || purpose?.expects || purpose?.badInput
  const isError = refusals.has(status) || (isEnvelope && status < 300)
  const isRefusal = (isError || (isNew && status === 409)) && !isBlock
  const isBroken = isOwnBreakdown(exchange) || (isRefusal && leavesNothing && !isBehindFault)
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
  const { onTraffic, spoiledAnswers, spoilers } = client.findings
  for (const { granted, broken } of answersIn(client).values()) {
    const [wrong, ...more] = broken.filter(
      (one) => !spoiledAnswers.has(one.response!) && !(spoilers.size > 0 && one.previousRequest),
    )
    const requirement = wrong && granting(wrong.probe.operation!)
    if (!requirement || onTraffic.has(requirement.id)) continue
    // No control uploads a PDF: if that crashes the server each time, nothing else shows it.
    const isOwnKind = wrong.probe.operation === uploadOperation && isOwnBreakdown(wrong)
    if (granted === 0 && !isOwnKind) continue
    if (!isPlanned(given, requirement.id)) continue
    const words = [wrong, ...more].map(describeResponse)
    const finding = differing([...words, ...Array<string>(granted).fill('granted')])
    const what = wrong.purpose.what ?? 'with a valid request'
    const exchange = granted === 0 ? wrong : { ...wrong, finding }
    onTraffic.set(requirement.id, { exchange, what, expected: '2xx, each time' })
  }
}
