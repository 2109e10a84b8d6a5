import { judgeEach } from '../../harness/checks/at-once.ts'
import { having } from '../../harness/checks/member-faults.ts'
import { getAt } from '../../schemas/pointer.ts'
import type { Probe } from '../../harness/engine/probe.ts'
import { bodyOf } from '../../harness/checks/valid-request.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Run } from '../../harness/engine/run.ts'
import { condition } from '../../harness/checks/refusals.ts'
import { sampled } from '../../harness/checks/seed.ts'
import { atRole, ofOtherTypes, pointerOf } from '../../harness/checks/roles.ts'
import { judgeMembers } from './derived.ts'
import type { CheckContext } from '../../harness/engine/check-context.ts'

/** The tools of the declared body; undefined if it has none. */
function declaredTools(run: Run): unknown {
  return getAt(bodyOf(run, 'chat.create'), pointerOf(run, 'chat.create', 'tools') ?? '/tools')
}

/** The valid request with the declared tools and tool_choice auto. */
export function withDeclaredTools(probe: Probe, { run }: CheckContext): Probe {
  const tools = declaredTools(run)
  if (tools === undefined) throw new NotExercised('declare tools in operations.chat.create.body, or a scenario')
  return { ...atRole(run, atRole(run, probe, 'tools', tools), 'tool_choice', 'auto'), effect: probe.effect }
}

/** No array; items that are no objects; tools without a type; llm tools that lack what §2.8 shows of them, or have it of another type. */
export const malformedTools = condition((refusal) =>
  judgeMembers(refusal, (place) =>
    place.at === '/tools/*/function' ? [having(place, {}, 'an empty object', 'empty')] : [],
  ),
)

const faultsAt = (name: string, kinds: Parameters<typeof ofOtherTypes>[0]) =>
  ofOtherTypes(kinds).map((fault) => ({ ...fault, fault: `${fault.fault ?? ''} @ /${name}` }))

/** Numbers, booleans and arrays, with the declared tools if the body has them. */
export const malformedToolChoice = condition(async ({ context, valid, judge }) => {
  const tools = declaredTools(context.run)
  const faults = faultsAt('tool_choice', ['number', 'boolean', 'array'])
  await judgeEach(sampled(context, faults), async ({ what, value, fault }) => {
    const probe = await valid()
    const equipped = tools === undefined ? probe : atRole(context.run, probe, 'tools', tools)
    await judge(
      { ...atRole(context.run, equipped, 'tool_choice', value), fault },
      `with a valid body, but tool_choice ${what}`,
    )
  })
})

/** With `stream: true`: words, numbers, booleans and arrays. */
export const invalidStreamOptions = condition(async ({ context, valid, judge }) => {
  const faults = faultsAt('stream_options', ['string', 'number', 'boolean', 'array'])
  await judgeEach(sampled(context, faults), async ({ what, value, fault }) => {
    const streaming = atRole(context.run, await valid(), 'stream', true)
    await judge(
      { ...atRole(context.run, streaming, 'stream_options', value), fault },
      `with a valid body, but stream_options ${what}`,
    )
  })
})
