import { oversized } from '../harness/checks/common.ts'
import type { Pairs } from '../harness/engine/pairs.ts'
import type { OperationId } from '../catalogue/operations.ts'

/**
 * Pairs that some requirement of the operation accepts although §7.3 does not list them there: nobody knows what a recorded
 * request meant, so that they are no fault of the pair.
 */
export const acceptedPairs: Readonly<Partial<Record<OperationId, Pairs>>> = {
  'pdf.parse': [...oversized, [410, 'ResourceNotFound']],
  'files.upload': oversized,
  'graphs.query': oversized,
  'ai-detect.run': oversized,
  'web-search.run': oversized,
  'translate.run': oversized,
  'vision.analyze': oversized,
}
