import {
  missingNeeds,
  missingReason,
  readsDeclared,
  type Scenario,
  type UploadContent,
} from '../target-file/index.ts'
import {
  type OperationId,
  operation,
  operations,
  additionOperation,
  operation as operationOf,
  uploadOperation,
} from '../../catalogue/operations.ts'
import { getAt, setAt } from '../../schemas/json.ts'
import { freshUnknownId, type Known, randomOf, seedFor } from './values.ts'
import {
  type Credential,
  type Probe,
  type Run,
  draftOf,
  effectOf,
  NotExercised,
  oncePerRun,
  operationProbe,
  orElse,
  withJson,
} from '../engine/index.ts'
import { grantedRequirement, requirementOf } from '../../catalogue/catalogue.ts'
import { roleOf } from '../../catalogue/operation.ts'
import { upload, uploadProbe, withOwnContent } from './upload.ts'
import { changedBy, bringsBody } from './changed-by-scenario.ts'

/** Ids of an unknown form are taken for uuids of version 4. */
const anyUuid = '6f1d2c3b-8a4e-4b5f-9c6d-7e8f90a1b2c3'

/** An id after whose shape an unknown one of that path parameter is made: one that is declared for the operation, or for another. */
function knownIdLike(run: Pick<Known, 'target'>, id: OperationId, parameter: string): string {
  const places = [operation(id), ...operations.map((other) => operation(other.id))].flatMap(
    ({ params }) => params?.[parameter]?.declaredAt ?? [],
  )
  const ids = places.map((place) => getAt(run.target.file, place))
  return ids.find((known) => typeof known === 'string') ?? anyUuid
}

/** A request of an operation for which nothing is declared: `{}` for a body, unknown ids in the path. It creates nothing on a conforming server. */
export async function placeholderRequest(run: Run, id: OperationId): Promise<Probe> {
  return { ...placeholderDraft(run, id), credential: await run.keys.full() }
}

/** Such a request, as far as it is known before anything is sent. */
export function placeholderDraft(known: Known, id: OperationId): Probe {
  const { params: names = {}, body } = operation(id)
  const random = randomOf(seedFor(known.options.seed, `stand-in ${id}`))
  const params = Object.fromEntries(
    Object.keys(names).map((name) => [
      name,
      freshUnknownId(known, knownIdLike(known, id, name), random),
    ]),
  )
  const parts = { params, credential: anyKey, ...(body === 'none' ? {} : { json: {} }) }
  return draftOf(known.target, operation(id), parts)
}

/**
 * The operation's valid request, as the target declares it, fresh each time: what it creates gets a name of its own, a
 * file to be added to a graph is uploaded first. A scenario for the granted requirement is applied to it.
 * Throws `NotExercised` if something is not declared.
 */
export async function validRequest(run: Run, operation: OperationId): Promise<Probe> {
  const scenario = run.target.scenarios[grantedRequirement[operation]]
  if (!scenario) return plainRequest(run, operation, 'plain')
  const whole = (): Promise<Probe> => plainRequest(run, operation, 'whole')
  const probe = await applyScenario(run, scenario, operation, whole)
  return { ...probe, effect: effectOf(run, operation) }
}

/** Shares one request among all that ask by that name. If its upload was refused, each makes its own. */
export function sharedRequest(run: Run, name: string, make: () => Promise<Probe>): Promise<Probe> {
  return orElse(run, () => oncePerRun(run, name, make), make)
}

/**
 * The request that the target declares, without a scenario for it.
 * @param extent `whole`, or without what a request has only if a requirement is about it
 */
