import type fc from 'fast-check'
import type { Pairs } from '../../catalogue/answers.ts'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import {
  type Effect,
  operation as operationOf,
  type OperationId,
} from '../../catalogue/operations.ts'
import { type Client, type Given, orElse } from '../../harness/client/index.ts'
import {
  type Ask,
  countsAsGranted,
  isGranted,
  type Journal,
  type Probe,
  type Verdict,
} from '../../harness/journal/index.ts'
import { ask, type CheckContext } from '../../harness/run/index.ts'
import { otherApplications, type OtherObject } from '../../harness/target/index.ts'
import { once } from './created.ts'
import type { CaseRule, Look } from './rules.ts'
import {
  drawFrom,
  isDeclared,
  type Known,
  type OfTarget,
  placeholderDraft,
  randomFor,
  sampled,
  validDraft,
  validRequest,
} from './valid-request.ts'

/** A request and its accepted answers, both known before anything is sent. */
export interface Case {
  /** The one fault; continues the request line. */
  readonly what: string
  readonly fault?: string | undefined
  readonly expects?: Pairs | undefined
  change(valid: Probe): Probe
  readonly effect?: Effect
  /** After all other cases, or at the end of the run; default: at once. */
  readonly when?: 'after the others' | 'at the end'
  /** Sent only if the target accepts valid requests there. */
  readonly at?: 'other path' | 'other spelling' | OtherObject
  /** The valid request for that object: if it is refused now, the object is gone, and the fault proves nothing. */
  readonly object?: (valid: Probe) => Probe
  /**
   * The valid request with an addition of this case, which a target may not support: sent once per run, and must be
   * accepted.
   */
  readonly control?: ((valid: Probe) => Probe) | undefined
  /** A request that shows conversion by the server: if accepted too, accepting this one is not a fault. */
  readonly coercion?: ((valid: Probe) => Probe) | undefined
  /** Sent immediately after a request of the other kind, valid or refused, whose leftovers must not change the answer. */
  readonly isBehind?: true
  /** Cases combined in it, each with fewer faults: sent if its answer does not settle them. */
  readonly parts?: readonly Case[]
  /** A refusal also settles all parts. */
  readonly isConclusive?: boolean
  readonly ruleOf?: (sender: Sender) => CaseRule['judge']
  /**
   * Some targets accept it. It goes to an object of the run, if there is one: in a declared one it would stay, and the
   * next run would get another answer.
   */
  readonly mayStay?: boolean
}

/** The control as a case: another requirement sends it, or the run sends it once. */
export const controlCase: Case = { what: 'with a valid request', change: (valid) => valid }

export interface Sender {
  readonly client: Client
  valid(): Promise<Probe>
  look(journal: Journal, request: Ask): Look
}

export interface Refusal {
  readonly context: CheckContext
  readonly material: Material
  readonly cases: readonly Case[]
  ruleOf(one: Case): CaseRule
}

/**
 * The cases of a refusal as sent, made once the control was accepted; in order, since each may depend on the previous
 * one. Some need only the first, and the rest takes far longer to make.
 */
export interface Condition {
  casesIn(
    material: Material,
    context: CheckContext,
    valid: () => Promise<Probe>,
  ): Iterable<Case> | Promise<Iterable<Case>>
  readonly inOrder?: boolean
  readonly generated?: Generated | undefined
  readonly judge?: (refusal: Refusal, isEnd: boolean) => Promise<Verdict>
}

/** Cases that only depend on what is declared, and on the keys. */
export interface CaseCondition extends Condition, KnownCases {
  casesIn(
    material: Material,
    context: Pick<CheckContext, 'given'>,
    valid: () => Promise<Probe>,
  ): Iterable<Case> | Promise<Iterable<Case>>
}

export interface Material extends Known {
  readonly requirement: CatalogueRequirement
  readonly operation: OperationId
  /** As far as known before anything is sent. */
  readonly valid: Probe
}

