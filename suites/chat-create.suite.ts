import {
  anyBadRequest,
  badRequest,
  forbidden,
  invalidContent,
  invalidInput,
  modelError,
} from '../harness/checks/common.ts'
import { grantedRowOf, judgeTries } from '../harness/checks/granted.ts'
import { chatTries, controlExchange } from '../harness/checks/control.ts'
import { judgeGranted } from '../harness/checks/judge.ts'
import { judgeShape } from '../harness/checks/shapes.ts'
import { refusals, scenario } from '../harness/checks/refusals.ts'
import { must, requirement } from '../harness/checks/registry.ts'
import { faultsAt, ofOtherTypes, unknownAt } from '../harness/checks/roles.ts'
import { validRequest } from '../harness/checks/valid-request.ts'
import { Failed } from '../harness/engine/outcome.ts'
import { insideSends, judgeInside, outsideBounds } from './query-config.ts'
import { asTextParts, invalidRoles, malformedMessages } from './chat-create/messages.ts'
import { judgeStructuredOutput, withResponseFormat } from './chat-create/structured-output.ts'
import { invalidStreamOptions, malformedToolChoice, malformedTools, withDeclaredTools } from './chat-create/tools.ts'

// Chat completion (§2.8, §7.3)

const valid = 'with a valid request'
const completion = 'chat-completion'

must('chat.create/200-completion', async (story) => {
  const judge = (exchange: Awaited<ReturnType<typeof controlExchange>>): void => {
    judgeGranted(story, exchange, 'a 2xx with choices[0].message.content', valid)
    judgeShape(story, exchange, completion, valid)
  }
  try {
    judge(await controlExchange(story.run, 'chat.create'))
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    // Generated answers vary: a later one may have what the control's lacked.
    await judgeTries(
      story,
      'chat.create',
      () => validRequest(story.run, 'chat.create'),
      valid,
      (_, exchange) => judge(exchange),
      chatTries - 1,
    )
  }
})

grantedRowOf(
  'chat.create',
  'chat.create/200-text-parts',
  'with content given as text parts',
  asTextParts,
  undefined,
  chatTries,
)
grantedRowOf(
  'chat.create',
  'chat.create/200-image-parts',
  'with an image_url part that holds a data URL',
  (probe) => probe,
  undefined,
  chatTries,
)
grantedRowOf(
  'chat.create',
  'chat.create/200-image-url',
  'with an image_url part that holds a web address',
  (probe) => probe,
  undefined,
  chatTries,
)
grantedRowOf(
  'chat.create',
  'chat.create/200-tool-choice-auto',
  'with tools and tool_choice auto',
  withDeclaredTools,
  undefined,
  chatTries,
)
grantedRowOf(
  'chat.create',
  'chat.create/200-structured-output',
  'with response_format json_schema',
  withResponseFormat,
  judgeStructuredOutput,
  chatTries,
)
grantedRowOf(
  'chat.create',
  'chat.create/200-llm-tool',
  'with an llm tool',
  (probe) => probe,
  (story, exchange) => judgeShape(story, exchange, 'llm-tool-completion', 'with an llm tool'),
  chatTries,
)

requirement(
  'chat.create/200-query-config',
  judgeInside('chat.create', chatTries),
  (options) => chatTries * insideSends(options),
)

const notArray = ofOtherTypes(['string', 'number', 'boolean', 'object'])

// prettier-ignore
refusals('chat.create', [
  { id: 'chat.create/400-query-config',              when: outsideBounds, gives: [[400, 'BadRequest', 'InvalidInputParameters', 'InvalidContentType']] },
  { id: 'chat.create/400-malformed-messages',        when: malformedMessages(notArray), gives: badRequest },
  { id: 'chat.create/400-invalid-role',              when: invalidRoles, gives: badRequest },
  { id: 'chat.create/400-unsupported-model',         when: unknownAt('model'), gives: invalidInput },
  { id: 'chat.create/400-malformed-tools',           when: malformedTools(notArray), gives: invalidContent },
  { id: 'chat.create/400-malformed-tool-choice',     when: malformedToolChoice, gives: invalidContent },
  { id: 'chat.create/400-invalid-stream',            when: faultsAt({ role: 'stream', faults: ofOtherTypes(['string', 'number', 'array', 'object']) }), gives: badRequest },
  { id: 'chat.create/400-invalid-stream-options',    when: invalidStreamOptions, gives: badRequest },
  { id: 'chat.create/400-malformed-response-format', when: faultsAt({ role: 'response_format', faults: ofOtherTypes(['string', 'number', 'array']) }), gives: anyBadRequest },
  { id: 'chat.create/400-unsafe-request',            when: scenario, gives: [[400, 'CompletionModelUnsafeRequestError']] },
  { id: 'chat.create/403-model-access',              when: scenario, gives: forbidden },
  { id: 'chat.create/429-model-quota',               when: scenario, gives: [[429, 'CompletionModelQuotaError']] },
  { id: 'chat.create/500-model-internal-error',      when: scenario, gives: [[500, 'CompletionModelInternalError']] },
  { id: 'chat.create/503-model-unavailable',         when: scenario, gives: [[503, 'CompletionModelUnavailableError']] },
  { id: 'chat.create/model-unauthorized',            when: scenario, gives: modelError('CompletionModelUnauthorizedError') },
  { id: 'chat.create/model-underlying-request',      when: scenario, gives: modelError('CompletionModelUnderlyingRequestError') },
  { id: 'chat.create/model-no-prediction',           when: scenario, gives: modelError('CompletionModelNoPredictionError') },
])
