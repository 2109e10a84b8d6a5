import type fc from 'fast-check'
import type { Pairs } from '../../catalogue/answers.ts'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import {
  type Effect,
  jsonKinds,
  operationOf,
  type OperationId,
} from '../../catalogue/operations.ts'
import type { Client, Given } from '../../harness/client/index.ts'
import {
  countsAsGranted,
  isOpen,
  type Journal,
  jsonOf,
  type Making,
  type Open,
  type Probe,
  type Verdict,
  withChange,
  withJson,
  open,
} from '../../harness/journal/index.ts'
import { send, type CheckContext, type Judge, whySilent } from '../../harness/run/index.ts'
import { otherApplications, type OtherObject } from '../../harness/target/index.ts'
import { isTaken, once } from './created.ts'
import { type CaseRule, type CaseVerdict, generatedBy, type InOrder } from './rules.ts'
import {
  type Control,
  isDeclared,
  type Basis,
  type OfTarget,
  placeholderDraft,
  validDraft,
  validRequest,
} from './valid-request.ts'
import { drawFrom, randomFor, sampled, seedFor } from './random.ts'

export type Fault = MemberFault | PartFault

interface MemberFault {
  readonly part: 'member'
  readonly kind: string
  /** Its place in the record of the operation. */
  readonly at: string
  /** In an item after the valid ones. */
  readonly isLater?: boolean
}

interface PartFault {
  readonly part: 'body' | 'id' | 'file' | 'key' | 'content type' | 'JSON'
  readonly kind: string
}

export const inMember = (kind: string, at: string): MemberFault => ({ part: 'member', kind, at })

/** Names faults as the fault matrix does. */
export const nameOfFaults = (faults: readonly Fault[] = []): string | undefined =>
  faults
    .map((fault) => {
      const { kind, part } = fault
      if (part === 'member') return `${kind} @ ${fault.at}${fault.isLater ? ', later' : ''}`
      return part === 'body' || part === 'id' || part === 'file' ? `${part}: ${kind}` : kind
    })
    .join(' + ') || undefined

/** A request and its accepted answers, both known before anything is sent. */
export interface Case {
  /** The one fault; continues the request line. */
  readonly what: string
  /** Its one fault; several if one value, or several at once, have several. */
  readonly faults?: readonly Fault[] | undefined
  /** Refused because no object has an id that it sends: only a run knows that. */
  readonly isUnknownId?: boolean | undefined
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
  /** Instead of comparing the answer with the accepted pairs. */
  readonly judge?: (journal: Journal, refusal: Refusal) => CaseVerdict
  /**
   * Some targets accept it. It goes to an object of the run, if there is one: in a declared one it would stay, and the
   * next run would get another answer.
   */
  readonly mayStay?: boolean
}

/** A request that a conforming target refuses has no effect. */
export const refused = (probe: Probe): Probe => ({ ...probe, effect: 'none' })

export const withBody = (probe: Probe, body: unknown): Probe => refused(withJson(probe, body))

/** The control as a case, which the run sends once, whichever requirement asks for it. */
export const controlCase: Case = { what: 'with a valid request', change: (valid) => valid }

/** A refusal in a run: what the rules of its cases share. */
export interface Refusal {
  readonly context: CheckContext
  readonly material: Material
  readonly control: Control
  /** The accepted pairs, if a case does not name others. */
  readonly expects: Pairs
  /** Makes the valid request that a fault is put into. */
  valid(): Making
}

export type MadeCases = readonly Case[] | Open

/** The cases of a refusal as sent, made once the control was accepted. */
export interface Condition {
  casesIn(
    material: Material,
    context: CheckContext,
    valid: () => Making,
  ): MadeCases | Promise<MadeCases>
  /** In sequence: each may depend on the previous one. A quick run sends only the first. */
  readonly inOrder?: boolean | undefined
  readonly generated?: Generated | undefined
  readonly judge?: (refusal: Refusal, cases: readonly Case[], isEnd: boolean) => Promise<Verdict>
}

/** Cases that only depend on what is declared, and on the keys. */
export interface CaseCondition extends Condition, KnownCases {
  casesIn(
    material: Material,
    context: Pick<CheckContext, 'given'>,
    valid: () => Making,
  ): MadeCases | Promise<MadeCases>
}

