import { type OperationId, operation } from '../../catalogue/operations.ts'

/** For mock servers and readers: of what the interface does not show, one answer among many. */

const id = '0f8fad5b-d9cb-469f-a165-70867728950e'
const began = '2025-06-01T12:00:00Z'
const application = 'application-1'
const file = { id: 'file-1', name: 'tea.pdf' }

const responses: Readonly<Record<OperationId, unknown>> = {
  'pdf.parse': { content: 'Tea is a drink.' },
  'jobs.create': { id, status: 'in_progress', created_at: began },
  // It has ended: a client that waits for a job of a mock server ends too.
  'jobs.retrieve': {
    id,
    status: 'completed',
    application_id: application,
    created_at: began,
    updated_at: '2025-06-01T12:00:02Z',
    completed_at: '2025-06-01T12:00:02Z',
    data: { title: 'Tea', suggestion: 'Tea is a drink.' },
  },
  'completion.create': { text: 'Tea is a drink.' },
  'chat.create': { choices: [{ message: { role: 'assistant', content: 'Tea is a drink.' } }] },
  'files.upload': file,
  'files.list': { files: [file] },
  'files.retrieve': file,
  'graphs.create': { id: 'graph-1', name: 'conform' },
  'graphs.add-file': { graph_id: 'graph-1', file_id: 'file-1' },
  'graphs.query': { answer: 'Tea is a drink. [tea.pdf](cite-1)', references: { 'cite-1': { file_id: 'file-1' } } },
  'applications.create': { id: application, name: 'conform' },
  'ai-detect.run': { score: 0.1 },
  'web-search.run': { results: [{ title: 'Tea', url: 'https://example.com/tea' }] },
  'medical.comprehend': { entities: [{ category: 'SYMPTOM', text: 'cough', score: 0.9, traits: [] }] },
  'translate.run': { text: 'Hallo' },
  'vision.analyze': { text: 'A cup of tea.' },
}

export function responseExample(of: OperationId): unknown {
  return responses[of]
}

/** The body to paste, what is to be filled in written as a word: `<input id>` as `input-id`. */
export function requestExample(of: OperationId): unknown {
  const text = JSON.stringify(operation(of).example)
  return JSON.parse(text.replaceAll(/<([^<>]+)>/g, (_, words: string) => words.replaceAll(' ', '-'))) as unknown
}
