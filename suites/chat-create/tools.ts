import { getAt } from '../../schemas/pointer.ts'
import type { Probe } from '../../harness/engine/probe.ts'
import { bodyOf } from '../../harness/checks/valid-request.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Run } from '../../harness/engine/run.ts'
import { condition } from '../../harness/checks/refusals.ts'
import { at, atRole, notArray, ofOtherTypes, pointerOf } from '../../harness/checks/roles.ts'
import type { Story } from '../../harness/engine/story.ts'

/** The tools of the declared body; undefined where it has none. */
function declaredTools(run: Run): unknown {
  return getAt(bodyOf(run, 'chat.create'), pointerOf(run, 'chat.create', 'tools') ?? '/tools')
}

/** The valid request with the declared tools and tool_choice auto. */
export function withDeclaredTools(probe: Probe, { run }: Story): Probe {
  const tools = declaredTools(run)
  if (tools === undefined) throw new NotExercised('declare tools in operations.chat.create.body, or a scenario')
  return { ...atRole(run, atRole(run, probe, 'tools', tools), 'tool_choice', 'auto'), effect: probe.effect }
}

const items = ofOtherTypes(['string', 'number', 'boolean', 'array']).map(({ what, value }) => ({
  what: `holds an item that ${what}`,
  value: [value],
}))

/** No array; items that are no objects; an llm tool without its function. */
export const malformedTools = at('tools', [
  ...notArray,
  ...items,
  { what: 'holds an llm tool without function', value: [{ type: 'llm' }] },
])

/** Numbers, booleans and arrays, with the declared tools where the body has them. */
export const malformedToolChoice = condition(async ({ story, valid, judge }) => {
  const tools = declaredTools(story.run)
  for (const { what, value } of ofOtherTypes(['number', 'boolean', 'array'])) {
    const probe = await valid()
    const equipped = tools === undefined ? probe : atRole(story.run, probe, 'tools', tools)
    await judge(atRole(story.run, equipped, 'tool_choice', value), `with a valid body, but tool_choice ${what}`)
  }
})

/** With `stream: true`: words, numbers, booleans and arrays. */
export const invalidStreamOptions = condition(async ({ story, valid, judge }) => {
  for (const { what, value } of ofOtherTypes(['string', 'number', 'boolean', 'array'])) {
    const streaming = atRole(story.run, await valid(), 'stream', true)
    await judge(atRole(story.run, streaming, 'stream_options', value), `with a valid body, but stream_options ${what}`)
  }
})