/** The cases of a requirement; throws `NotExercised` if the target declares too little for any. */
export type Cases = (material: Material) => readonly Case[]

export type Generated = (material: Material) => fc.Arbitrary<Case> | undefined

export interface KnownCases {
  readonly cases: Cases
  readonly generated?: Generated
}

/** Throws `NotExercised` if the target does not declare the valid request. */
export function materialOf(
  { target, options, objects }: Known,
  requirement: CatalogueRequirement,
  operation: OperationId,
): Material {
  const known = { target, options, objects }
  // Keys can be checked with any request.
  const isAny = requirement.fault === 'credentials' && !isDeclared(known, operation)
  const valid = isAny ? placeholderDraft(known, operation) : validDraft(known, operation)
  return { ...known, requirement, operation, valid }
}

/** The number of requests, with or without parts, as if no combined case settled its own. */
export const countAll = (cases: readonly Case[], withParts = true): number =>
  cases.reduce((sum, one) => {
    const own = one === controlCase ? 0 : one.isBehind ? 2 : 1
    return sum + own + (withParts ? countAll(one.parts ?? []) : 0)
  }, 0)

/** The number of cases that may be accepted and make the target generate. */
export const countGenerating = (cases: readonly Case[]): number =>
  cases
    .filter((one) => one.effect === 'generates')
    .reduce((sum, { parts = [] }) => sum + Math.max(1, countGenerating(parts)), 0)

/** A quick run sends one named case, and none at the end. */
export function quickCases(material: Material, all: readonly Case[]): readonly Case[] {
  const early = all.filter((one) => !one.when)
  return sampled(material, material.requirement.id, early)
}

export function otherPathOf(given: OfTarget, id: OperationId): string | undefined {
  const { path, otherPaths } = operationOf(id)
  const own = given.target.operations[id]?.path ?? path
  return otherPaths.length === 0 ? undefined : [path, ...otherPaths].find((one) => one !== own)
}

/** A wrong or missing type: a server may check only types there. */
const isOfType = ({ fault = '' }: Case): boolean =>
  /^(?:absent|null|boolean|number|string|array|object) @ /.test(fault)

/**
 * What one path refuses, the other must refuse too: two cases also go there, chosen by the seed, one about a type and
 * one about a value, if available.
 */
export function atOtherPath(material: Material, named: readonly Case[]): Case[] {
  const { requirement, operation } = material
  const path = otherPathOf(material, operation)
  if (path === undefined) return []
  const random = randomFor(material, `other path of ${requirement.id}`)
  return [named.filter(isOfType), named.filter((one) => !isOfType(one))]
    .flatMap((group) => drawFrom(group, random) ?? [])
    .map((one) => ({
      ...one,
      what: `${one.what}, at the path ${path}`,
      change: (valid) => ({ ...one.change(valid), path }),
      at: 'other path',
    }))
}

interface CaseOptions {
  readonly generated?: Generated | undefined
  /** In sequence: each may depend on the previous one. A quick run sends only the first. */
  readonly inOrder?: true
}

export function byCases(cases: Cases, options: CaseOptions = {}): CaseCondition {
  const { generated, inOrder = false } = options
  function* chosen(material: Material): Iterable<Case> {
    const all = cases(material)
    const named = all.filter((one) => !one.when && !one.coercion)
    if (material.options.depth === 'full') {
      yield* all
      yield* atOtherPath(material, named)
      return yield* forOtherObjects(material, cases)
    }
    if (inOrder) return yield* named.slice(0, 1)
    // A case with its own control takes two requests.
    const plain = named.filter((one) => !one.control)
    yield* quickCases(material, plain.length > 0 ? plain : named)
  }
  return {
    cases: (material) => [...chosen(material)],
    inOrder,
    ...(generated && { generated }),
    casesIn: chosen,
  }
}