export interface Material extends Basis {
  readonly requirement: CatalogueRequirement
  readonly operation: OperationId
  /** As far as known before anything is sent. */
  readonly valid: Probe
}

/** The cases of a requirement; open if the target declares too little for any. */
export type Cases = (material: Material) => MadeCases

export type Generated = (material: Material) => fc.Arbitrary<Case> | undefined

export interface KnownCases {
  readonly cases: Cases
  /** Those that recorded traffic is compared with: of any seed, at their own path and object. */
  readonly recorded?: Cases
  readonly generated?: Generated | undefined
}

/** Cases, and another way to judge them than by the accepted pairs. */
export interface JudgedCases extends KnownCases {
  readonly judge: Judge
}

/** Open if the target does not declare the valid request. */
export function materialOf(
  { target, options, objects }: Basis,
  requirement: CatalogueRequirement,
  operation: OperationId,
): Material | Open {
  const known = { target, options, objects }
  // Keys can be checked with any request.
  const isOfKey = requirement.fault === 'credentials'
  const isAny = isOfKey && !isDeclared(known, operation)
  const valid = isAny ? placeholderDraft(known, operation) : validDraft(known, operation)
  if (isOpen(valid)) return valid
  if (operationOf(operation).body === 'json' && !isOfKey && jsonOf(valid) === undefined)
    return open('the valid request has no JSON body to change')
  return { ...known, requirement, operation, valid }
}

/** The number of requests, with or without parts, as if no combined case settled its own. */
export const countAll = (cases: readonly Case[], withParts = true): number =>
  cases.reduce((sum, one) => {
    const own = one === controlCase ? 0 : one.isBehind ? 2 : 1
    return sum + own + (withParts ? countAll(one.parts ?? []) : 0)
  }, 0)

/** The number of cases that may be accepted and have this effect, or of their parts where those are more. */
export const countEffects = (cases: readonly Case[], effect: Effect, withParts = true): number =>
  cases
    .filter((one) => one.effect === effect)
    .reduce(
      (sum, { parts = [] }) =>
        sum + Math.max(1, withParts ? countEffects(parts, effect, withParts) : 0),
      0,
    )

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
const typeFaults: readonly string[] = ['absent', ...jsonKinds]
const isOfType = (one: Case): boolean =>
  one.faults?.some((fault) => fault.part === 'member' && typeFaults.includes(fault.kind)) ?? false

/**
 * What one path refuses, the other must refuse too: two cases also go there, chosen by the seed, one about a type and
 * one about a value, if available.
 */
