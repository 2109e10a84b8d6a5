import type { RequirementId } from '../../catalogue/catalogue.ts'
import type { MemberFault } from '../../catalogue/operation.ts'
import { judgeEach } from '../../harness/checks/at-once.ts'
import {
  absent,
  arraysAbove,
  examplesFor,
  inLaterItem,
  type MemberCase,
  ofKinds,
  type Placed,
  shownMembers,
  wrongKinds,
} from '../../harness/checks/member-faults.ts'
import type { RefusalContext } from '../../harness/checks/refusals.ts'
import { sampled } from '../../harness/checks/seed.ts'
import { refused } from '../../harness/checks/conditions.ts'
import { jsonOf, withJson } from '../../harness/engine/probe.ts'

/** More that is wrong with a member, beside its absence and its type. */
type More = (place: Placed) => readonly MemberCase[]

/** The faults of a member that the record counts under a condition. */
function casesOf(place: Placed, condition: string, more: More): MemberCase[] {
  const counts = (fault: MemberFault): boolean => place.member?.judgedBy?.[fault] === condition
  return [
    ...(counts('absent') ? absent(place) : []),
    ...(counts('null') ? ofKinds(place, ['null']) : []),
    ...(counts('type') ? ofKinds(place, wrongKinds(place)) : []),
    ...more(place),
  ]
}

/**
 * Each case by itself, and in a later item of the array that it stands in. Of an item within an item one case is sent in a
 * later one of the outer array as well: whoever looks at each of them looks at all that is in them.
 */
function withLater(place: Placed, cases: readonly MemberCase[]): MemberCase[] {
  const arrays = arraysAbove(place)
  const inner = arrays.at(-1)
  const outer = arrays.at(-2)
  return [
    ...cases,
    ...(inner === undefined ? [] : cases.flatMap((one) => inLaterItem(place, one, inner))),
    ...(outer === undefined
      ? []
      : cases.slice(0, 1).flatMap((one) => inLaterItem(place, { ...one, fault: '' }, outer))),
  ]
}

/** Everything that the record of a chat counts under the row's condition. */
export async function judgeMembers(refusal: RefusalContext, more: More = () => []): Promise<void> {
  const { context, operation, valid, judge } = refusal
  const condition = conditionOf(context.requirement.id)
  const first = await valid()
  const fields = context.run.target.operations[operation]?.fields ?? {}
  const body = jsonOf(first)
  const places = shownMembers(operation, body, fields, examplesFor(context.run, operation, body))
  const cases = places.flatMap((place) => withLater(place, casesOf(place, condition, more)))
  await judgeEach(sampled(context, cases), async ({ what, fault, body: faulty }) => {
    const probe = refused(withJson(await valid(), faulty))
    await judge({ ...probe, ...(fault === '' ? {} : { fault }) }, what)
  })
}

function conditionOf(id: RequirementId): string {
  return id.slice(id.indexOf('/') + 1)
}
