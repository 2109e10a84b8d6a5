import { granted } from '../harness/checks/granted.ts'
import { at, ofOtherTypes, unknownAt } from '../harness/checks/roles.ts'
import { suite } from '../harness/checks/suite.ts'
import { judgeCompletion, judgeLlmTool } from './chat-create/completion.ts'
import { asTextParts, invalidRoles, malformedMessages } from './chat-create/messages.ts'
import { judgeStructuredOutput, withResponseFormat } from './chat-create/structured-output.ts'
import { invalidStreamOptions, malformedToolChoice, malformedTools, withDeclaredTools } from './chat-create/tools.ts'
import { insideBounds, outsideBounds } from './query-config.ts'

// Chat completion (§2.8, §7.3)

export const chatCreate = suite('chat.create', {
  '200-completion': judgeCompletion,
  '200-text-parts': granted('with content given as text parts', asTextParts),
  '200-tool-choice-auto': granted('with tools and tool_choice auto', withDeclaredTools),
  '200-structured-output': granted('with response_format json_schema', withResponseFormat, judgeStructuredOutput),
  '200-llm-tool': judgeLlmTool,
  '200-query-config': insideBounds,
  '400-query-config': outsideBounds,
  '400-malformed-messages': malformedMessages,
  '400-invalid-role': invalidRoles,
  '400-unsupported-model': unknownAt('model'),
  '400-malformed-tools': malformedTools,
  '400-malformed-tool-choice': malformedToolChoice,
  '400-invalid-stream': at('stream', ofOtherTypes(['string', 'number', 'array', 'object'])),
  '400-invalid-stream-options': invalidStreamOptions,
  '400-malformed-response-format': at('response_format', ofOtherTypes(['string', 'number', 'array'])),
})
