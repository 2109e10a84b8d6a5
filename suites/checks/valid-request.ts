import { namedId, once, upload, uploadProbe, withOwnContent } from './created.ts'
import {
  missingNeeds,
  missingReason,
  readsDeclared,
  type Scenario,
  type UploadContent,
} from '../../harness/target/index.ts'
import {
  additionOperation,
  type OperationId,
  operation as operationOf,
  operations,
  uploadOperation,
  roleOf,
} from '../../catalogue/operations.ts'
import { grantedRequirement, granting } from '../../catalogue/catalogue.ts'
import { getAt, mergePatch, setAt } from '../../schemas/json.ts'
import {
  type Given,
  type Client,
  draftOf,
  effectOf,
  jsonType,
  orElse,
} from '../../harness/client/index.ts'
import {
  type Credential,
  jsonOf,
  NotExercised,
  type Probe,
  withHeader,
  withJson,
} from '../../harness/journal/index.ts'
import { ask } from '../../harness/run/index.ts'
import { freshUnknownId, type Known, type OfTarget, randomFor } from './values.ts'

export const isDeclared = (known: OfTarget, operation: OperationId): boolean =>
  missingNeeds(known.target.file, granting(operation).needs).length === 0

/** The declared body of an operation whose payload the spec does not show. */
export function bodyOf(known: OfTarget, operation: OperationId): unknown {
  const body = known.target.operations[operation]?.body
  if (body === undefined) throw new NotExercised(`declare operations.${operation}.body`)
  return body
}

export function contentOf(known: OfTarget): UploadContent {
  const content = known.target.operations[uploadOperation]?.content
  if (content === undefined) throw new NotExercised(`declare operations.${uploadOperation}.content`)
  return content
}

export function declaredResource<K extends keyof Given['target']['resources']>(
  known: OfTarget,
  name: K,
) {
  const value = known.target.resources[name]
  if (value === undefined) throw new NotExercised(`declare resources.${name}`)
  return value as NonNullable<typeof value>
}

/** Roles that a valid request has only for a requirement about them: a chat streams and calls tools only then. */
export const extraRoles = (operation: OperationId): string[] =>
  operationOf(operation).members.flatMap((member) => (member.isExtra ? (roleOf(member) ?? []) : []))

