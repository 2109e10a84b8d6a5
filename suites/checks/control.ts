import {
  type Exchange,
  type HttpResponse,
  type Made,
  countsAsGranted,
  type Open,
  type Probe,
  isOpen,
  isThrottled,
  withFinding,
  describeResponse,
} from '../../harness/journal/index.ts'
import {
  type OperationId,
  uploadOperation,
  triesOf,
  operation as operationOf,
} from '../../catalogue/operations.ts'
import { type Client, type Given, effectOf, isOwnBreakdown } from '../../harness/client/index.ts'
import { type Look, lookUntil, settled } from './rules.ts'
import { grantedRequirement } from '../../catalogue/catalogue.ts'
import { settlingRemark, once } from './created.ts'
import { validRequest, distinctRequest, operationIn, isDeclared } from './valid-request.ts'
import type { CheckContext } from '../../harness/run/index.ts'
import { getAt } from '../../schemas/json.ts'

/** A valid request, and its answer if it was sent. */
export type Control = SentControl | UnsentControl

interface SentControl {
  readonly state: 'granted' | 'refused'
  readonly exchange: Exchange
  readonly remarks?: string
  valid(): Promise<Made>
}

/** Not sent: it would create or generate under `--read-only`, or nobody knows a request or key. */
interface UnsentControl {
  readonly state: 'none'
  readonly unsent: string
  valid(): Promise<Made>
}

/** A valid request; equal names mean equal requests, sent once per run. */
export interface ControlRequest {
  readonly operation: OperationId
  readonly name: string
  make(): Promise<Made>
  /** Makes it for further attempts; default: `make`. */
  remake?(): Promise<Made>
}

/** What the journal says of a control, or what to send: it is repeated as often as its answers may vary. */
export function lookAtControl(
  client: Client,
  given: Given,
  { operation, name, make, remake = make }: ControlRequest,
): Control | Exclude<Look, { readonly outcome: 'answered' }> {
  if (given.options.readOnly && effectOf(given, operation) !== 'none')
    return { state: 'none', unsent: '--read-only', valid: make }
  const requirement = grantedRequirement[operation]
  const purpose = { requirement, role: 'control', isSuccess: countsAsGranted } as const
  let last: Exchange | undefined
  const seen = lookUntil(
    client,
    (at) => ({
      name: `control ${operation} ${name}, ${at}`,
      source: at === 0 ? make : remake,
      purpose,
    }),
    (exchange, tries) => {
      last = exchange
      return countsAsGranted(exchange) || tries >= triesFor(operation, exchange)
    },
  )
  if (seen.outcome === 'asks' || (seen.outcome === 'open' && client.life.ended)) return seen
  // If it cannot be repeated, because its application is busy, the first answer stays.
  const exchange = last
  if (!exchange) return seen as Open
  if (countsAsGranted(exchange)) return { state: 'granted', exchange, valid: make }
  const remarks = noteUnknown(client, given, operation, exchange) + settlingRemark(given, exchange)
  return { state: 'refused', exchange, remarks, valid: make }
}

/** Sends a control. Open if it cannot be made. */
export const controlBy = (
  client: Client,
  given: Given,
  request: ControlRequest,
): Promise<Control | Open> => settled(client, () => lookAtControl(client, given, request))

/** The operation's valid request. Open if not declared. */
export const control = (
  client: Client,
  given: Given,
  operation: OperationId,
): Promise<Control | Open> =>
  controlBy(client, given, {
    operation,
    name: '',
    make: () => validRequest(client, given, operation),
    remake: () => distinctRequest(client, given, operation),
  })

export const nameOfControl = ({ headers, query, body }: Probe): string =>
  `with ${JSON.stringify([headers, query])} ${String(body)}`

export async function grantedControl(
  client: Client,
  given: Given,
  operation: OperationId,
  why?: string,
): Promise<SentControl | Open> {
  const found = await control(client, given, operation)
  return isOpen(found) || found.state === 'granted' ? found : notGranted(found, why)
}

/** Records the control of a requirement; open if it was not accepted. */
export async function requireControl(
  context: CheckContext,
  operation = operationIn(context),
): Promise<SentControl | Open> {
  const { client, given, requirement } = context
  const found = await grantedControl(client, given, operation)
  if (!isOpen(found)) client.journal.controls.set(requirement.id, found.state)
  return found
}

export function triesFor(operation: OperationId, exchange: Exchange): number {
  if (!exchange.response) return 1
  // An earlier run may have uploaded the same bytes, which a server may call a duplicate (§7.2).
  if (operation === uploadOperation && exchange.response.status === 409) return 2
  // Already sent often enough.
  return exchange.response.isBlock ? 1 : triesOf(operation)
}

