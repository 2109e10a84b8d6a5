import { countsAsGranted } from '../journal/index.ts'
import { getAt } from '../../schemas/json.ts'
import {
  describeResponse,
  effectOf,
  type Exchange,
  isBlock,
  isOwnBreakdown,
  isThrottled,
  NotExercised,
  orElse,
  pause,
  type Probe,
  type Run,
  type Source,
  Throttled,
  tpeOf,
  withFinding,
} from '../engine/index.ts'
import { ask, type CheckContext } from '../run/index.ts'
import {
  isOperationId,
  operation as operationOf,
  type OperationId,
  triesOf,
  uploadOperation,
} from '../../catalogue/operations.ts'
import { grantedRequirement } from '../../catalogue/catalogue.ts'
import { once, sendUntilSettled, settlingRemark, sharedBy } from './created.ts'
import { distinctRequest, isDeclared, validRequest } from './valid-request.ts'

export interface Control {
  /** `none`: not sent, because it would create or generate something under `--read-only`. */
  readonly state: 'granted' | 'refused' | 'none'
  /** Tells how it was answered; most are granted, and nobody asks. */
  said(): string
  readonly exchange?: Exchange
  /** The first answer to this request, if it was sent again while a file was processed; otherwise the same exchange. */
  readonly first?: Exchange
  valid(): Promise<Probe>
}

/** Notes how the control was answered: a granted one stands in each failure. */
export function noteControl(context: CheckContext, { state, exchange }: Control): void {
  context.control = state
  if (state === 'granted') context.granted = exchange
}

export function operationIn({ requirement }: CheckContext): OperationId {
  if (!isOperationId(requirement.operation)) throw new Error(`${requirement.id} is of no operation`)
  return requirement.operation
}

/** The operation's granted requirement, sent once a run. Throws `NotExercised` if it is not declared. */
export const control = (run: Run, operation: OperationId): Promise<Control> =>
  once(run, `control ${operation}`, () => sendControl(run, operation))

/** The name of a control by what it sends: the same request is sent once, whoever asks for it. */
export const nameOfControl = ({ headers, query, body }: Probe): string =>
  `with ${JSON.stringify([headers, query])} ${String(body)}`

/**
 * The valid request with what a probe adds to it beside its fault, sent once a run.
 * @param name of what is added: the same name means the same request
 */
export const controlWith = (
  run: Run,
  operation: OperationId,
  name: string,
  valid: () => Promise<Probe>,
): Promise<Control> =>
  once(run, `control ${operation} ${name}`, () => sendControl(run, operation, valid))

/** A control that was granted; throws `NotExercised` with `why` if it was not. */
export async function grantedControl(run: Run, operation: OperationId, why?: string) {
  const { state, ...found } = await control(run, operation)
  if (state !== 'granted') throw notGranted(found, why)
  return { ...found, state }
}

async function sendControl(
  run: Run,
  operation: OperationId,
  own?: () => Promise<Probe>,
): Promise<Control> {
  const valid = own ?? (() => validRequest(run, operation))
  if (run.options.readOnly && effectOf(run, operation) !== 'none')
    return { state: 'none', said: () => 'not sent: --read-only', valid }
  try {
    const distinct = own ?? (() => distinctRequest(run, operation))
    return await sendUntilGranted(run, operation, valid, distinct)
  } catch (error) {
    // An operation that is asked no more has shown already what a request to be granted gets.
    const exchange = run.client.breaker.unanswered(operation)
    if (!exchange || !(error instanceof NotExercised) || run.life.ended) throw error
    return { state: 'refused', said: () => saidBy(exchange), exchange, first: exchange, valid }
  }
}

/** How often a request that should be granted is sent, if that is what came. */
export function triesFor(operation: OperationId, { response }: Exchange): number {
  if (!response) return 1
  // The same bytes may be there already, from an earlier run: a server may call them a duplicate (§7.2).
  if (operation === uploadOperation && response.status === 409) return 2
  // Then it has been sent often enough.
  return isBlock(response) ? 1 : triesOf(operation)
}

/** Sends the valid request until it is granted, as often as its answers may vary; `distinct` makes it for further tries. */
async function sendUntilGranted(
  run: Run,
  operation: OperationId,
  valid: () => Promise<Probe>,
  distinct: () => Promise<Probe>,
): Promise<Control> {
  const requirement = grantedRequirement[operation]
  const purpose = { requirement, role: 'control', isSuccess: countsAsGranted } as const
  const send = (probe: Source): Promise<Exchange> => ask(run, probe, purpose)
  const attempt = async (make = valid): Promise<{ first: Exchange; exchange: Exchange }> => {
    const first = await send(make)
    return { first, exchange: await sendUntilSettled(run, first, send, countsAsGranted) }
  }
  let sent = await attempt()
  const isOpen = (tries: number): boolean =>
    !countsAsGranted(sent.exchange) && tries < triesFor(operation, sent.exchange)
  for (let tries = 1; isOpen(tries); tries++) {
    // One that cannot be sent again, as what was refused keeps its application busy, leaves the answer that came.
    const more = await orElse<typeof sent | undefined>(
      run,
      () => attempt(distinct),
      () => undefined,
    )
    if (!more) break
    sent = more
  }
  const { exchange } = sent
  if (countsAsGranted(exchange))
    return { state: 'granted', said: () => saidBy(exchange), ...sent, valid }
  const remarks = noteUnknown(run, operation, exchange) + settlingRemark(run, exchange)
  return { state: 'refused', said: () => saidBy(exchange) + remarks, ...sent, valid }
}

