import {
  type Given,
  type RunOptions,
  draftOf,
  type Client,
  effectOf,
  jsonType,
  isOwnBreakdown,
} from '../../harness/client/index.ts'
import {
  type OperationId,
  uploadOperation,
  operationOf,
  operations,
  additionOperation,
  isOperationId,
} from '../../catalogue/operations.ts'
import {
  missingNeeds,
  type UploadContent,
  readsDeclared,
  missingReason,
  type Scenario,
} from '../../harness/target/index.ts'
import { granting } from '../../catalogue/catalogue.ts'
import {
  type Ask,
  type Open,
  type Credential,
  type Probe,
  type Made,
  type Making,
  isOpen,
  withChange,
  jsonOf,
  withJson,
  withHeader,
  type Exchange,
  type HttpResponse,
  countsAsGranted,
  withFinding,
  describeResponse,
  open,
  type Look,
  lookAt,
} from '../../harness/journal/index.ts'
import { getAt, setAt, mergePatch } from '../../schemas/json.ts'
import { freshUnknownId, randomFor } from './random.ts'
import {
  uploadProbe,
  withOwnContent,
  once,
  sharedBy,
  upload,
  namedId,
  settlingRemark,
} from './created.ts'
import { send, type CheckContext, settle } from '../../harness/run/index.ts'
import { lookUntil } from './rules.ts'

/** What valid requests are made of, as known before anything is sent. */
export interface Basis {
  readonly target: Given['target']
  readonly options: Pick<RunOptions, 'seed' | 'depth' | 'refusalRuns' | 'grantedRuns' | 'readOnly'>
  readonly objects: Pick<Given['objects'], 'takenIds'>
}

export type OfTarget = Pick<Basis, 'target'>

export const isDeclared = (known: OfTarget, operation: OperationId): boolean =>
  missingNeeds(known.target.file, granting[operation].needs).length === 0

const undeclared = (place: string): Open => open(`declare ${place}`)

export const contentOf = (known: OfTarget): UploadContent | Open =>
  known.target.operations[uploadOperation]?.content ??
  undeclared(`operations.${uploadOperation}.content`)

export function declaredResource<K extends keyof Given['target']['resources']>(
  known: OfTarget,
  name: K,
) {
  const value = known.target.resources[name]
  return value ?? undeclared(`resources.${name}`)
}

/** Whether the declared body has extra members, so that a scenario sends more than the valid request. */
export function declaresMore(known: OfTarget, operation: OperationId): boolean {
  const { body } = known.target.operations[operation] ?? {}
  return !known.target.scenarios[granting[operation].id] && hasExtraRole(known, operation, body)
}

function hasExtraRole(known: OfTarget, operation: OperationId, body: unknown): boolean {
  const { fields = {} } = known.target.operations[operation] ?? {}
  return operationOf(operation).extraRoles.some(
    (role) => getAt(body, fields[role] ?? `/${role}`) !== undefined,
  )
}

export function withoutRoles(
  known: OfTarget,
  operation: OperationId,
  body: unknown,
  roles: readonly string[],
): unknown {
  const fields = known.target.operations[operation]?.fields ?? {}
  return roles
    .flatMap((role) => fields[role] ?? [])
    .filter((pointer) => getAt(body, pointer) !== undefined)
    .reduce((plain, pointer) => setAt(plain, pointer, undefined), body)
}

const anyUuid = '6f1d2c3b-8a4e-4b5f-9c6d-7e8f90a1b2c3'

function knownIdLike(one: OfTarget, id: OperationId, parameter: string): string {
  const ids = [operationOf(id), ...operations.map((other) => operationOf(other.id))]
    .flatMap((other) => other.params?.[parameter]?.declaredAt ?? [])
    .map((place) => getAt(one.target.file, place))
  return ids.find((known) => typeof known === 'string') ?? anyUuid
}

