import { type Json, ref } from './json.ts'

const string: Json = { type: 'string' }
const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', ...more, properties })
const arrayOf = (items: Json): Json => ({ type: 'array', items })

const chatRequest = object(
  {
    model: string,
    messages: arrayOf(ref('ChatMessage')),
    tools: arrayOf(ref('ChatTool')),
    tool_choice: { type: 'string', examples: ['auto'] },
    stream: { type: 'boolean', description: 'Named among the errors of §7.3.' },
    stream_options: { type: 'object', description: 'Named among the errors of §7.3.' },
    response_format: ref('ResponseFormat'),
  },
  { description: '§2.8: the members that are named. A tool for knowledge graphs takes a `QueryConfig` (§2.7).' },
)

const chatMessage = object(
  { role: string, content: { oneOf: [string, arrayOf(ref('ContentPart'))] } },
  { required: ['role'] },
)

const contentPart: Json = {
  oneOf: [
    object({ type: { const: 'text' }, text: string }, { required: ['type', 'text'] }),
    object(
      {
        type: { const: 'image_url' },
        image_url: object(
          { url: { type: 'string', description: 'A web address or a data URL.' } },
          { required: ['url'] },
        ),
      },
      { required: ['type', 'image_url'] },
    ),
  ],
}

const llmFunction = object({ description: string, model: { type: 'string', description: 'The model to delegate to.' } })
const chatTool = object(
  { type: { type: 'string', examples: ['llm'] }, function: { type: 'object' } },
  {
    description: '§2.8 shows the tool of type `llm`. Members of other tools are not shown.',
    if: { properties: { type: { const: 'llm' } }, required: ['type'] },
    then: { properties: { function: { ...llmFunction, required: ['model'] } }, required: ['function'] },
  },
)

const responseFormat = object({
  type: { const: 'json_schema' },
  json_schema: object({ name: string, schema: { type: 'object' }, strict: { type: 'boolean' } }),
})

/** The bodies that the interface shows, or some members of. */
export const requestSchemas: Json = {
  PdfParseRequest: object(
    { format: { type: 'string', enum: ['text', 'markdown'] } },
    { description: '§2.1.', required: ['format'] },
  ),
  CreateJobRequest: object(
    { inputs: arrayOf(ref('ApplicationInput')) },
    { description: '§2.5.', required: ['inputs'] },
  ),
  ApplicationInput: object(
    { id: { type: 'string', description: 'Name of the application input.' }, value: arrayOf(string) },
    { description: '§2.5: the members of the sample request. Further ones are not shown.' },
  ),
  ChatRequest: chatRequest,
  ChatMessage: chatMessage,
  ContentPart: contentPart,
  ChatTool: chatTool,
  ResponseFormat: responseFormat,
  GraphQueryRequest: object(
    { query_config: ref('QueryConfig') },
    { description: 'Not shown, but that it takes a `query_config` (§2.7).' },
  ),
  MedicalRequest: object(
    { content: string, response_type: { type: 'string', examples: ['Entities'] } },
    { description: '§2.8: the members that are named.' },
  ),
  VisionRequest: object(
    {
      model: string,
      prompt: { type: 'string', description: 'May hold placeholders, written `{{name}}`.' },
      variables: arrayOf(object({ name: string, file_id: string })),
    },
    { description: '§2.8: the members that are named.' },
  ),
}
