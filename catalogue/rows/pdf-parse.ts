import type { Need } from '../requirement.ts'
import { pdfFile } from './needs.ts'
import { must, staged } from './row.ts'

const corrupted: Need = ['/resources/corruptedPdfFile', '/operations/files.upload']
const encrypted: Need = ['/resources/encryptedPdfFile', '/operations/files.upload']
const validation = '400 BadRequest, InvalidInputParameters or InvalidContentType'

// prettier-ignore
export const pdfParse = [
  must('pdf.parse/200-text', '2.2, 4.1', 'A PDF is answered 200 with its content as text.', [pdfFile]),
  must('pdf.parse/200-markdown', '2.2, 4.1', 'A PDF is answered 200 with its content as markdown.', [pdfFile]),
  must('pdf.parse/400-missing-body', '2.1, 4.1, 7.2', `A request without a body is answered ${validation}.`, [pdfFile]),
  must('pdf.parse/400-missing-format', '2.1, 4.1, 7.2', `A body without format is answered ${validation}.`, [pdfFile]),
  must('pdf.parse/400-unsupported-format', '2.1, 7.2', `A format that is neither text nor markdown is answered ${validation}.`, [pdfFile]),
  must('pdf.parse/400-malformed-format', '2.1, 7.2', `A format that is no string is answered ${validation}.`, [pdfFile]),
  must('pdf.parse/400-corrupted-pdf', '7.3', 'A corrupted PDF is answered 400 BadRequest.', [pdfFile, corrupted]),
  must('pdf.parse/400-encrypted-pdf', '7.3', 'A PDF that is protected by a password is answered 400 BadRequest.', [pdfFile, encrypted]),
  must('pdf.parse/400-oversized-pdf', '7.3, 8', 'A PDF over the size limit is answered 400 InvalidInputParameters, or 413 BadRequest or PayloadTooLarge.', [pdfFile, '/resources/oversizedPdfFile']),
  staged('pdf.parse/403-file-access', '5', 'The parsing of a file to which the key has no access is answered 403 InsufficientAccessRights.'),
  must('pdf.parse/4xx-unknown-file', '7.2', 'The parsing of a file that does not exist is refused: 404, 410, 400 or 403 with a name of that status.', [pdfFile]),
  must('pdf.parse/4xx-removed', '9, 7.2', 'After the removal of PDF parsing its path is answered 404 or 410.'),
]