function wholeBody(known: OfTarget, operation: OperationId): unknown {
  const { members, example } = operationOf(operation)
  return members.reduce<unknown>((body, one) => {
    if (one.declaredAt === undefined) return body
    return setAt(body, one.at, getAt(known.target.file, one.declaredAt))
  }, example)
}

const anyKey: Credential = { shown: '', full: true }

/** `plain`: without members that only some requirements need. */
type Extent = 'whole' | 'plain'

const ofTargets = new WeakMap<Basis['target'], Map<string, Made | undefined>>()

/** Made once a target: a run needs each of them hundreds of times. */
function ofTarget<T extends Made | undefined>(
  { target }: OfTarget,
  name: string,
  make: () => T,
): T {
  const own = ofTargets.get(target) ?? new Map<string, Made | undefined>()
  ofTargets.set(target, own)
  if (!own.has(name)) own.set(name, make())
  return own.get(name) as T
}

/** The declared request as known in advance: with made-up ids for objects that a run creates, and declared names. */
export function draftRequest(known: Basis, operation: OperationId, extent: Extent = 'plain'): Made {
  return ofTarget(known, `${operation} ${extent}`, (): Made => {
    const { target } = known
    const record = operationOf(operation)
    const params: Record<string, string> = {}
    for (const [parameter, { declaredAt }] of Object.entries(record.params ?? {})) {
      const declared = getAt(target.file, declaredAt)
      const isId = typeof declared === 'string' || typeof declared === 'number'
      // The object to destroy is created first; until then, it is one that does not exist.
      if (record.effect === 'destroys')
        params[parameter] = freshUnknownId(
          known,
          knownIdLike(known, operation, parameter),
          randomFor(known, `to destroy ${operation}`),
        )
      else params[parameter] = isId ? String(declared) : knownIdLike(known, operation, parameter)
    }
    const effect = readsDeclared(operation, target.file) ? 'none' : granting[operation].effect
    const parts = { params, credential: anyKey, effect }
    if (record.body === 'none') return draftOf(target, record, parts)
    if (record.body === 'raw') {
      const content = contentOf(known)
      return isOpen(content) ? content : { ...draftOf(target, record, parts), body: content.bytes }
    }
    const needed = record.isWhole
      ? record.members.flatMap((member) => member.declaredAt ?? [])
      : [`/operations/${operation}/body`]
    const undeclaredAt = needed.find((place) => getAt(target.file, place) === undefined)
    if (undeclaredAt !== undefined) return undeclared(undeclaredAt.slice(1).replaceAll('/', '.'))
    let json = record.isWhole ? wholeBody(known, operation) : target.operations[operation]?.body
    const extra = extent === 'whole' ? [] : record.extraRoles
    if (extra.length > 0) json = withoutRoles(known, operation, json, extra)
    return draftOf(target, record, { ...parts, json })
  })
}

export function validDraft(known: Basis, operation: OperationId): Made {
  const scenario = known.target.scenarios[granting[operation].id]
  if (!scenario) return draftRequest(known, operation)
  const draft = draftRequest(known, operation, 'whole')
  return isOpen(draft) ? draft : changedBy(scenario, draft)
}

/**
 * The draft for an operation without a declaration: `{}` as body, unknown ids in the path. It creates nothing on a
 * conforming server.
 */
export function placeholderDraft(known: Basis, id: OperationId): Probe {
  const { params: names = {}, body } = operationOf(id)
  const random = randomFor(known, `stand-in ${id}`)
  const params = Object.fromEntries(
    Object.keys(names).map((name) => [
      name,
      freshUnknownId(known, knownIdLike(known, id, name), random),
    ]),
  )
  const parts = { params, credential: anyKey, ...(body === 'none' ? {} : { json: {} }) }
  return draftOf(known.target, operationOf(id), parts)
}

export async function placeholderRequest(given: Given, id: OperationId): Promise<Probe> {
  return { ...placeholderDraft(given, id), credential: await given.keys.full() }
}

