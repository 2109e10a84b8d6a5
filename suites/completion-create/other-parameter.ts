import { NotExercised } from '../../harness/engine/outcome.ts'
import { jsonOf } from '../../harness/engine/probe.ts'
import { type JsonKind, kindOf } from '../../harness/checks/values.ts'
import { getAt } from '../../schemas/pointer.ts'
import { condition } from '../../harness/checks/refusals.ts'
import { at, ofOtherTypes, pointerOf } from '../../harness/checks/roles.ts'

const kinds: readonly JsonKind[] = ['string', 'number', 'boolean', 'array', 'object']

/** A server may take one text or several. */
const interchangeable = (one: JsonKind, other: JsonKind): boolean => [one, other].sort().join() === 'array,string'

/** The declared parameter, of a JSON type other than that of its declared value. */
export const otherParameter = condition(async (refusal) => {
  const { context, operation, valid } = refusal
  const pointer = pointerOf(context.run, operation, 'parameter')
  const declared = pointer === undefined ? undefined : getAt(jsonOf(await valid()), pointer)
  // null may mean that it is absent.
  if (declared === undefined || declared === null)
    throw new NotExercised('the declared body has no value at the role parameter')
  const own = kindOf(declared)
  const others = kinds.filter((kind) => kind !== own && !interchangeable(kind, own))
  await at('parameter', ofOtherTypes(others)).bringAbout(refusal)
})
