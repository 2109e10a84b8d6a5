import type { RequirementId } from './catalogue.ts'
import type { OperationId } from './operations.ts'

/** Each operation's granted requirement: its request is the control of the operation's refusals. */
export const grantedRow: Readonly<Record<OperationId, RequirementId>> = {
  'pdf.parse': 'pdf.parse/200-text',
  'jobs.create': 'jobs.create/202-created',
  'jobs.retrieve': 'jobs.retrieve/200-job',
  'completion.create': 'completion.create/2xx-accepted',
  'chat.create': 'chat.create/200-completion',
  'files.upload': 'files.upload/2xx-accepted',
  'files.list': 'files.list/2xx-accepted',
  'files.retrieve': 'files.retrieve/2xx-accepted',
  'graphs.create': 'graphs.create/2xx-accepted',
  'graphs.add-file': 'graphs.add-file/2xx-accepted',
  'graphs.query': 'graphs.query/2xx-accepted',
  'applications.create': 'applications.create/2xx-accepted',
  'ai-detect.run': 'ai-detect.run/2xx-accepted',
  'web-search.run': 'web-search.run/2xx-accepted',
  'medical.comprehend': 'medical.comprehend/200-entities',
  'translate.run': 'translate.run/2xx-accepted',
  'vision.analyze': 'vision.analyze/2xx-accepted',
}
