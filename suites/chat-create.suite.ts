import { triesOf } from '../catalogue/operations.ts'
import { controlExchange } from '../harness/checks/control.ts'
import { granted, judgeTries } from '../harness/checks/granted.ts'
import { judgeShape } from '../harness/checks/shapes.ts'
import { validRequest } from '../harness/checks/valid-request.ts'
import { Failed } from '../harness/engine/outcome.ts'
import type { Judge } from '../harness/engine/check-context.ts'
import { pairsOf } from '../catalogue/pairs.ts'
import { condition } from '../harness/checks/refusals.ts'
import { at, giving, ofOtherTypes, unknownAt } from '../harness/checks/roles.ts'
import { suite } from '../harness/checks/suite.ts'
import { hasContent, hasContentOrCalls } from './chat-create/content.ts'
import { invalidRoles, judgeTextParts, malformedMessages } from './chat-create/messages.ts'
import { judgeStructuredOutput, withResponseFormat } from './chat-create/structured-output.ts'
import { invalidStreamOptions, malformedToolChoice, malformedTools, withDeclaredTools } from './chat-create/tools.ts'
import { insideBounds, outsideBounds } from './query-config.ts'

const valid = 'with a valid request'

const judgeContent = hasContent(valid)

const judgeCompletion: Judge = async (context) => {
  try {
    judgeContent(context, await controlExchange(context.run, 'chat.create'))
  } catch (error) {
    if (!(error instanceof Failed) || !error.failure.exchange?.response) throw error
    // Generated answers vary: a later one may have what the control's lacked.
    const make = () => validRequest(context.run, 'chat.create')
    await judgeTries(context, { make, what: valid, check: judgeContent, tries: triesOf('chat.create') - 1 })
  }
}

/** A model that nobody has; one that is no string may also count as malformed (§7.3). */
const unsupportedModel = condition(async (refusal) => {
  await unknownAt('model').bringAbout(refusal)
  const given = pairsOf(refusal.context.requirement, 'chat.create')
  const faults = giving([...given, [400, 'BadRequest']], ofOtherTypes(['number', 'boolean', 'array', 'object']))
  await at('model', faults).bringAbout(refusal)
})

/** Only a scenario says that the tool runs. */
const judgeLlmTool = granted('with an llm tool', undefined, (context, exchange) =>
  judgeShape(context, exchange, 'llm-tool-completion', 'with an llm tool'),
)

// Chat completion (§2.8, §7.3)

export const chatCreate = suite('chat.create', {
  '200-completion': judgeCompletion,
  '200-text-parts': judgeTextParts,
  '200-image-parts': granted('with an image in a data URL', undefined, hasContent('with an image in a data URL')),
  '200-image-url': granted('with an image at a web address', undefined, hasContent('with an image at a web address')),
  '200-tool-choice-auto': granted(
    'with tools and tool_choice auto',
    withDeclaredTools,
    hasContentOrCalls('with tools and tool_choice auto'),
  ),
  '200-structured-output': granted('with response_format json_schema', withResponseFormat, judgeStructuredOutput),
  '200-llm-tool': judgeLlmTool,
  '200-query-config': insideBounds,
  '400-query-config': outsideBounds,
  '400-malformed-messages': malformedMessages,
  '400-invalid-role': invalidRoles,
  '400-unsupported-model': unsupportedModel,
  '400-malformed-tools': malformedTools,
  '400-malformed-tool-choice': malformedToolChoice,
  '400-invalid-stream': at('stream', ofOtherTypes(['string', 'number', 'array', 'object'])),
  '400-invalid-stream-options': invalidStreamOptions,
  '400-malformed-response-format': at('response_format', ofOtherTypes(['string', 'number', 'array'])),
})
