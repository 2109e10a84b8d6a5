import { isObject } from '../schemas/json-object.ts'
import fc from 'fast-check'
import { otherTypes, type QueryConfigMember, queryConfigMembers } from '../catalogue/query-config.ts'
import { isOperationId, type OperationId } from '../catalogue/operations.ts'
import { judgeEach } from '../harness/checks/at-once.ts'
import { sampled } from '../harness/checks/seed.ts'
import { property } from '../harness/checks/property.ts'
import { ofKinds, shown } from '../harness/checks/values.ts'
import { getAt, setAt } from '../schemas/pointer.ts'
import { jsonOf, type Probe, withJson } from '../harness/engine/probe.ts'
import { bodyOf, validRequest, withoutRoles } from '../harness/checks/valid-request.ts'
import { NotExercised } from '../harness/engine/outcome.ts'
import type { Run } from '../harness/engine/run.ts'
import { judgeTries } from '../harness/checks/granted.ts'
import { type Fault, refused } from '../harness/checks/conditions.ts'
import { ofOtherTypes, pointerOf } from '../harness/checks/roles.ts'
import { condition } from '../harness/checks/refusals.ts'
import type { Judge } from '../harness/engine/check-context.ts'

/** §2.7: `query_config` of a graph query, or inside the graph tool of a chat. */

interface Setting {
  readonly name: string
  readonly value: unknown
}

/** The valid request with one member of its query_config set; a chat keeps the tools that have it. */
async function withSetting(run: Run, operation: OperationId, { name, value }: Setting): Promise<Probe> {
  const pointer = pointerOf(run, operation, 'query_config')
  if (pointer === undefined) throw new NotExercised(`declare operations.${operation}.fields.query_config`)
  const probe = await validRequest(run, operation)
  const body =
    operation === 'chat.create'
      ? withoutRoles(run, operation, bodyOf(run, operation), ['stream', 'stream_options'])
      : jsonOf(probe)
  const declared = getAt(body, pointer)
  const config = { ...(isObject(declared) ? declared : {}), [name]: value }
  return withJson(probe, setAt(body, pointer, config))
}

function inside({ name, kind, range }: QueryConfigMember): fc.Arbitrary<Setting> {
  const [min, max] = range ?? [0, 1]
  if (kind === 'boolean') return fc.boolean().map((value) => ({ name, value }))
  if (kind === 'integer') return fc.integer({ min, max }).map((value) => ({ name, value }))
  return fc.integer({ min: min * 100, max: max * 100 }).map((value) => ({ name, value: value / 100 }))
}

const generatedInside = fc.constantFrom(...queryConfigMembers).chain(inside)

/** Each member by itself at its bounds and between is accepted; then any value inside. */
export const insideBounds: Judge = async (context) => {
  const { run, row } = context
  const { operation } = row
  if (!isOperationId(operation)) throw new Error(`${row.id} is of no operation`)
  const accept = (setting: Setting): Promise<void> => {
    const what = `with query_config.${setting.name} ${shown(setting.value)}`
    return judgeTries(context, { make: () => withSetting(run, operation, setting), what })
  }
  const named = queryConfigMembers.flatMap(({ name, inside }) => inside.map((value) => ({ name, value })))
  if (run.target.scenarios[row.id]) return accept({ name: 'search_weight', value: 50 })
  await judgeEach(sampled(context, named), accept)
  await property(context, 'grantedRuns', generatedInside, accept)
}

function setTo({ name }: QueryConfigMember, { what, value }: Fault): Fault<Setting> {
  return { what: `with query_config.${name} that ${what}`, value: { name, value } }
}

const outside = queryConfigMembers.flatMap((member) => [
  ...member.outside.map((value) => setTo(member, { what: `is ${value}, outside its bounds`, value })),
  ...ofOtherTypes(otherTypes).map((fault) => setTo(member, fault)),
])

const generatedOutside = fc
  .constantFrom(...queryConfigMembers)
  .chain((member) => ofKinds(...otherTypes).map((value) => setTo(member, { what: `is ${shown(value)}`, value })))

/** Each member by itself outside its bounds, or of another type. */
export const outsideBounds = condition(async ({ context, operation, judge }) => {
  const refuse = async ({ what, value }: Fault<Setting>): Promise<void> =>
    judge(refused(await withSetting(context.run, operation, value)), what)
  await judgeEach(sampled(context, outside), refuse)
  await property(context, 'refusalRuns', generatedOutside, refuse)
})
