import type { Pairs } from '../../catalogue/answers.ts'
import type fc from 'fast-check'
import { judgeEach } from './at-once.ts'
import { property } from './property.ts'
import { randomOf, sampled, seedFor } from './seed.ts'
import { freshUnknownId } from './unknown-id.ts'
import { type Probe, withJson } from '../engine/probe.ts'
import { type Condition, condition } from './refusals.ts'

/** One fixed change to the valid request. */
export function changed(what: string, change: (valid: Probe) => Probe): Condition {
  return condition(async ({ valid, judge }) => judge(refused(change(await valid())), what))
}

/** A fault that has a name: how reports describe it, and the body that has it. */
export interface Fault<T = unknown> {
  readonly what: string
  readonly value: T
  /** If the spec names other pairs for this fault than for the rest of its row. */
  readonly gives?: Pairs
}

/** Several fixed changes, each by itself. */
export function each<T>(faults: readonly Fault<T>[], change: (valid: Probe, value: T) => Probe): Condition {
  return condition(async ({ context, valid, judge }) => {
    await judgeEach(sampled(context, faults), async ({ what, value, gives }) =>
      judge(refused(change(await valid(), value)), what, gives),
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
    await property(context, 'refusalRuns', arbitrary, async ({ what, value, gives }) =>
      judge(refused(change(await valid(), value)), what, gives),
    )
  })
}

/** The valid request with an id that no object has as that path parameter. */
export function unknown(parameter: string): Condition {
  return condition(async ({ valid, judge, context }) => {
    const random = randomOf(seedFor(context.run.options.seed, context.row.id))
    const probe = await valid()
    const id = freshUnknownId(context.run, probe.params[parameter] ?? '', random)
    // Nothing can be created at an id that does not exist: the probe may be sent again, and needs no idle application.
    const atUnknownId: Probe = { ...probe, params: { ...probe.params, [parameter]: id }, effect: 'none' }
    await judge(atUnknownId, `with a valid request, but an unknown ${parameter}`)
  })
}

/** A JSON body in place of the valid one; a conforming target refuses it. */
export function withBody(probe: Probe, body: unknown): Probe {
  return refused(withJson(probe, body))
}

/** A request that a conforming target refuses has no effect there. */
export function refused(probe: Probe): Probe {
  return { ...probe, effect: 'none' }
}
