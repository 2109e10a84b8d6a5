import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { type Client, type Given, orElse } from '../../harness/client/index.ts'
import { isGranted, type Probe, countsAsGranted } from '../../harness/journal/index.ts'
import { ask, type CheckContext } from '../../harness/run/index.ts'
import { otherApplications, type OtherObject } from '../../harness/target/index.ts'
import {
  atOtherPath,
  type Case,
  type Cases,
  type CaseCondition,
  type Generated,
  type Material,
  otherPathOf,
  quickCases,
} from './case.ts'
import { once } from './created.ts'
import { validDraft, validRequest } from './valid-request.ts'
import { randomOf, seedFor } from './values.ts'

interface CaseOptions {
  readonly generated?: Generated | undefined
  /** In sequence: each may depend on the previous one. A quick run sends only the first. */
  readonly inOrder?: true
}

export function byCases(cases: Cases, options: CaseOptions = {}): CaseCondition {
  const { generated, inOrder = false } = options
  const chosen = (material: Material): readonly Case[] => {
    const all = cases(material)
    const named = all.filter((one) => !one.when && !one.coercion)
    if (material.options.depth === 'full')
      return [...all, ...atOtherPath(material, named), ...forOtherObjects(material, cases)]
    if (inOrder) return named.slice(0, 1)
    // A case with its own control takes two requests.
    const plain = named.filter((one) => !one.control)
    return quickCases(material, plain.length > 0 ? plain : named)
  }
  return {
    cases: chosen,
    inOrder,
    ...(generated && { generated }),
    casesIn: (context, material) => sendable(context, material.operation, chosen(material)),
  }
}

export async function sendable(
  context: CheckContext,
  operation: OperationId,
  cases: readonly Case[],
): Promise<readonly Case[]> {
  const hasOther =
    cases.some((one) => one.isAtOtherPath) &&
    (await grantsAtOtherPath(context.client, context.given, operation))
  const others = new Set(cases.flatMap((one) => one.other ?? []))
  const changes = new Map<OtherObject, ((valid: Probe) => Probe) | undefined>()
  for (const other of others) changes.set(other, await otherObject(context, operation, other))
  return cases
    .filter((one) => (!one.isAtOtherPath || hasOther) && (!one.other || changes.get(one.other)))
    .map((one) => (one.other ? { ...one, fault: undefined, object: changes.get(one.other)! } : one))
}

function otherObject(context: CheckContext, id: OperationId, other: OtherObject) {
  const make = context.given.others[id]
  return once(context.client, `${other} of ${id}`, () =>
    orElse(context.client, async () => {
      const change = context.given.options.readOnly ? undefined : await make?.(other)
      // The target file says what a declared one accepts.
      if (!change || other !== 'created') return change
      const valid = async (): Promise<Probe> =>
        change(await validRequest(context.client, context.given, id))
      // No other requirement sends this request, so the line to repeat a failure names this requirement.
      const purpose = {
        requirement: context.requirement.id,
        role: 'control',
        isSuccess: countsAsGranted,
      } as const
      return countsAsGranted(await ask(context.client, valid, purpose)) ? change : undefined
    }),
  )
}

/**
 * A request that is wrong for one object is wrong for another: one case goes to each of the others, chosen by the seed. A
 * server may check only the first.
 */
function forOtherObjects(material: Material, cases: Cases): Case[] {
  const { operation, options, requirement, target } = material
  if (operationOf(operation).body !== 'json') return []
  const random = randomOf(seedFor(options.seed, `other object of ${requirement.id}`))
  return otherObjects(material).flatMap((other) => {
    const replaced = inPlaceOfApplication(material, other)
    const resources = { ...target.resources, ...replaced }
    // The valid request is made from what the file declares.
    const file = { ...target.file, resources: { ...target.file.resources, ...replaced } }
    const known = { ...material, target: { ...target, resources, file } }
    const own = { ...known, valid: validDraft(known, operation) }
    const all = cases(own).filter(
      ({ fault = '', ...one }) =>
        !fault.startsWith('id: ') &&
        !(one.when ?? one.before ?? one.control ?? one.coercion ?? one.ruleOf ?? one.valid),
    )
    const chosen = all[Math.floor(random() * all.length)]
    return chosen ? [ofOtherObject(chosen, other)] : []
  })
}

/** Nobody knows which inputs a created application requires. */
function inPlaceOfApplication({ operation, target: { resources } }: Material, other: OtherObject) {
  if (operationOf(operation).busy === undefined) return {}
  const { application } = resources
  if (other !== 'created') return { application: resources[other] }
  return application && { application: { ...application, requiredInputs: [] } }
}

export const ofOtherObject = (one: Case, other: OtherObject): Case => ({
  ...one,
  what: `${one.what}, for ${other === 'created' ? 'an object of the run' : other}`,
  mayBeAbsent: true,
  other,
  isFurther: true,
})

/** What the run makes, and the other applications that the target file declares. */
export function otherObjects({ operation, target: { resources } }: Material): OtherObject[] {
  const { params, busy } = operationOf(operation)
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