function atOtherPath(material: Material, named: readonly Case[]): Case[] {
  const { requirement, operation } = material
  const path = otherPathOf(material, operation)!
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

export function byCases(
  cases: Cases,
  options: Pick<Condition, 'generated' | 'inOrder'> = {},
): CaseCondition {
  const chosen: Cases = (material) => {
    const all = cases(material)
    if (isOpen(all)) return all
    const named = all.filter((one) => !one.when && !one.coercion)
    if (material.options.depth === 'full') {
      const { otherPaths, params } = operationOf(material.operation)
      const elsewhere = otherPaths.length > 0 ? atOtherPath(material, named) : []
      return [...all, ...elsewhere, ...(params ? forOtherObjects(material, cases, all) : [])]
    }
    if (options.inOrder) return named.slice(0, 1)
    // A case with its own control takes two requests.
    const plain = named.filter((one) => !one.control)
    return quickCases(material, plain.length > 0 ? plain : named)
  }
  return { ...options, cases: chosen, casesIn: chosen, recorded: cases }
}

/**
 * The cases that can be sent to this target. Those whose object or path gave no answer are among them, and stay open: their
 * requirement does not pass without them.
 */
export async function sendable(
  context: CheckContext,
  operation: OperationId,
  cases: readonly Case[],
): Promise<readonly Case[]> {
  const sent: Case[] = []
  const openCase = (one: Case, why: Open): Case => ({ ...one, judge: () => why })
  for (const one of cases) {
    const { at, mayStay } = one
    if ((at === undefined && !mayStay) || at === 'other spelling') sent.push(one)
    else if (at === 'other path') {
      const grants = await grantsAtOtherPath(context.client, context.given, operation)
      if (isOpen(grants)) sent.push(openCase(one, grants))
      else if (grants) sent.push(one)
    } else {
      const object = await otherObject(context, operation, at ?? 'created')
      if (isOpen(object)) sent.push(openCase(one, object))
      else if (object) sent.push({ ...one, faults: undefined, object })
      else if (mayStay) sent.push(one)
    }
  }
  return sent
}

function otherObject(context: CheckContext, id: OperationId, other: OtherObject) {
  const { client, given, requirement } = context
  return once(client, `${other} of ${id}`, async () => {
    const change = given.options.readOnly ? undefined : await given.changeTo(other, id)
    if (!change || isOpen(change)) return undefined
    // The target file says what a declared one accepts.
    if (other !== 'created') return change
    const valid = await withChange(validRequest(client, given, id), change)
    // What it lacks, other requirements say.
    if (isOpen(valid)) return undefined
    // No other requirement sends this request, so the line to repeat a failure names this requirement.
    const by = {
      requirement: requirement.id,
      role: 'control',
      isSuccess: countsAsGranted,
    } as const
    const exchange = await send(client, valid, by)
    if (isOpen(exchange)) return exchange
    // An object that is refused is judged elsewhere; without an answer, nothing says that it is.
    const why = whySilent(exchange)
    if (why !== undefined) return open(why)
    return countsAsGranted(exchange) ? change : undefined
  })
}

/**
 * A request that is wrong for one object is wrong for another: one case goes to each of the others, chosen by the seed. A
 * server may check only the first.
 */
function forOtherObjects(material: Material, cases: Cases, own: readonly Case[]): Case[] {
  if (operationOf(material.operation).body !== 'json') return []
  const random = randomFor(material, `other object of ${material.requirement.id}`)
  return otherObjects(material).flatMap((other) => {
    const all = casesForApplication(material, cases, other) ?? own
    if (isOpen(all)) return []
    const plain = all.filter(
      (one) =>
        !one.faults?.some((fault) => fault.part === 'id') &&
        !(one.when ?? one.isBehind ?? one.control ?? one.coercion ?? one.judge) &&
        !one.mayStay,
    )
    const chosen = drawFrom(plain, random)
    return chosen ? [ofOtherObject(chosen, other)] : []
  })
}

/** An application has its own inputs; undefined for other objects. */
function casesForApplication(material: Material, cases: Cases, other: OtherObject) {
  const { operation, target } = material
  if (operationOf(operation).busy === undefined) return undefined
  const { application: declared, ...others } = target.resources
  // Nobody knows which inputs a created application requires.
  const created = declared && { ...declared, requiredInputs: [] }
  const application = other === 'created' ? created : others[other]
  const resources = { ...others, application }
  // The valid request is made from what the file declares.
  const file = { ...target.file, resources: { ...target.file.resources, application } }
  const own = { ...material, target: { ...target, resources, file } }
  const valid = validDraft(own, operation)
  return isOpen(valid) ? valid : cases({ ...own, valid })
}

/** Judges generated cases, for a full run; undefined if there are none. */
export function generatedRule(
  material: Material,
  generated: Generated,
  numRuns: number,
  ruleOf: (one: Case) => CaseRule,
): ((journal: Journal) => InOrder) | undefined {
  const arbitrary = material.options.depth === 'full' ? generated(material) : undefined
  const seed = seedFor(material, material.requirement.id)
  return arbitrary && generatedBy({ arbitrary, ruleOf, seed, numRuns })
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

async function grantsAtOtherPath(
  client: Client,
  given: Given,
  id: OperationId,
): Promise<boolean | Open> {
  const path = otherPathOf(given, id)
  if (path === undefined || given.options.readOnly) return false
  return once(client, `other path of ${id}`, async () => {
    const make = () => withChange(validRequest(client, given, id), (valid) => ({ ...valid, path }))
    const purpose = { requirement: null, role: 'control', skipJudging: 'at all' } as const
    const exchange = await send(client, make, purpose)
    return isOpen(exchange) ? exchange : isTaken(exchange)
  })
}
