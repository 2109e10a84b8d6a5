import type { OperationId } from '../../catalogue/operations.ts'
import type { Json } from './json.ts'

/** What the interface shows of an operation beyond method, path and errors. */
export interface Shown {
  readonly summary: string
  readonly description?: string
  readonly deprecated?: true
  /** Names of components; absent if no member is shown. */
  readonly request?: string
  readonly response?: string
  /** Parameters that stand in the query or a header. */
  readonly query?: readonly Json[]
}

const fileTypes: Json = {
  name: 'file_types',
  in: 'query',
  description: 'Comma-separated file extensions without the dot (§2.8).',
  schema: { type: 'string' },
}

const uploadParameters: readonly Json[] = [
  {
    name: 'graphId',
    in: 'query',
    description: 'Id of a knowledge graph, to which the file is attached (§2.8). Where it is sent is not shown.',
    schema: { type: 'string' },
  },
  {
    name: 'Content-Disposition',
    in: 'header',
    description: 'Attachment with the filename (§2.8).',
    schema: { type: 'string' },
  },
]

const noPayloads = 'Payloads are not shown.'

export const shown: Readonly<Record<OperationId, Shown>> = {
  'pdf.parse': {
    summary: 'Parse a PDF',
    description: 'Deprecated, and scheduled for removal on December 22, 2025 (§9).',
    deprecated: true,
    request: 'PdfParseRequest',
    response: 'PdfContent',
  },
  'jobs.create': {
    summary: 'Create a job of an application',
    description: 'An application can have one job in progress at a time (§8). The result is read with `jobs.retrieve`.',
    request: 'CreateJobRequest',
    response: 'CreatedJob',
  },
  'jobs.retrieve': { summary: 'Retrieve a job', response: 'Job' },
  'completion.create': { summary: 'Generate text', description: noPayloads },
  'chat.create': { summary: 'Complete a chat', request: 'ChatRequest', response: 'ChatCompletion' },
  'files.upload': {
    summary: 'Upload a file',
    description: 'The body is the file, labelled with its media type. The response is not shown.',
    query: uploadParameters,
  },
  'files.list': { summary: 'List files', description: 'The response is not shown.', query: [fileTypes] },
  'files.retrieve': { summary: 'Get a file', description: 'The response is not shown.' },
  'graphs.create': { summary: 'Create a knowledge graph', description: noPayloads },
  'graphs.add-file': { summary: 'Add a file to a knowledge graph', description: noPayloads },
  'graphs.query': {
    summary: 'Query a knowledge graph',
    description: `${noPayloads} A query takes a \`query_config\` (§2.7).`,
    request: 'GraphQueryRequest',
  },
  'applications.create': { summary: 'Create an application', description: noPayloads },
  'ai-detect.run': { summary: 'Detect generated text', description: noPayloads },
  'web-search.run': { summary: 'Search the web', description: noPayloads },
  'medical.comprehend': {
    summary: 'Analyze a medical text',
    description: 'Deprecated: its replacement is a chat with an `llm` tool (§9).',
    deprecated: true,
    request: 'MedicalRequest',
    response: 'MedicalEntities',
  },
  'translate.run': { summary: 'Translate a text', description: noPayloads },
  'vision.analyze': {
    summary: 'Analyze images',
    description: 'The response is not shown.',
    request: 'VisionRequest',
  },
}