/** Why nothing can be judged without the control: what asks for patience is told as that. */
export function notGranted(
  { exchange, said }: Pick<Control, 'exchange' | 'said'>,
  why = 'the control was not granted',
): NotExercised {
  const isLimit = exchange?.response !== undefined && isThrottled(exchange.response)
  return isLimit
    ? new Throttled(`the control was ${said()}`)
    : new NotExercised(`${why}: ${said()}`)
}

/** `answered 400 BadRequest`, `no answer within 1,000 ms` */
export const saidBy = (exchange: Exchange): string =>
  withFinding(exchange, `${exchange.response ? 'answered ' : ''}${describeResponse(exchange)}`)

/** The control's exchange, for the granted requirement itself; throws `NotExercised` if none was sent. */
export async function controlExchange(run: Run, operation: OperationId): Promise<Exchange> {
  const { exchange, said } = await control(run, operation)
  if (!exchange) throw new NotExercised(said())
  return exchange
}

/** The member of the target file that a refused valid request speaks of, if its answer tells: an object or model that is not known. */
function memberToCheck(
  { target }: Run,
  operation: OperationId,
  { response, probe }: Exchange,
  said: string,
): string | undefined {
  // What says nothing of the interface's own says nothing of its objects: a page, another server, a path that is not there.
  if (!response || tpeOf(response) === undefined || target.baseUrl.endsWith('/v1')) return undefined
  const { status } = response
  const [parameter] = Object.keys(probe.params)
  if (parameter !== undefined) {
    const place = operationOf(operation).params?.[parameter]?.declaredAt
    // What a file does not declare need not be looked at there.
    const isNamed = place !== undefined && getAt(target.file, place) !== undefined
    return isNamed && (status === 404 || status === 410)
      ? place.slice(1).replaceAll('/', '.')
      : undefined
  }
  const model = target.operations[operation]?.fields['model']
  const aboutModel = status === 404 || (status === 400 && /model/i.test(said))
  return model !== undefined && aboutModel
    ? `operations.${operation}.body${model.replaceAll('/', '.')}`
    : undefined
}

/** Notes what to check if the valid request was refused for an object or model that the target does not know. */
function noteUnknown(run: Run, operation: OperationId, exchange: Exchange): string {
  const said = describeResponse(exchange)
  const member = memberToCheck(run, operation, exchange, said)
  // What is not known may be the file that was uploaded for it.
  if (member === undefined || settlingRemark(run, exchange) !== '') return ''
  run.findings.signs.add(
    member,
    `${operation} was answered ${said}: check ${member} in the target file`,
  )
  return `: check ${member} in the target file`
}

/** How long a server that broke may take to grant anything again: one that never does was broken by what it was sent. */
const recovery = { tries: 4, pauseMs: 500 }
/** Valid requests in a row: what breaks on every fifth request, or on more of them, breaks on one of these. */
const inARow = 5

/** The answer to a valid request that broke as well, if one did; one that gets no answer excuses nothing. */
async function breaksOnValid(run: Run, operation: OperationId): Promise<Exchange | undefined> {
  if (!isDeclared(run, operation)) return undefined
  const { state, exchange, valid } = await control(run, operation)
  if (state !== 'granted') return exchange && isOwnBreakdown(exchange) ? exchange : undefined
  const send = async (): Promise<Exchange> =>
    ask(run, await valid(), { requirement: null, role: 'control' })
  let sent = await send()
  for (let tries = 1; tries < recovery.tries && !countsAsGranted(sent); tries++) {
    await pause(run, recovery.pauseMs)
    sent = await send()
  }
  if (!countsAsGranted(sent)) return undefined
  for (let count = 1; count < inARow && countsAsGranted(sent); count++) sent = await send()
  if (!isOwnBreakdown(sent)) return undefined
  // Generated answers vary: one that breaks may be followed by one that does not.
  if (operationOf(operation).effect !== 'generates') sharedBy(run).wronglyRefused.push(sent)
  return sent
}

/** How a valid request broke, as this one did: then its input is not to blame. Looked for once a run, when something broke. */
export async function breakdownAnyway(run: Run, broken: Exchange): Promise<Exchange | undefined> {
  const { operation } = broken.probe
  if (operation === null || !isOwnBreakdown(broken)) return undefined
  return once(run, `valid requests of ${operation} after one that broke`, () =>
    orElse(run, () => breaksOnValid(run, operation)),
  )
}

/** Why what the operation answered is no matter of its input: a valid request is answered so as well; undefined if none is. */
export async function whyNotOfInput(run: Run, broken: Exchange): Promise<string | undefined> {
  const valid = await breakdownAnyway(run, broken)
  return (
    valid &&
    `valid requests are answered ${describeResponse(valid)} now and then as well: that says nothing about the input`
  )
}