/** The cases that can be sent to this target. */
export async function sendable(
  context: CheckContext,
  operation: OperationId,
  cases: readonly Case[],
): Promise<readonly Case[]> {
  const sent: Case[] = []
  for (const one of cases) {
    const { at, mayStay } = one
    if ((at === undefined && !mayStay) || at === 'other spelling') sent.push(one)
    else if (at === 'other path') {
      if (await grantsAtOtherPath(context.client, context.given, operation)) sent.push(one)
    } else {
      const object = await otherObject(context, operation, at ?? 'created')
      if (object) sent.push({ ...one, fault: undefined, object })
      else if (mayStay) sent.push(one)
    }
  }
  return sent
}

function otherObject(context: CheckContext, id: OperationId, other: OtherObject) {
  const { client, given, requirement } = context
  return once(client, `${other} of ${id}`, () =>
    orElse(client, async () => {
      const change = given.options.readOnly ? undefined : await given.others[id]?.(other)
      // The target file says what a declared one accepts.
      if (!change || other !== 'created') return change
      const valid = async (): Promise<Probe> => change(await validRequest(client, given, id))
      // No other requirement sends this request, so the line to repeat a failure names this requirement.
      const by = {
        requirement: requirement.id,
        role: 'control',
        isSuccess: countsAsGranted,
      } as const
      return countsAsGranted(await ask(client, valid, by)) ? change : undefined
    }),
  )
}

/**
 * A request that is wrong for one object is wrong for another: one case goes to each of the others, chosen by the seed. A
 * server may check only the first.
 */
function forOtherObjects(material: Material, cases: Cases): Case[] {
  const { operation, requirement, target } = material
  const { body, params } = operationOf(operation)
  if (body !== 'json' || params === undefined) return []
  const random = randomFor(material, `other object of ${requirement.id}`)
  return otherObjects(material).flatMap((other) => {
    const replaced = inPlaceOfApplication(material, other)
    const resources = { ...target.resources, ...replaced }
    // The valid request is made from what the file declares.
    const file = { ...target.file, resources: { ...target.file.resources, ...replaced } }
    const own = { ...material, target: { ...target, resources, file } }
    const plain = cases({ ...own, valid: validDraft(own, operation) }).filter(
      ({ fault = '', ...one }) =>
        !fault.startsWith('id: ') &&
        !(one.when ?? one.isBehind ?? one.control ?? one.coercion ?? one.ruleOf) &&
        !one.mayStay,
    )
    const chosen = drawFrom(plain, random)
    return chosen ? [ofOtherObject(chosen, other)] : []
  })
}

/** Nobody knows which inputs a created application requires. */
function inPlaceOfApplication(material: Material, other: OtherObject) {
  const { resources } = material.target
  if (operationOf(material.operation).busy === undefined) return {}
  const { application } = resources
  if (other !== 'created') return { application: resources[other] }
  return application && { application: { ...application, requiredInputs: [] } }
}

export const ofOtherObject = (one: Case, other: OtherObject): Case => ({
  ...one,
  what: `${one.what}, for ${other === 'created' ? 'an object of the run' : other}`,
  at: other,
})

/** What the run makes, and the other applications that the target file declares. */
export function otherObjects(material: Material): OtherObject[] {
  const { resources } = material.target
  const { params, busy } = operationOf(material.operation)
  if (params === undefined) return []
  if (!busy) return ['created']
  // Several names may declare one application.
  const byId = new Map(otherApplications.map((name) => [resources[name]?.id, name]))
  for (const id of [undefined, resources.application?.id]) byId.delete(id)
  return [...byId.values(), 'created']
}

async function grantsAtOtherPath(client: Client, given: Given, id: OperationId): Promise<boolean> {
  const path = otherPathOf(given, id)
  if (path === undefined || given.options.readOnly) return false
  return once(client, `other path of ${id}`, async () => {
    const make = async (): Promise<Probe> => ({ ...(await validRequest(client, given, id)), path })
    const purpose = { requirement: null, role: 'control', skipJudging: 'at all' } as const
    const { response } = await ask(client, make, purpose)
    return response !== undefined && isGranted(response)
  })
}