/** Whether the declared body has such members, so that a scenario sends more than the valid request. */
export function declaresMore(known: OfTarget, operation: OperationId): boolean {
  const { body, fields = {} } = known.target.operations[operation] ?? {}
  const has = (role: string): boolean => getAt(body, fields[role] ?? `/${role}`) !== undefined
  return !known.target.scenarios[grantedRequirement[operation]] && extraRoles(operation).some(has)
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

function paramsOf(known: OfTarget, operation: OperationId): Record<string, string> {
  const entries = Object.entries(operationOf(operation).params ?? {})
  return Object.fromEntries(
    entries.map(([name, { declaredAt }]) => {
      // The object to destroy is created first.
      if (operationOf(operation).effect === 'destroys') return [name, anyUuid]
      const declared = getAt(known.target.file, declaredAt)
      const isId = typeof declared === 'string' || typeof declared === 'number'
      return [name, isId ? String(declared) : knownIdLike(known, operation, name)]
    }),
  )
}

function wholeBody(known: OfTarget, operation: OperationId): unknown {
  const { members, example } = operationOf(operation)
  return members.reduce<unknown>((body, member) => {
    if (member.declaredAt === undefined) return body
    const value = getAt(known.target.file, member.declaredAt)
    if (value === undefined)
      throw new NotExercised(`declare ${member.declaredAt.slice(1).replaceAll('/', '.')}`)
    return setAt(body, member.at, value)
  }, example)
}

const anyKey: Credential = { shown: '', full: true }

/** `plain`: without members that only some requirements need. */
type Extent = 'whole' | 'plain'

/** A run makes each of them hundreds of times. */
const drafts = new WeakMap<Known['target'], Map<string, Probe>>()

/** The declared request as known in advance: with made-up ids for objects that a run creates, and declared names. */
export function draftRequest(
  known: Known,
  operation: OperationId,
  extent: Extent = 'plain',
): Probe {
  const own = drafts.get(known.target) ?? new Map<string, Probe>()
  drafts.set(known.target, own)
  const name = `${operation} ${extent}`
  const draft = own.get(name) ?? newDraft(known, operation, extent)
  own.set(name, draft)
  return draft
}

function newDraft(known: Known, operation: OperationId, extent: Extent): Probe {
  const { target } = known
  const record = operationOf(operation)
  const effect = readsDeclared(operation, target.file) ? 'none' : granting(operation).effect
  const parts = { params: paramsOf(known, operation), credential: anyKey, effect }
  if (record.body === 'none') return draftOf(target, record, parts)
  if (record.body === 'raw')
    return { ...draftOf(target, record, parts), body: contentOf(known).bytes }
  const left = extent === 'whole' ? [] : extraRoles(operation)
  const json = record.isWhole
    ? wholeBody(known, operation)
    : withoutRoles(known, operation, bodyOf(known, operation), left)
  return draftOf(target, record, { ...parts, json })
}

export function validDraft(known: Known, operation: OperationId): Probe {
  const scenario = known.target.scenarios[grantedRequirement[operation]]
  return scenario
    ? changedBy(scenario, draftRequest(known, operation, 'whole'))
    : draftRequest(known, operation)
}

/**
 * The draft for an operation without a declaration: `{}` as body, unknown ids in the path. It creates nothing on a
 * conforming server.
 */
export function placeholderDraft(known: Known, id: OperationId): Probe {
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
 * scenario of the requirement for valid requests is applied. Throws `NotExercised` if something is not declared.
 */
export async function validRequest(
  client: Client,
  given: Given,
  operation: OperationId,
): Promise<Probe> {
  const scenario = given.target.scenarios[grantedRequirement[operation]]
  if (!scenario) return plainRequest(client, given, operation, 'plain')
  const probe = await applyScenario(client, given, scenario, operation)
  return { ...probe, effect: effectOf(given, operation) }
}

/** A valid request; an upload has new content. */
export const distinctRequest = (
  client: Client,
  given: Given,
  operation: OperationId,
): Promise<Probe> =>
  operation === uploadOperation
    ? uploadProbe(given, withOwnContent(given, contentOf(given)))
    : validRequest(client, given, operation)

/** Each valid request is about an object made for it. A refusal has no effect on it: refused requests share one. */
export function needsOwnObject(id: OperationId): boolean {
  const { freshFileAt, effect } = operationOf(id)
  return freshFileAt !== undefined || effect === 'destroys'
}

/** Shares one request under that name. If its upload was refused, each caller makes its own. */
export const sharedRequest = (
  client: Client,
  name: string,
  make: () => Promise<Probe>,
): Promise<Probe> => orElse(client, () => once(client, name, make), make)

export async function plainRequest(
  client: Client,
  given: Given,
  operation: OperationId,
  extent: Extent,
): Promise<Probe> {
  const missing = missingReason(given.target.file, granting(operation).needs)
  if (missing !== undefined) throw new NotExercised(missing)
  const make = given.requests[operation]
  if (make) return make()
  const { body, creates, effect, freshFileAt } = operationOf(operation)
  if (body === 'raw') return uploadProbe(given, contentOf(given))
  const draft = { ...draftRequest(given, operation, extent), credential: await given.keys.full() }
  if (effect === 'destroys') return withOwnObject(client, given, draft, operation)
  if (freshFileAt !== undefined)
    return withJson(draft, await freshAddition(client, given, freshFileAt))
  return creates?.name && 'role' in creates.name
    ? withOwnName(given, draft, given.target.operations[operation]?.fields[creates.name.role])
    : draft
}

/**
 * A request about an object created for it, so that nothing else can be destroyed. Throws `NotExercised` if the
 * creation fails.
 */
async function withOwnObject(
  client: Client,
  given: Given,
  draft: Probe,
  operation: OperationId,
): Promise<Probe> {
  for (const { id: maker } of operations)
    for (const use of operationOf(maker).creates?.usedBy ?? [])
      if (use.operation === operation && 'param' in use)
        return {
          ...draft,
          params: { ...draft.params, [use.param]: await makeOne(client, given, maker) },
        }
  throw new Error(`no operation makes what ${operation} destroys`)
}

/** Creates an object for no requirement, and returns its id; throws `NotExercised` if refused or without an id. */
export async function makeOne(client: Client, given: Given, maker: OperationId): Promise<string> {
  if (maker === uploadOperation)
    return upload(client, given, withOwnContent(given, contentOf(given)))
  const purpose = { requirement: null, role: 'setup' } as const
  return namedId(given, await ask(client, () => validRequest(client, given, maker), purpose))
}

function withOwnName(given: Given, draft: Probe, pointer = '/name'): Probe {
  const body = jsonOf(draft)
  const own = getAt(body, pointer)
  const creates = `${typeof own === 'string' ? own : 'conform'}${given.objects.suffix()}`
  return { ...withJson(draft, setAt(body, pointer, creates)), creates }
}

async function freshAddition(client: Client, given: Given, role: string): Promise<unknown> {
  const { operations: declared } = given.target
  const pointer = declared[additionOperation]?.fields[role]
  // A refusal needs no new file, and a read-only run uploads none.
  if (given.options.readOnly || pointer === undefined || !declared[uploadOperation]?.content)
    return bodyOf(given, additionOperation)
  return additionOf(given, await upload(client, given, contentOf(given)), pointer)
}

export function additionOf(given: Given, id: string, pointer: string): unknown {
  const body = bodyOf(given, additionOperation)
  return setAt(body, pointer, typeof getAt(body, pointer) === 'number' ? Number(id) : id)
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
  plain = (): Promise<Probe> => plainRequest(client, given, operation, 'whole'),
): Promise<Probe> {
  const usesPlaceholder = bringsBody(scenario) && !isDeclared(given, operation)
  const base = usesPlaceholder ? await placeholderRequest(given, operation) : await plain()
  const credential = scenario.key ? await given.keys.of(scenario.key) : base.credential
  return { ...changedBy(scenario, base), credential }
}

function changedBy(scenario: Scenario, base: Probe): Probe {
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
  const own: unknown = brings ? scenario.body : JSON.parse(String(probe.body ?? 'null'))
  const typed = probe.headers.some((header) => header.name.toLowerCase() === 'content-type')
  return withJson(
    typed ? probe : withHeader(probe, jsonType.name, jsonType.value),
    merges ? mergePatch(own, scenario.merge) : own,
  )
}
