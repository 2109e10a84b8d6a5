import type { OperationId } from './operations.ts'
import type { Need } from './row.ts'

/** What the target file must declare, as JSON Pointers into it. */
export const application = '/resources/application'
export const someJob: Need = ['/resources/application', '/resources/job']
export const pdfFile: Need = ['/resources/pdfFile', '/operations/files.upload']
export const graph = '/resources/graph'
export const fullKey = '/keys/full'

export function body(operation: OperationId): string {
  return `/operations/${operation}/body`
}

export function field(operation: OperationId, role: string): string {
  return `/operations/${operation}/fields/${role}`
}

/** What each operation's granted requirement needs: a valid request. */
export const validRequest: Readonly<Record<OperationId, readonly Need[]>> = {
  'pdf.parse': [pdfFile],
  'jobs.create': [application],
  'jobs.retrieve': [someJob],
  'completion.create': [body('completion.create')],
  'chat.create': [body('chat.create')],
  'files.upload': ['/operations/files.upload/content'],
  'files.list': [],
  'files.retrieve': ['/resources/file'],
  'graphs.create': [body('graphs.create'), field('graphs.create', 'name')],
  'graphs.add-file': [body('graphs.add-file'), graph],
  'graphs.query': [body('graphs.query'), graph],
  'applications.create': [body('applications.create'), field('applications.create', 'name')],
  'ai-detect.run': [body('ai-detect.run')],
  'web-search.run': [body('web-search.run')],
  'medical.comprehend': [body('medical.comprehend')],
  'translate.run': [body('translate.run')],
  'vision.analyze': [body('vision.analyze')],
}
