import { countsAsGranted } from '../journal/index.ts'
import {
  type Exchange,
  Failed,
  isGranted,
  orElse,
  type Probe,
  type Run,
  type Source,
} from '../engine/index.ts'
import { ask, type CheckContext } from '../run/index.ts'
import { isRefusal } from '../../catalogue/expected.ts'
import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { tryAlso, tryEach, property } from './at-once.ts'
import {
  atOtherPath,
  type Case,
  type Cases,
  type CaseCondition,
  controlName,
  type Generated,
  type Material,
  materialOf,
  otherPathOf,
  quickCases,
  type RefusalContext,
} from './case.ts'
import { controlWith, notGranted } from './control.ts'
import { once, sendUntilSettled } from './created.ts'
import { validDraft, validRequest } from './valid-request.ts'
import { randomOf, seedFor } from './values.ts'

interface CaseOptions {
  readonly generated?: Generated | undefined
  /** One after the other: each may depend on what was asked before. A quick run sends the first. */
  readonly inOrder?: true
}

/** A condition that is judged by these cases, and by as many generated ones as a run asks for. */
export function byCases(cases: Cases, options: CaseOptions = {}): CaseCondition {
  const { generated, inOrder } = options
  const chosen = (material: Material): readonly Case[] => {
    const all = cases(material)
    const named = all.filter(({ when, coercion }) => !when && !coercion)
    if (material.options.depth === 'full')
      return [...all, ...atOtherPath(material, named), ...forOtherObject(material, cases)]
    if (inOrder) return named.slice(0, 1)
    // One that needs a control of its own takes two requests.
    const plain = named.filter(({ control }) => !control)
    return quickCases(material, plain.length > 0 ? plain : named)
  }
  return {
    cases: chosen,
    ...(generated && { generated }),
    async bringAbout(refusal) {
      const { context, operation } = refusal
      const material = materialOf(context.run, context.requirement, operation)
      const known = chosen(material)
      const hasOther =
        known.some(({ isAtOtherPath }) => isAtOtherPath) &&
        (await grantsAtOtherPath(context.run, operation))
      const all = known.filter((one) => !one.isAtOtherPath || hasOther)
      await tryAll(refusal, material, all, options)
    },
  }
}

/** What a valid request is for another object than the declared one; undefined if there is none that grants it. */
function otherObject({ run, requirement }: CheckContext, id: OperationId) {
  const make = run.hooks.flatMap(({ others }) => others?.[id] ?? [])[0]
  return once(run, `other object of ${id}`, () =>
    orElse(run, async () => {
      const change = run.options.readOnly ? undefined : await make?.(run)
      if (!change) return undefined
      const valid = async (): Promise<Probe> => change(await validRequest(run, id))
      // Nothing else asks for it: a failure that depends on it has this requirement in its line.
      const purpose = {
        requirement: requirement.id,
        role: 'control',
        isSuccess: countsAsGranted,
      } as const
      const send = (source: Source): Promise<Exchange> => ask(run, source, purpose)
      const isGranted = async (): Promise<boolean> =>
        countsAsGranted(await sendUntilSettled(run, await send(valid), send, countsAsGranted))
      return (await isGranted()) ? { change, isGranted } : undefined
    }),
  )
}

/** Sends a case for another object, if there is one. */
const tryOther: NonNullable<Case['bringAbout']> = async (refusal, { bringAbout: _, ...one }) => {
  const { context, operation } = refusal
  const other = await otherObject(context, operation)
  if (!other) return
  const valid = async (): Promise<Probe> => other.change(await refusal.valid())
  await tryCase({ ...refusal, valid }, { ...one, fault: undefined }).catch(
    async (error: unknown) => {
      // What was made may be gone by now, which is no matter of the fault.
      if (error instanceof Failed && (await other.isGranted())) throw error
      if (!(error instanceof Failed)) throw error
    },
  )
}

/**
 * What is wrong with a request for one object is wrong for another: of the cases one goes to an object that the run makes, or to the
 * other application with its own inputs, drawn by the seed. A server may look closely at the first one alone.
 */
