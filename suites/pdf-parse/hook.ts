import { operationProbe } from '../../harness/engine/operation-probe.ts'
import type { RunHook } from '../../harness/engine/run.ts'
import { pdfId } from './pdf-id.ts'

/** The valid request of PDF parsing: a PDF may have to be uploaded first. */
export const pdfHook: RunHook = {
  requests: {
    'pdf.parse': async (run) =>
      operationProbe(run, 'pdf.parse', { params: { file_id: await pdfId(run, 'pdfFile') }, json: { format: 'text' } }),
  },
}
