import { isObject, member } from '../../schemas/json-object.ts'
import { getAt } from '../../schemas/pointer.ts'
import { jsonOf, type Probe } from '../../harness/engine/probe.ts'
import type { Fault } from '../../harness/checks/conditions.ts'
import { bodyOf } from '../../harness/checks/valid-request.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Run } from '../../harness/engine/run.ts'
import { condition } from '../../harness/checks/refusals.ts'
import { at, atRole, notArray, ofOtherTypes, pointerOf } from '../../harness/checks/roles.ts'
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

const items = ofOtherTypes(['null', 'string', 'number', 'boolean', 'array']).map(({ what, value }) => ({
  what: `holds an item that ${what}`,
  value: [value],
}))

const notString = ofOtherTypes(['number', 'boolean', 'array', 'object'])

/** The function of the declared llm tool, if there is one; else one that delegates to the model of the chat. */
function llmFunction(run: Run, valid: Probe): Readonly<Record<string, unknown>> {
  const tools = declaredTools(run)
  const declared = Array.isArray(tools)
    ? (tools as unknown[]).find((tool) => member(tool, 'type') === 'llm')
    : undefined
  const own = member(declared, 'function')
  if (isObject(own) && typeof own['model'] === 'string') return own
  const model = getAt(jsonOf(valid), pointerOf(run, 'chat.create', 'model') ?? '/model')
  return { description: 'Answers questions', model }
}

/** Llm tools (§2.8) whose function is not as shown. */
function malformedLlmTools(run: Run, valid: Probe): Fault[] {
  const { model, ...rest } = llmFunction(run, valid)
  const llm = (what: string, own: unknown): Fault => ({ what, value: [{ type: 'llm', function: own }] })
  return [
    { what: 'holds an llm tool without function', value: [{ type: 'llm' }] },
    llm('holds an llm tool without function.model', rest),
    ...notString.map(({ what, value }) =>
      llm(`holds an llm tool whose function.model ${what}`, { ...rest, model: value }),
    ),
    ...notString.map(({ what, value }) =>
      llm(`holds an llm tool whose function.description ${what}`, { ...rest, model, description: value }),
    ),
  ]
}

/** No array; items that are no objects; llm tools that lack what §2.8 shows of them, or have it of another type. */
export const malformedTools = condition(async (refusal) => {
  const llm = malformedLlmTools(refusal.context.run, await refusal.valid())
  await at('tools', [...notArray, ...items, ...llm]).bringAbout(refusal)
})

/** Numbers, booleans and arrays, with the declared tools if the body has them. */
export const malformedToolChoice = condition(async ({ context, valid, judge }) => {
  const tools = declaredTools(context.run)
  for (const { what, value } of ofOtherTypes(['number', 'boolean', 'array'])) {
    const probe = await valid()
    const equipped = tools === undefined ? probe : atRole(context.run, probe, 'tools', tools)
    await judge(atRole(context.run, equipped, 'tool_choice', value), `with a valid body, but tool_choice ${what}`)
  }
})

/** With `stream: true`: words, numbers, booleans and arrays. */
export const invalidStreamOptions = condition(async ({ context, valid, judge }) => {
  for (const { what, value } of ofOtherTypes(['string', 'number', 'boolean', 'array'])) {
    const streaming = atRole(context.run, await valid(), 'stream', true)
    await judge(
      atRole(context.run, streaming, 'stream_options', value),
      `with a valid body, but stream_options ${what}`,
    )
  }
})