/**
 * The operation's valid request, new each time: with unique names, and a newly uploaded file to add to a graph. A
 * scenario of the requirement for valid requests is applied. Open if something is not declared, or cannot be made.
 */
export function validRequest(client: Client, given: Given, operation: OperationId): Making {
  const scenario = given.target.scenarios[granting[operation].id]
  if (!scenario) return declaredRequest(client, given, operation, 'plain')
  const effect = effectOf(given, operation)
  const made = applyScenario(client, given, scenario, operation)
  return withChange(made, (probe) => ({ ...probe, effect }))
}

/** A valid request; an upload has new content. */
export async function distinctRequest(
  client: Client,
  given: Given,
  operation: OperationId,
): Promise<Made> {
  if (operation !== uploadOperation) return validRequest(client, given, operation)
  const content = contentOf(given)
  return isOpen(content) ? content : uploadProbe(given, withOwnContent(given, content))
}

/** Shares one request under that name. If its upload was refused, each caller makes its own. */
export async function sharedRequest(
  client: Client,
  name: string,
  make: () => Making,
): Promise<Made> {
  const shared = await once(client, name, async () => make())
  return isOpen(shared) ? make() : shared
}

export function declaredRequest(
  client: Client,
  given: Given,
  operation: OperationId,
  extent: Extent,
): Making {
  const lacking = ofTarget(given, `needs of ${operation}`, (): Open | undefined => {
    const missing = missingReason(given.target.file, granting[operation].needs)
    return missing && open(missing)
  })
  if (lacking) return lacking
  const make = given.requests[operation]
  if (make) return make()
  const { body, creates, effect, freshFileAt } = operationOf(operation)
  if (body === 'raw') {
    const content = contentOf(given)
    return isOpen(content) ? content : uploadProbe(given, content)
  }
  const made = draftRequest(given, operation, extent)
  if (isOpen(made)) return made
  // Most keys are fixed: their requests are made at once.
  const key = given.keys.full()
  const whole: Making =
    key instanceof Promise
      ? key.then((credential) => ({ ...made, credential }))
      : { ...made, credential: key }
  return withChange(whole, (draft) => {
    if (effect === 'destroys') return withOwnObject(client, given, draft, operation)
    if (freshFileAt !== undefined) return withFreshFile(client, given, draft)
    return creates?.name && 'role' in creates.name
      ? withOwnName(given, draft, given.target.operations[operation]?.fields[creates.name.role])
      : draft
  })
}

/** A request about an object created for it, so that nothing else can be destroyed. */
async function withOwnObject(
  client: Client,
  given: Given,
  draft: Probe,
  operation: OperationId,
): Promise<Made> {
  for (const { id: maker } of operations)
    for (const use of operationOf(maker).creates?.usedBy ?? [])
      if (use.operation === operation && 'param' in use) {
        const id = await makeOne(client, given, maker)
        if (isOpen(id)) return id
        if (given.target.ids.has(id.toLowerCase()))
          return open(`${maker} answered with ${id}, which the target file declares`)
        sharedBy(client).doomed.add(id)
        return { ...draft, params: { ...draft.params, [use.param]: id } }
      }
  throw new Error(`no operation makes what ${operation} destroys`)
}

/** Creates an object for no requirement, and returns its id; open if refused or without an id. */
export async function makeOne(
  client: Client,
  given: Given,
  maker: OperationId,
): Promise<string | Open> {
  if (maker === uploadOperation) return upload(client, given, contentOf(given))
  const purpose = { requirement: null, role: 'setup' } as const
  return namedId(given, await send(client, () => validRequest(client, given, maker), purpose))
}

function withOwnName(given: Given, draft: Probe, pointer = '/name'): Probe {
  const body = jsonOf(draft)
  const own = getAt(body, pointer)
  const creates = `${typeof own === 'string' ? own : 'conform'}${given.objects.suffix()}`
  return { ...withJson(draft, setAt(body, pointer, creates)), creates }
}