export async function plainRequest(
  run: Run,
  operation: OperationId,
  extent: 'whole' | 'plain',
): Promise<Probe> {
  const missing = missingReason(run.target.file, requirementOf(grantedRequirement[operation]).needs)
  if (missing !== undefined) throw new NotExercised(missing)
  for (const { requests } of run.hooks) {
    const make = requests?.[operation]
    if (make) return make(run)
  }
  const { body, creates, freshFileAt } = operationOf(operation)
  if (body === 'raw') return uploadProbe(run, contentOf(run))
  if (creates?.name && 'role' in creates.name)
    return namedCreation(run, operation, creates.name.role)
  const draft = { ...draftRequest(run, operation, extent), credential: await run.keys.full() }
  return freshFileAt === undefined ? draft : withJson(draft, await freshAddition(run))
}

/** Stands in a draft for the key that is put in when it is sent. */
const anyKey: Credential = { shown: '', full: true }

/**
 * The request that the target declares, as far as it is known before anything is sent: ids of what a run makes first are made
 * up, and names are those that are declared.
 */
export function draftRequest(
  known: Known,
  operation: OperationId,
  extent: 'whole' | 'plain' = 'plain',
): Probe {
  const { body, isWhole } = operationOf(operation)
  const { file } = known.target
  const { effect } = requirementOf(grantedRequirement[operation])
  const parts = {
    params: paramsOf(known, operation),
    credential: anyKey,
    effect: readsDeclared(operation, file) ? 'none' : effect,
  } as const
  if (body === 'none') return draftOf(known.target, operationOf(operation), parts)
  if (body === 'raw')
    return { ...draftOf(known.target, operationOf(operation), parts), body: contentOf(known).bytes }
  const left = extent === 'whole' ? [] : extraRoles(operation)
  const json = isWhole
    ? wholeBody(known, operation)
    : withoutRoles(known, operation, bodyOf(known, operation), left)
  return draftOf(known.target, operationOf(operation), { ...parts, json })
}

/** The draft of the operation's valid request, with the scenario that the target declares for it. */
export function validDraft(known: Known, operation: OperationId): Probe {
  const scenario = known.target.scenarios[grantedRequirement[operation]]
  return scenario
    ? changedBy(scenario, draftRequest(known, operation, 'whole'))
    : draftRequest(known, operation)
}

/** Path parameters as they are declared; an id that the run makes first has the form of a declared one. */
function paramsOf(run: Pick<Known, 'target'>, operation: OperationId): Record<string, string> {
  const entries = Object.entries(operationOf(operation).params ?? {})
  return Object.fromEntries(
    entries.map(([name, { declaredAt }]) => {
      const declared = getAt(run.target.file, declaredAt)
      const isId = typeof declared === 'string' || typeof declared === 'number'
      return [name, isId ? String(declared) : knownIdLike(run, operation, name)]
    }),
  )
}

function declaredValue(run: Pick<Known, 'target'>, pointer: string): unknown {
  const value = getAt(run.target.file, pointer)
  if (value === undefined)
    throw new NotExercised(`declare ${pointer.slice(1).replaceAll('/', '.')}`)
  return value
}

/** A body that the spec shows whole, with what the target declares of it. */
function wholeBody(run: Pick<Known, 'target'>, operation: OperationId): unknown {
  const { members, example } = operationOf(operation)
  return members.reduce<unknown>(
    (body, { at, declaredAt }) =>
      declaredAt === undefined ? body : setAt(body, at, declaredValue(run, declaredAt)),
    example,
  )
}

/** Roles that a valid request has only if a requirement is about them: a chat streams and calls tools only then. */
export function extraRoles(operation: OperationId): string[] {
  const extra = operationOf(operation).members.filter(({ isExtra }) => isExtra)
  return extra.flatMap((member) => roleOf(member) ?? [])
}

/** Whether the declared body has such members, so that a scenario sends more than the valid request does. */
export function declaresMore(run: Pick<Known, 'target'>, operation: OperationId): boolean {
  const { body, fields = {} } = run.target.operations[operation] ?? {}
  const isPlain = run.target.scenarios[grantedRequirement[operation]] === undefined
  return (
    isPlain &&
    extraRoles(operation).some((role) => getAt(body, fields[role] ?? `/${role}`) !== undefined)
  )
}

