import type { Need } from '../requirement.ts'
import { body, field } from './needs.ts'
import { must, scenarioFor, should, staged } from './row.ts'

const valid = body('chat.create')
const queryConfig = field('chat.create', 'query_config')
const either = (member: string, id: string): Need => [`${valid}/${member}`, scenarioFor(id)]

// prettier-ignore
export const chatCreate = [
  must('chat.create/200-completion', '2.8', 'A valid chat is answered by a 2xx whose choices[0].message.content is a string.', [valid], 'generates'),
  must('chat.create/200-text-parts', '2.8', 'The content of a message may be an array of text parts.', [valid], 'generates'),
  must('chat.create/200-image-parts', '2.8', 'A message may hold an image_url part with a data URL.', [scenarioFor('chat.create/200-image-parts')], 'generates'),
  must('chat.create/200-image-url', '2.8', 'A message may hold an image_url part with a web address.', [scenarioFor('chat.create/200-image-url')], 'generates'),
  must('chat.create/200-tool-choice-auto', '2.8', 'A chat with tools and tool_choice auto is answered by a 2xx.', [either('tools', 'chat.create/200-tool-choice-auto')], 'generates'),
  must('chat.create/200-structured-output', '2.8', 'With response_format json_schema the content is JSON text, which fits the schema where strict is true.', [either('response_format', 'chat.create/200-structured-output')], 'generates'),
  must('chat.create/200-llm-tool', '2.8', 'When an llm tool ran, llm_data.prompt and llm_data.model are strings.', [scenarioFor('chat.create/200-llm-tool')], 'generates'),
  must('chat.create/200-query-config', '2.7', 'A query_config inside its bounds is accepted in the graph tool of a chat.', [valid, queryConfig], 'generates'),
  must('chat.create/400-query-config', '2.7, 7.2', 'A query_config outside its bounds is answered 400 BadRequest, InvalidInputParameters or InvalidContentType.', [valid, queryConfig]),
  must('chat.create/400-malformed-messages', '7.3', 'A malformed messages array is answered 400 BadRequest.', [valid]),
  must('chat.create/400-invalid-role', '7.3', 'A message of an unknown role is answered 400 BadRequest.', [valid]),
  must('chat.create/400-unsupported-model', '7.3', 'A model that is not supported for chat is answered 400 InvalidInputParameters.', [valid]),
  must('chat.create/400-malformed-tools', '7.3', 'Malformed tools are answered 400 InvalidContentType.', [valid]),
  must('chat.create/400-malformed-tool-choice', '7.3', 'A malformed tool_choice is answered 400 InvalidContentType.', [valid]),
  must('chat.create/400-invalid-stream', '7.3', 'A stream that is no boolean is answered 400 BadRequest.', [valid]),
  must('chat.create/400-invalid-stream-options', '7.3', 'Invalid stream_options are answered 400 BadRequest.', [valid]),
  should('chat.create/400-malformed-response-format', '2.8, 7.2', 'A response_format that is no object is answered 400.', [valid]),
  staged('chat.create/400-unsafe-request', '7.3', 'Prohibited content is answered 400 CompletionModelUnsafeRequestError.'),
  staged('chat.create/403-model-access', '7.3', 'A model to which the key has no access is answered 403 InsufficientAccessRights.'),
  staged('chat.create/429-model-quota', '7.3', 'A model over its usage quota is answered 429 CompletionModelQuotaError.'),
  staged('chat.create/500-model-internal-error', '7.3', 'An internal error of the model is answered 500 CompletionModelInternalError.'),
  staged('chat.create/503-model-unavailable', '7.3', 'A model that is unavailable is answered 503 CompletionModelUnavailableError.'),
  staged('chat.create/model-unauthorized', '7.4', 'Invalid model access credentials give CompletionModelUnauthorizedError.'),
  staged('chat.create/model-underlying-request', '7.4', 'An error in the underlying model request gives CompletionModelUnderlyingRequestError.'),
  staged('chat.create/model-no-prediction', '7.4', 'A model that makes no prediction gives CompletionModelNoPredictionError.'),
]