async function withFreshFile(client: Client, given: Given, draft: Probe): Promise<Made> {
  const { operations: declared } = given.target
  const isPlaced = declared[additionOperation]?.fields['file'] !== undefined
  // A refusal needs no new file, and a read-only run uploads none.
  if (given.options.readOnly || !isPlaced || !declared[uploadOperation]?.content) return draft
  const file = await upload(client, given, contentOf(given))
  return isOpen(file) ? file : withFile(given, draft, file)
}

/** An addition of another file. */
export function withFile(given: Given, addition: Probe, file: string): Made {
  const pointer = given.target.operations[additionOperation]?.fields['file']
  if (pointer === undefined) return undeclared(`operations.${additionOperation}.fields.file`)
  const body = jsonOf(addition)
  const id = typeof getAt(body, pointer) === 'number' ? Number(file) : file
  return { ...withJson(addition, setAt(body, pointer, id)), creates: file }
}

/** True if the scenario has its own body, so that the operation need not be declared. */
export const bringsBody = (scenario: Scenario): boolean =>
  scenario.raw !== undefined || Object.hasOwn(scenario, 'body')

/**
 * The operation's valid request with the scenario's changes; a separate request if only the scenario's body is
 * declared.
 * @param plain the request to change; default: the whole declared one
 */
export async function applyScenario(
  client: Client,
  given: Given,
  scenario: Scenario,
  operation: OperationId,
  plain = (): Making => declaredRequest(client, given, operation, 'whole'),
): Promise<Made> {
  const usesPlaceholder = bringsBody(scenario) && !isDeclared(given, operation)
  const base = usesPlaceholder ? await placeholderRequest(given, operation) : await plain()
  if (isOpen(base)) return base
  const credential = scenario.key ? await given.keys.of(scenario.key) : base.credential
  return { ...changedBy(scenario, base), credential }
}

export function changedBy(scenario: Scenario, base: Probe): Probe {
  const { headers, raw } = scenario
  const probe = {
    ...headers.reduce((changed, header) => withHeader(changed, header.name, header.value), base),
    params: { ...base.params, ...scenario.params },
    query: { ...base.query, ...scenario.query },
  }
  if (raw) {
    const { bytes, contentType: type } = raw
    return {
      ...(type === undefined ? probe : withHeader(probe, 'content-type', type)),
      body: bytes,
    }
  }
  const [brings, merges] = [bringsBody(scenario), Object.hasOwn(scenario, 'merge')]
  if (!brings && !merges) return probe
  const own: unknown = brings ? scenario.body : jsonOf(base)
  const typed = probe.headers.some((header) => header.name.toLowerCase() === 'content-type')
  return withJson(
    typed ? probe : withHeader(probe, jsonType.name, jsonType.value),
    merges ? mergePatch(own, scenario.merge) : own,
  )
}

export function operationIn(context: CheckContext): OperationId {
  if (!isOperationId(context.requirement.operation))
    throw new Error(`${context.requirement.id} is of no operation`)
  return context.requirement.operation
}

/** A valid request, and its answer if it was sent. */
export type Control = SentControl | UnsentControl

interface SentControl {
  readonly state: 'granted' | 'refused'
  readonly exchange: Exchange
  readonly remarks?: string
  valid(): Making
}

/** Not sent: it would create or generate under `--read-only`, or nobody knows a request or key. */
interface UnsentControl {
  readonly state: 'none'
  readonly unsent: string
  valid(): Making
}

/** A valid request; equal names mean equal requests, sent once per run. */
interface ControlRequest {
  readonly operation: OperationId
  readonly name: string
  make(): Making
  /** Makes it for further attempts; default: `make`. */
  remake?(): Making
}

