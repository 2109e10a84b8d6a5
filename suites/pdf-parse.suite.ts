import { missingBody } from '../harness/checks/bodies.ts'
import { changed, withBody } from '../harness/checks/conditions.ts'
import { suite } from '../harness/checks/suite.ts'
import { judgeContent, judgeMarkdown, judgeText } from './pdf-parse/content.ts'
import { unreachable, unusable, malformedFormat, unsupportedFormat, judgeRemoved } from './pdf-parse/refusals.ts'

// §4.1 Parse PDF (deprecated)

export const pdfParse = suite('pdf.parse', {
  '200-text': judgeText,
  '200-markdown': judgeMarkdown,
  '200-content': judgeContent,
  '400-missing-body': missingBody,
  '400-missing-format': changed('with a body that has no format', (probe) => withBody(probe, {}), 'absent @ /format'),
  '400-unsupported-format': unsupportedFormat,
  '400-malformed-format': malformedFormat,
  '400-corrupted-pdf': unusable('corruptedPdfFile', 'a corrupted PDF', 2),
  '400-encrypted-pdf': unusable('encryptedPdfFile', 'a PDF that asks for a password'),
  '400-oversized-pdf': unusable('oversizedPdfFile', 'a PDF over the size limit'),
  '4xx-unknown-file': unreachable,
  '4xx-removed': judgeRemoved,
})
