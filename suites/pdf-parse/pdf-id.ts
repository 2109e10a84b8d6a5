import type { Run } from '../../harness/engine/run.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { samplePdf } from '../../fixtures/pdf.ts'
import { upload } from '../../harness/checks/upload.ts'

export type PdfResource = 'pdfFile' | 'corruptedPdfFile' | 'encryptedPdfFile' | 'oversizedPdfFile'

const ownPdf = { pdfFile: 'good', corruptedPdfFile: 'corrupted', encryptedPdfFile: 'encrypted' } as const

/** The id of a PDF: declared, uploaded from the declared path, or (where nothing is declared) one of the suite's own. Once a run. */
export function pdfId(run: Run, name: PdfResource): Promise<string> {
  return run.once(`pdf ${name}`, async () => {
    const declared = run.target.resources[name]
    if (typeof declared === 'string') return declared
    if (declared)
      return upload(run, { bytes: declared.bytes, filename: declared.filename, contentType: 'application/pdf' })
    if (name === 'oversizedPdfFile') throw new NotExercised('declare resources.oversizedPdfFile')
    if (name !== 'pdfFile' && run.target.resources.pdfFile !== undefined)
      throw new NotExercised(`declare resources.${name}`)
    const kind = ownPdf[name]
    return upload(run, { bytes: samplePdf(kind), filename: `${kind}.pdf`, contentType: 'application/pdf' })
  })
}