/** What the journal says of a control, or what to send: it is repeated as often as its answers may vary. */
export function lookAtControl(
  client: Client,
  given: Given,
  { operation, name, make, remake = make }: ControlRequest,
): Control | Exclude<Look, { readonly outcome: 'answered' }> {
  if (given.options.readOnly && effectOf(given, operation) !== 'none')
    return { state: 'none', unsent: '--read-only', valid: make }
  const requirement = granting[operation].id
  const purpose = { requirement, role: 'control', isSuccess: countsAsGranted } as const
  let exchange: Exchange | undefined
  for (let at = 0; !exchange || at < triesFor(operation, exchange); at++) {
    const source = at === 0 ? make : remake
    const request: Ask = { name: `control ${operation} ${name}, ${at}`, source, purpose }
    const seen = lookAt(client.journal, request, client.known)
    if (seen.outcome === 'answered') exchange = seen.exchange
    // If it cannot be repeated, because its application is busy, the last answer stays.
    else if (seen.outcome === 'asks' || client.life.ended || !exchange) return seen
    else break
    if (countsAsGranted(exchange)) return { state: 'granted', exchange, valid: make }
  }
  const remarks = noteUnknown(client, given, operation, exchange) + settlingRemark(given, exchange)
  return { state: 'refused', exchange, remarks, valid: make }
}

/** The operation's valid request. Open if not declared. */
export const control = (
  client: Client,
  given: Given,
  operation: OperationId,
): Promise<Control | Open> =>
  settle(client, () =>
    lookAtControl(client, given, {
      operation,
      name: '',
      make: () => validRequest(client, given, operation),
      remake: () => distinctRequest(client, given, operation),
    }),
  )

export const nameOfControl = ({ headers, query, body }: Probe): string =>
  `with ${JSON.stringify([headers, query])} ${String(body)}`

/** The declared request with all its members, which scenarios change. */
export async function wholeControl(
  client: Client,
  given: Given,
  operation: OperationId,
): Promise<Control | Open> {
  if (!declaresMore(given, operation)) return control(client, given, operation)
  const draft = draftRequest(given, operation, 'whole')
  if (isOpen(draft)) return draft
  const make = () => declaredRequest(client, given, operation, 'whole')
  const name = nameOfControl(draft)
  return settle(client, () => lookAtControl(client, given, { operation, name, make }))
}

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
  return exchange.response.isBlock ? 1 : operationOf(operation).tries
}

/** Why nothing can be judged without the control; distinguishes throttling. */
export function notGranted(one: Control, why = 'the valid request was refused'): Open {
  const response = responseTo(one)
  const isLimit = response?.isThrottled === true
  const what = isLimit ? 'throttled: the valid request was' : `${why}:`
  return open(`${what} ${describeControl(one)}`)
}

export const responseTo = (one: Control): HttpResponse | undefined =>
  one.state === 'none' ? undefined : one.exchange.response

export function describeControl(one: Control): string {
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
  return found.state === 'none' ? open(describeControl(found)) : found.exchange
}

/** The member of the target file that the answer calls unknown: an object or model. */
function memberToCheck(
  given: Given,
  operation: OperationId,
  exchange: Exchange,
  said: string,
): string | undefined {
  // Only an error of the interface says something about objects: not a page, another server, or a missing path.
  if (exchange.response?.tpe === undefined || given.target.baseUrl.endsWith('/v1')) return undefined
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
  if (isOpen(found) || found.state === 'none') return undefined
  const { state, exchange, valid } = found
  if (state === 'refused') return isOwnBreakdown(exchange) ? exchange : undefined
  const purpose = { requirement: null, role: 'control' } as const
  const name = `valid request of ${operation} after one that broke`
  let granted = 0
  const seen = await settle(client, () => {
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
  const valid = await once(client, `valid requests of ${operation} after one that broke`, () =>
    breaksOnValid(client, given, operation),
  )
  if (valid || !hasExtraRole(given, operation, jsonOf(broken.probe))) return valid
  // What only the declared body has may break the server without a fault, such as the tools of a chat.
  const whole = await wholeControl(client, given, operation)
  const isOver = isOpen(whole) || whole.state !== 'refused'
  return !isOver && isOwnBreakdown(whole.exchange) ? whole.exchange : undefined
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
