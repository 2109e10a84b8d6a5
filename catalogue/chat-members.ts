import type { Member } from './operation.ts'
import { queryConfigIn } from './query-config.ts'

const messages = { type: '400-malformed-messages' }
const inMessages = { absent: messages.type, type: messages.type }
const tools = { type: '400-malformed-tools' }
const inTools = { absent: tools.type, type: tools.type }

/** §2.8, and §7.3 for `stream` and `stream_options`: the members of a chat. */
// oxfmt-ignore
export const chatMembers: readonly Member[] = [
  { at: '/model', role: 'model', isChosen: true, kinds: ['string'], section: '2.8', judgedBy: { type: '400-unsupported-model', value: '400-unsupported-model' } },
  { at: '/messages', role: 'messages', kinds: ['array'], section: '2.8', judgedBy: messages },
  { at: '/messages/*', kinds: ['object'], section: '2.8', judgedBy: { ...messages, null: messages.type }, component: 'ChatMessage' },
  { at: '/messages/*/role', isChosen: true, kinds: ['string'], section: '2.8', required: true, judgedBy: { absent: messages.type, null: '400-invalid-role', type: '400-invalid-role', value: '400-invalid-role' } },
  { at: '/messages/*/content', kinds: ['string', 'array'], section: '2.8', judgedBy: messages },
  { at: '/messages/*/content/*', kinds: ['object'], section: '2.8', judgedBy: { ...messages, null: messages.type }, component: 'ContentPart' },
  { at: '/messages/*/content/*/type', kinds: ['string'], section: '2.8', required: true, allowed: ['text', 'image_url'], judgedBy: inMessages },
  { at: '/messages/*/content/*/text', ofType: 'text', kinds: ['string'], section: '2.8', required: true, judgedBy: inMessages },
  { at: '/messages/*/content/*/image_url', ofType: 'image_url', kinds: ['object'], section: '2.8', required: true, judgedBy: inMessages },
  { at: '/messages/*/content/*/image_url/url', ofType: 'image_url', kinds: ['string'], section: '2.8', required: true, judgedBy: inMessages, description: 'A web address or a data URL.' },
  { at: '/tools', role: 'tools', kinds: ['array'], section: '2.8', judgedBy: tools, isExtra: true, example: { tools: [{ type: 'llm', function: { description: 'Answers questions', model: '<model>' } }] } },
  { at: '/tools/*', kinds: ['object'], section: '2.8', judgedBy: { ...tools, null: tools.type }, component: 'ChatTool', description: '§2.8 shows the tool of type `llm`. Members of other tools are not shown.' },
  { at: '/tools/*/type', kinds: ['string'], section: '2.8', required: true, shows: 'llm', judgedBy: inTools },
  { at: '/tools/*/function', ofType: 'llm', kinds: ['object'], section: '2.8', required: true, judgedBy: { ...inTools, empty: tools.type } },
  { at: '/tools/*/function/description', ofType: 'llm', kinds: ['string'], section: '2.8', judgedBy: tools },
  { at: '/tools/*/function/model', ofType: 'llm', kinds: ['string'], section: '2.8', required: true, judgedBy: inTools, description: 'The model to delegate to.' },
  { at: '/tool_choice', role: 'tool_choice', kinds: ['string'], tolerates: ['object'], section: '2.8', shows: 'auto', isExtra: true, judgedBy: { type: '400-malformed-tool-choice' } },
  { at: '/stream', role: 'stream', kinds: ['boolean'], section: '7.3', isExtra: true, judgedBy: { type: '400-invalid-stream' } },
  { at: '/stream_options', role: 'stream_options', kinds: ['object'], section: '7.3', isExtra: true, judgedBy: { type: '400-invalid-stream-options' } },
  { at: '/response_format', role: 'response_format', kinds: ['object'], tolerates: ['boolean'], section: '2.8', judgedBy: { type: '400-malformed-response-format' }, component: 'ResponseFormat', example: { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: { type: 'object', properties: { answer: { type: 'string' } } } } } } },
  { at: '/response_format/type', kinds: ['string'], section: '2.8', shows: 'json_schema' },
  { at: '/response_format/json_schema', ofType: 'json_schema', kinds: ['object'], section: '2.8' },
  { at: '/response_format/json_schema/name', ofType: 'json_schema', kinds: ['string'], section: '2.8' },
  { at: '/response_format/json_schema/schema', ofType: 'json_schema', kinds: ['object'], section: '2.8' },
  { at: '/response_format/json_schema/strict', ofType: 'json_schema', kinds: ['boolean'], section: '2.8' },
  ...queryConfigIn('{query_config}', '/tools/0/query_config', { tools: [{ type: 'graph', graph_ids: ['<graph id>'] }] }),
]