function forOtherObject(material: Material, cases: Cases): Case[] {
  const { options, operation, requirement, target } = material
  const { body, params } = operationOf(operation)
  if (body !== 'json' || !params) return []
  const { application, otherApplication } = target.resources
  const isOfJobs = operation === 'jobs.create'
  if (isOfJobs && (!otherApplication || otherApplication.id === application?.id)) return []
  const resources = { ...target.resources, ...(isOfJobs && { application: otherApplication }) }
  const known = { ...material, target: { ...target, resources } }
  const own = { ...known, valid: validDraft(known, operation) }
  const all = cases(own).filter(
    ({ fault = '', ...one }) =>
      !fault.startsWith('id: ') &&
      !(one.when ?? one.before ?? one.control ?? one.coercion ?? one.bringAbout),
  )
  const random = randomOf(seedFor(options.seed, `other object of ${requirement.id}`))
  return all
    .slice(Math.floor(random() * all.length))
    .slice(0, 1)
    .map((one) => ({
      ...one,
      what: `${one.what}, for another object`,
      mayBeAbsent: true,
      bringAbout: tryOther,
    }))
}

/** Whether the valid request is granted at the other path: then it is the same operation there. */
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

/** Sends refusals and judges their answers. */
export function tryAll(
  refusal: RefusalContext,
  material: Material,
  all: readonly Case[],
  options: CaseOptions = {},
): Promise<void> {
  const { context } = refusal
  const tryOne = async (one: Case): Promise<void> => {
    const { bringAbout } = one
    const name = controlName(material, one)
    if (bringAbout) await tryAlso(context, () => bringAbout(refusal, one))
    else if (name !== undefined) await tryAlso(context, () => withControl(refusal, one, name))
    else await tryCase(refusal, one)
  }
  return tryInTurn(context, material, all, { ...options, tryOne })
}

/** Those that are judged as a further case (`tryAlso`) are planned there. */
const isPlanned = ({ control, bringAbout }: Case): boolean => !control && !bringAbout

/**
 * Tries these cases: several at once, or one after the other, and those of the end at the end of the run; then as many generated
 * ones as the run asks for. A quick run sends one, and the first of them have a name.
 */
export async function tryInTurn(
  context: CheckContext,
  material: Material,
  all: readonly Case[],
  { tryOne, generated, inOrder }: CaseOptions & { tryOne(one: Case): Promise<void> },
): Promise<void> {
  context.open.plan(all.filter(isPlanned).length)
  const tryNamed = async (one: Case): Promise<void> => {
    await tryOne(one)
    if (isPlanned(one)) context.open.settle(1)
  }
  const inTurn = async (when: Case['when']): Promise<void> => {
    const now = all.filter((one) => one.when === when)
    if (inOrder) for (const one of now) await tryNamed(one)
    else await tryEach(now, tryNamed)
  }
  await inTurn(undefined)
  await inTurn('after the others')
  if (all.some(({ when }) => when === 'at the end')) context.atEnd = () => inTurn('at the end')
  const more = material.options.depth === 'full' ? generated?.(material) : undefined
  const runs = isRefusal(material.requirement.expects) ? 'refusalRuns' : 'grantedRuns'
  if (more) await property(context, runs, more, tryOne)
}

async function withControl(refusal: RefusalContext, one: Case, name: string): Promise<void> {
  const { operation, context } = refusal
  const { run } = context
  const found = await controlWith(run, operation, name, async () => {
    const valid = await validRequest(run, operation)
    return { ...(one.control?.(valid) ?? valid), effect: valid.effect }
  })
  if (found.state === 'refused')
    throw notGranted(found, 'the same request without its fault was not granted')
  await tryCase(refusal, one)
}

export async function tryCase(refusal: RefusalContext, one: Case): Promise<boolean> {
  const { valid, ask, context } = refusal
  const { what, expects, effect = 'none', coercion, before, when } = one
  if (before === 'a valid request') await context.send(valid, { role: 'setup' })
  // By its fault a case is known, and is sent once a run; at the end it is sent again.
  const fault = when === 'at the end' ? undefined : one.fault
  try {
    return await ask({ ...one.change(await valid()), effect, fault }, what, expects)
  } catch (error) {
    if (!coercion || !isGrantedFault(error)) throw error
    const { response } = await context.send(coercion(await valid()), { role: 'control' })
    if (response === undefined || !isGranted(response)) throw error
    return true
  }
}

function isGrantedFault(error: unknown): boolean {
  const status = error instanceof Failed ? (error.failure.exchange?.response?.status ?? 0) : 0
  return status >= 200 && status < 300
}
