import { type Pairs, pairsOf } from '../../catalogue/pairs.ts'
import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { getAt } from '../../schemas/json.ts'
import { isUuid } from '../../schemas/formats.ts'
import type fc from 'fast-check'
import { judgeEach } from './at-once.ts'
import { property } from './property.ts'
import { randomOf, sampled, seedFor } from './seed.ts'
import { changedId, freshUnknownId } from './unknown-id.ts'
import { type Probe, withJson } from '../engine/probe.ts'
import type { CheckContext } from '../engine/check-context.ts'
import { type Condition, condition } from './refusals.ts'

/** One fixed change to the valid request. */
export function changed(what: string, change: (valid: Probe) => Probe, fault?: string): Condition {
  return condition(async ({ valid, judge }) => judge({ ...refused(change(await valid())), fault }, what))
}

/** A fault that has a name: how reports describe it, and the body that has it. */
export interface Fault<T = unknown> {
  readonly what: string
  readonly value: T
  /** As the fault matrix calls it. */
  readonly fault?: string
  /** If the spec names other pairs for this fault than for the rest of its requirement. */
  readonly expects?: Pairs
}

/** Several fixed changes, each by itself. */
export function each<T>(faults: readonly Fault<T>[], change: (valid: Probe, value: T) => Probe): Condition {
  return condition(async ({ context, valid, judge }) => {
    await judgeEach(sampled(context, faults), async ({ what, value, expects, fault }) =>
      judge({ ...refused(change(await valid(), value)), ...(fault ? { fault } : {}) }, what, expects),
    )
  })
}

/** First the faults that have a name, then those that an arbitrary generates. */
export function any<T>(
  named: readonly Fault<T>[],
  arbitrary: fc.Arbitrary<Fault<T>>,
  change: (valid: Probe, value: T) => Probe,
): Condition {
  return condition(async (refusal) => {
    await each(named, change).bringAbout(refusal)
    const { valid, judge, context } = refusal
    await property(context, 'refusalRuns', arbitrary, async ({ what, value, expects }) =>
      judge(refused(change(await valid(), value)), what, expects),
    )
  })
}

/** Ways to get an id that no object has: drawn, and asked for a second time; made from the id that exists; that of another object. */
type UnknownId = 'unknown' | 'asked twice' | 'cut' | 'lengthened' | 'of another kind'

/** The id of an object of another kind, if it is a uuid: of any other form, an object of this kind might have it too. */
function idOfAnother({ run, requirement }: CheckContext, parameter: string): string | undefined {
  const { others = [] } = operationOf(requirement.operation as OperationId).params?.[parameter] ?? {}
  return others.map((pointer) => getAt(run.target.file, pointer)).find((id) => typeof id === 'string' && isUuid(id)) as
    | string
    | undefined
}

/** A uuid that was cut or lengthened is none, and where ids have another form a uuid is: a server may refuse it before it looks (§7.2). */
const ofForm: Pairs = [[400, 'BadRequest', 'InvalidInputParameters']]

/** The valid request with an id that no object has as that path parameter, in each of these ways. */
export function unknown(parameter: string, ways: readonly UnknownId[] = ['unknown']): Condition {
  return condition(async ({ valid, judge, context }) => {
    const random = randomOf(seedFor(context.run.options.seed, context.requirement.id))
    const declared = (await valid()).params[parameter] ?? ''
    const drawn = freshUnknownId(context.run, declared, random)
    for (const way of ways) {
      const isOther = way === 'of another kind'
      const isChanged = way === 'cut' || way === 'lengthened'
      const made = isChanged ? changedId(context.run, declared, way) : drawn
      const id = isOther ? idOfAnother(context, parameter) : made
      if (id === undefined || id === declared) continue
      const probe = await valid()
      // Nothing can be created at an id that does not exist: the probe may be sent again, and needs no idle application.
      const params = { ...probe.params, [parameter]: id }
      const what = way === 'unknown' ? `an unknown ${parameter}` : `a ${parameter} that is ${told[way]}`
      const hasOtherForm = isUuid(declared) ? isChanged : isOther
      const expects = hasOtherForm
        ? pairsOf(context.requirement, context.requirement.operation as OperationId)
        : undefined
      const atUnknownId: Probe = { ...probe, params, effect: 'none', fault: `id: ${way}` }
      await judge(atUnknownId, `with a valid request, but ${what}`, expects && [...expects, ...ofForm])
    }
  })
}

const told = {
  'asked twice': 'unknown, asked for again',
  cut: 'cut by a character',
  lengthened: 'longer by a character',
  'of another kind': 'that of an object of another kind',
}

/** A JSON body in place of the valid one; a conforming target refuses it. */
export function withBody(probe: Probe, body: unknown): Probe {
  return refused(withJson(probe, body))
}

/** A request that a conforming target refuses has no effect there. */
export function refused(probe: Probe): Probe {
  return { ...probe, effect: 'none' }
}
