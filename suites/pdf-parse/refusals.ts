import type { Run, RunHook } from '../../harness/engine/run.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { type SamplePdf, samplePdf } from '../../fixtures/pdf.ts'
import { upload } from '../../harness/checks/upload.ts'
import { operationProbe } from '../../harness/engine/operation-probe.ts'

export type PdfResource = 'pdfFile' | 'corruptedPdfFile' | 'encryptedPdfFile' | 'oversizedPdfFile'

const samples: Readonly<Partial<Record<PdfResource, SamplePdf>>> = {
  pdfFile: 'good',
  corruptedPdfFile: 'corrupted',
  encryptedPdfFile: 'encrypted',
}

/** The sample in place of a file; undefined if the target declares it, or declares PDFs and not this one. */
export function ownSample({ target: { resources } }: Run, name: PdfResource): SamplePdf | undefined {
  return resources.pdfFile === undefined && resources[name] === undefined ? samples[name] : undefined
}

/** The id of a PDF: declared, uploaded from the declared path, or (if no PDF is declared) one of the suite's own. Once a run. */
export function pdfId(run: Run, name: PdfResource): Promise<string> {
  return run.once(`pdf ${name}`, async () => {
    const declared = run.target.resources[name]
    if (typeof declared === 'string') return declared
    const contentType = 'application/pdf'
    if (declared) return upload(run, { bytes: declared.bytes, filename: declared.filename, contentType })
    const kind = ownSample(run, name)
    if (kind === undefined) throw new NotExercised(`declare resources.${name}`)
    return upload(run, { bytes: samplePdf(kind), filename: `${kind}.pdf`, contentType }).catch((error: unknown) => {
      if (!(error instanceof NotExercised) || run.options.readOnly) throw error
      // §7.3 lets an upload of such a PDF be refused: then only the target knows of one that is stored.
      throw new NotExercised(`${error.message}; declare resources.${name}, the id of such a PDF that is stored already`)
    })
  })
}

/** The valid request of PDF parsing: a PDF may have to be uploaded first. */
export const pdfHook: RunHook = {
  requests: {
    'pdf.parse': async (run) =>
      operationProbe(run, 'pdf.parse', { params: { file_id: await pdfId(run, 'pdfFile') }, json: { format: 'text' } }),
  },
}
