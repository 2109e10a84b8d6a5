import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { orElse, type Run } from '../engine/index.ts'
import {
  type Exchange,
  isGranted,
  type Probe,
  type Source,
  countsAsGranted,
} from '../journal/index.ts'
import { ask, type CheckContext } from '../run/index.ts'
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
import { once, sendUntilSettled } from './created.ts'
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
    const named = all.filter(({ when, coercion }) => !when && !coercion)
    if (material.options.depth === 'full')
      return [...all, ...atOtherPath(material, named), ...forOtherObject(material, cases)]
    if (inOrder) return named.slice(0, 1)
    // A case with its own control takes two requests.
    const plain = named.filter(({ control }) => !control)
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
    cases.some(({ isAtOtherPath }) => isAtOtherPath) &&
    (await grantsAtOtherPath(context.run, operation))
  const change = cases.some(({ isForOtherObject }) => isForOtherObject)
    ? await otherObject(context, operation)
    : undefined
  return cases
    .filter((one) => (!one.isAtOtherPath || hasOther) && (!one.isForOtherObject || change))
    .map((one) =>
      one.isForOtherObject && change ? { ...one, fault: undefined, object: change } : one,
    )
}

function otherObject({ run, requirement }: CheckContext, id: OperationId) {
  const make = run.hooks.others[id]
  return once(run, `other object of ${id}`, () =>
    orElse(run, async () => {
      const change = run.options.readOnly ? undefined : await make?.(run)
      if (!change) return undefined
      const valid = async (): Promise<Probe> => change(await validRequest(run, id))
      // No other requirement sends this request, so the line to repeat a failure names this requirement.
      const purpose = {
        requirement: requirement.id,
        role: 'control',
        isSuccess: countsAsGranted,
      } as const
      const send = (source: Source): Promise<Exchange> => ask(run, source, purpose)
      const sent = await sendUntilSettled(run, await send(valid), send, countsAsGranted)
      return countsAsGranted(sent) ? change : undefined
    }),
  )
}

/**
 * A request that is wrong for one object is wrong for another: one case goes to an object that the run makes, or to the
 * other application with its inputs, chosen by the seed. A server may check only the first.
 */
function forOtherObject(material: Material, cases: Cases): Case[] {
  const { options, operation, requirement, target } = material
  if (operationOf(operation).body !== 'json' || !hasOtherObject(material)) return []
  const isOfJobs = operationOf(operation).busy !== undefined
  const { otherApplication } = target.resources
  const resources = { ...target.resources, ...(isOfJobs && { application: otherApplication }) }
  const known = { ...material, target: { ...target, resources } }
  const own = { ...known, valid: validDraft(known, operation) }
  const all = cases(own).filter(
    ({ fault = '', ...one }) =>
      !fault.startsWith('id: ') &&
      !(one.when ?? one.before ?? one.control ?? one.coercion ?? one.ruleOf ?? one.valid),
  )
  const random = randomOf(seedFor(options.seed, `other object of ${requirement.id}`))
  return all
    .slice(Math.floor(random() * all.length))
    .slice(0, 1)
    .map(ofOtherObject)
}

export const ofOtherObject = (one: Case): Case => ({
  ...one,
  what: `${one.what}, for another object`,
  mayBeAbsent: true,
  isForOtherObject: true,
  isFurther: true,
})

export function hasOtherObject({ operation, target }: Material): boolean {
  const { params, busy } = operationOf(operation)
  const { application, otherApplication: other } = target.resources
  return params !== undefined && (!busy || (other !== undefined && other.id !== application?.id))
}

async function grantsAtOtherPath(run: Run, id: OperationId): Promise<boolean> {
  const path = otherPathOf(run, id)
  if (path === undefined || run.options.readOnly) return false
  return once(run, `other path of ${id}`, async () => {
    const make = async (): Promise<Probe> => ({ ...(await validRequest(run, id)), path })
    const purpose = { requirement: null, role: 'control', skipJudging: 'at all' } as const
    const { response } = await ask(run, make, purpose)
    return response !== undefined && isGranted(response)
  })
}