/** A resource of the target file; throws `NotExercised` if it is not declared. */
export function declaredResource<K extends keyof Run['target']['resources']>(
  run: Pick<Known, 'target'>,
  name: K,
) {
  const value = run.target.resources[name]
  if (value === undefined) throw new NotExercised(`declare resources.${name}`)
  return value as NonNullable<typeof value>
}

/** The declared body of an operation whose payload the spec does not show. */
export function bodyOf(run: Pick<Known, 'target'>, operation: OperationId): unknown {
  const body = run.target.operations[operation]?.body
  if (body === undefined) throw new NotExercised(`declare operations.${operation}.body`)
  return body
}

export function contentOf(run: Pick<Known, 'target'>): UploadContent {
  const content = run.target.operations[uploadOperation]?.content
  if (content === undefined) throw new NotExercised(`declare operations.${uploadOperation}.content`)
  return content
}

/** A valid request; if it is an upload, of content that nobody has uploaded before. */
export function distinctRequest(run: Run, operation: OperationId): Promise<Probe> {
  const isUpload = operation === uploadOperation
  return isUpload
    ? uploadProbe(run, withOwnContent(run, contentOf(run)))
    : validRequest(run, operation)
}

/** The declared body of an addition, with that file. */
export function additionOf(run: Run, id: string, pointer: string): unknown {
  const body = bodyOf(run, additionOperation)
  return setAt(body, pointer, typeof getAt(body, pointer) === 'number' ? Number(id) : id)
}

/** Each addition adds a freshly uploaded file, if the target declares how to upload one and where the body has its id. */
async function freshAddition(run: Run): Promise<unknown> {
  const body = bodyOf(run, additionOperation)
  const { freshFileAt = '' } = operationOf(additionOperation)
  const pointer = run.target.operations[additionOperation]?.fields[freshFileAt]
  // A refusal needs no fresh file, and a run that only reads uploads none.
  if (run.options.readOnly) return body
  if (pointer === undefined || run.target.operations[uploadOperation]?.content === undefined)
    return body
  return additionOf(run, await upload(run, contentOf(run)), pointer)
}

export function withoutRoles(
  run: Pick<Known, 'target'>,
  operation: OperationId,
  body: unknown,
  roles: readonly string[],
): unknown {
  const fields = run.target.operations[operation]?.fields ?? {}
  const pointers = roles.flatMap((role) => fields[role] ?? [])
  return pointers.reduce(
    (plain, pointer) =>
      getAt(plain, pointer) === undefined ? plain : setAt(plain, pointer, undefined),
    body,
  )
}

/** Gives what a run creates a name of its own. */
async function namedCreation(run: Run, operation: OperationId, role: string): Promise<Probe> {
  const body = bodyOf(run, operation)
  const pointer = run.target.operations[operation]?.fields[role] ?? `/${role}`
  const own = getAt(body, pointer)
  const name = `${typeof own === 'string' ? own : 'conform'}${run.objects.suffix()}`
  const json = setAt(body, pointer, name)
  return {
    ...(await operationProbe(run, operation, { json, effect: effectOf(run, operation) })),
    creates: name,
  }
}

export function isDeclared(run: Pick<Known, 'target'>, operation: OperationId): boolean {
  return (
    missingNeeds(run.target.file, requirementOf(grantedRequirement[operation]).needs).length === 0
  )
}

/** The operation's valid request, changed as the scenario says; a request of its own if only the scenario's body is declared. */
export async function applyScenario(
  run: Run,
  scenario: Scenario,
  operation: OperationId,
  plain: () => Promise<Probe>,
): Promise<Probe> {
  const usesPlaceholder = bringsBody(scenario) && !isDeclared(run, operation)
  const base = usesPlaceholder ? await placeholderRequest(run, operation) : await plain()
  const credential = scenario.key ? await run.keys.of(scenario.key) : base.credential
  return { ...changedBy(scenario, base), credential }
}