/** Why nothing can be judged without the control; distinguishes throttling. */
export function notGranted(one: Control, why = 'the valid request was refused'): Open {
  const response = responseTo(one)
  const isLimit = response !== undefined && isThrottled(response)
  const what = isLimit ? 'throttled: the valid request was' : `${why}:`
  return { outcome: 'open', why: `${what} ${outcomeOf(one)}` }
}

export const responseTo = (one: Control): HttpResponse | undefined =>
  one.state === 'none' ? undefined : one.exchange.response

/** Describes the result of a control. */
export function outcomeOf(one: Control): string {
  if (one.state === 'none') return `not sent: ${one.unsent}`
  const { exchange, remarks = '' } = one
  const answered = exchange.response ? 'answered ' : ''
  return withFinding(exchange, answered + describeResponse(exchange)) + remarks
}

export async function controlExchange(
  client: Client,
  given: Given,
  operation: OperationId,
): Promise<Exchange | Open> {
  const found = await control(client, given, operation)
  if (isOpen(found)) return found
  return found.state === 'none' ? { outcome: 'open', why: outcomeOf(found) } : found.exchange
}

/** The member of the target file that the answer calls unknown: an object or model. */
function memberToCheck(
  given: Given,
  operation: OperationId,
  exchange: Exchange,
  said: string,
): string | undefined {
  // Only an error of the interface says something about objects: not a page, another server, or a missing path.
  if (
    !exchange.response ||
    exchange.response.tpe === undefined ||
    given.target.baseUrl.endsWith('/v1')
  )
    return undefined
  const { status } = exchange.response
  const [parameter] = Object.keys(exchange.probe.params)
  if (parameter !== undefined) {
    const place = operationOf(operation).params?.[parameter]?.declaredAt
    const isNamed = place !== undefined && getAt(given.target.file, place) !== undefined
    return isNamed && (status === 404 || status === 410)
      ? place.slice(1).replaceAll('/', '.')
      : undefined
  }
  const model = given.target.operations[operation]?.fields['model']
  const aboutModel = status === 404 || (status === 400 && /model/i.test(said))
  return model !== undefined && aboutModel
    ? `operations.${operation}.body${model.replaceAll('/', '.')}`
    : undefined
}

function noteUnknown(
  client: Client,
  given: Given,
  operation: OperationId,
  exchange: Exchange,
): string {
  const said = describeResponse(exchange)
  const member = memberToCheck(given, operation, exchange, said)
  // The unknown object may be the uploaded file.
  if (member === undefined || settlingRemark(given, exchange) !== '') return ''
  client.findings.signs.add(member, `${operation} got ${said}: check ${member} in the target file`)
  return `: check ${member} in the target file`
}

/** Time for a server to recover from a crash: if it never does, the input broke it. */
const recovery = { tries: 4, pauseMs: 500 }
/** Consecutive valid requests: enough to hit a failure of every twelfth request. */
const inARow = 12

async function breaksOnValid(
  client: Client,
  given: Given,
  operation: OperationId,
): Promise<Exchange | undefined> {
  if (!isDeclared(given, operation)) return undefined
  const found = await control(client, given, operation)
  if (isOpen(found)) return undefined
  if (found.state === 'none') return undefined
  const { state, exchange, valid } = found
  if (state === 'refused') return isOwnBreakdown(exchange) ? exchange : undefined
  const purpose = { requirement: null, role: 'control' } as const
  const name = `valid request of ${operation} after one that broke`
  let granted = 0
  const seen = await settled(client, () => {
    granted = 0
    return lookUntil(
      client,
      (at) => ({
        name: `${name}, ${at}`,
        source: valid,
        purpose,
        pauseMs: granted === 0 && at > 0 ? recovery.pauseMs : 0,
      }),
      (one, tries) =>
        countsAsGranted(one) ? ++granted === inARow : granted > 0 || tries >= recovery.tries,
    )
  })
  const last = seen.outcome === 'answered' && granted > 0 ? seen.exchange : undefined
  return last && isOwnBreakdown(last) ? last : undefined
}

/**
 * The valid request that crashed in the same way, so that the input is not to blame. Checked once per run, after a
 * crash.
 */
export async function breakdownAnyway(
  client: Client,
  given: Given,
  broken: Exchange,
): Promise<Exchange | undefined> {
  const { operation } = broken.probe
  if (operation === null || !isOwnBreakdown(broken)) return undefined
  return once(client, `valid requests of ${operation} after one that broke`, () =>
    breaksOnValid(client, given, operation),
  )
}

/** Why the answer does not depend on the input: a valid request gets the same; undefined otherwise. */
export async function whyNotOfInput(
  client: Client,
  given: Given,
  broken: Exchange,
): Promise<string | undefined> {
  const valid = await breakdownAnyway(client, given, broken)
  return (
    valid &&
    `valid requests sometimes get ${describeResponse(valid)} too, so this says nothing about the input`
  )
}
