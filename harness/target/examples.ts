import type { OperationId } from '../../catalogue/operations.ts'

/** What a target file may hold: pasted from reasons, so that each fits the schema. Angle brackets are to be filled in. */
const application = { id: '<application id>', inputs: [{ id: '<input id>', value: ['tea'] }] }

export const resourceExamples: Readonly<Record<string, unknown>> = {
  application,
  otherApplication: application,
  slowApplication: application,
  failingApplication: application,
  job: '<job id>',
  pdfFile: '<file id>',
  pdfText: '<words of that PDF>',
  corruptedPdfFile: { upload: 'corrupted.pdf' },
  encryptedPdfFile: { upload: 'encrypted.pdf' },
  oversizedPdfFile: { upload: 'oversized.pdf' },
  file: '<file id>',
  deletedFile: '<file id>',
  graph: '<graph id>',
}

export const bodyExamples: Readonly<Partial<Record<OperationId, Readonly<Record<string, unknown>>>>> = {
  'completion.create': { model: '<model>', prompt: 'Hello' },
  'chat.create': { model: '<model>', messages: [{ role: 'user', content: 'Hello' }] },
  'graphs.create': { name: 'conform' },
  'graphs.add-file': { file_id: '<file id>' },
  'graphs.query': { query: 'What is tea?' },
  'applications.create': { name: 'conform' },
  'ai-detect.run': { text: 'Tea is a drink.' },
  'web-search.run': { query: 'tea' },
  'medical.comprehend': { content: 'Tea eased the cough.', response_type: 'Entities' },
  'translate.run': { text: 'Hello', source: 'en', target: 'de' },
  'vision.analyze': {
    model: '<model>',
    prompt: 'What is on {{picture}}?',
    variables: [{ name: 'picture', file_id: '<file id>' }],
  },
}

/** Members that a body may hold besides. */
export const memberExamples: Readonly<Record<string, unknown>> = {
  tools: [{ type: 'llm', function: { description: 'Answers questions', model: '<model>' } }],
  response_format: {
    type: 'json_schema',
    json_schema: {
      name: 'answer',
      strict: true,
      schema: { type: 'object', properties: { answer: { type: 'string' } } },
    },
  },
}

/** Roles whose pointer is not the role's own name at the top of the body. */
export const pointerExamples: Readonly<Record<string, string>> = {
  'graphs.add-file file': '/file_id',
  'chat.create query_config': '/tools/0/query_config',
  'completion.create parameter': '/top_p',
}

/** A tool that has a query_config (§2.7). */
export const graphTool = { type: 'graph', graph_ids: ['<graph id>'] }

export const contentExample = { content: { text: 'Tea is a drink.' }, contentType: 'text/plain', filename: 'tea.txt' }

export const keyExamples: Readonly<Record<string, string>> = {
  full: 'CONFORM_API_KEY',
  expired: 'CONFORM_KEY_EXPIRED',
  restricted: 'CONFORM_KEY_RESTRICTED',
}
