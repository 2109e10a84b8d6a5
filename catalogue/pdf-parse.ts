import { anyBadRequest, oversized } from './pairs.ts'
import { validRequest } from './needs.ts'
import { requirements, scenario } from './requirement.ts'

const valid = validRequest['pdf.parse']

// prettier-ignore
export const pdfParse = requirements('pdf.parse', [
  { id: '200-text', level: 'must', section: '2.2, 4.1', needs: valid, expects: 200,
    statement: 'A PDF is answered 200 with its content as text.',
    control: true, maxRequests: 1 },
  { id: '200-markdown', level: 'must', section: '2.2, 4.1', needs: valid, expects: 200,
    statement: 'A PDF is answered 200 with its content as markdown.' },
  { id: '200-content', level: 'must', section: '2.2', needs: [...valid, ['/resources/pdfText', '/operations/files.upload']], expects: 200,
    statement: 'The content of a PDF holds at least four in five of the words of the file, in their order, in either format.',
    maxRequests: 4, alsoSends: { 'files.upload': 2 } },
  { id: '400-missing-body', level: 'must', section: '2.1, 4.1, 7.2', needs: valid, expects: anyBadRequest,
    statement: 'A request without a body is answered 400 BadRequest, InvalidInputParameters or InvalidContentType.' },
  { id: '400-missing-format', level: 'must', section: '2.1, 4.1, 7.2', needs: valid, expects: anyBadRequest,
    statement: 'A body without format is answered 400 BadRequest, InvalidInputParameters or InvalidContentType.' },
  { id: '400-unsupported-format', level: 'must', section: '2.1, 7.2', needs: valid, expects: anyBadRequest,
    statement: 'A format that is neither text nor markdown is answered 400 BadRequest, InvalidInputParameters or InvalidContentType.',
    maxRequests: { named: 26, generated: 'refusals' } },
  { id: '400-malformed-format', level: 'must', section: '2.1, 7.2', needs: valid, expects: anyBadRequest,
    statement: 'A format that is no string is answered 400 BadRequest, InvalidInputParameters or InvalidContentType.',
    maxRequests: { named: 12, generated: 'refusals' } },
  { id: '400-corrupted-pdf', level: 'must', section: '7.3', needs: [...valid, ['/resources/corruptedPdfFile', '/operations/files.upload']], expects: [[400, 'BadRequest']],
    statement: 'A corrupted PDF is answered 400 BadRequest.',
    maxRequests: 2 },
  { id: '400-encrypted-pdf', level: 'must', section: '7.3', needs: [...valid, ['/resources/encryptedPdfFile', '/operations/files.upload']], expects: [[400, 'BadRequest']],
    statement: 'A PDF that is protected by a password is answered 400 BadRequest.' },
  { id: '400-oversized-pdf', level: 'must', section: '7.3, 8', needs: [...valid, '/resources/oversizedPdfFile'], expects: oversized,
    statement: 'A PDF over the size limit is answered 400 InvalidInputParameters, or 413 BadRequest, PayloadTooLarge or InvalidInputParameters.' },
  { id: '403-file-access', level: 'must', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'The parsing of a file to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '4xx-unknown-file', level: 'must', section: '7.2', needs: valid, expects: [[404, 'NotFound', 'ResourceNotFound'], [410, 'Gone', 'ResourceNotFound'], [400, 'BadRequest', 'InvalidInputParameters'], [403, 'InsufficientAccessRights']],
    statement: 'The parsing of a file that does not exist, or was deleted, is refused: 404, 410, 400 or 403 with a name of that status.',
    maxRequests: 5 },
  { id: '4xx-removed', level: 'must', section: '9, 7.2', expects: [[404], [410]],
    statement: 'After the removal of PDF parsing its path is answered 404 or 410.',
    onlyIf: 'removed' },
])
