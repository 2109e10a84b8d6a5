import type { Run } from '../engine/run.ts'

/** Ids of an unknown form are taken for uuids of version 4. */
const anyUuid = '6f1d2c3b-8a4e-4b5f-9c6d-7e8f90a1b2c3'

/** An id after whose shape an unknown one of that path parameter is made. */
export function knownIdLike(run: Run, parameter: string): string {
  const { resources } = run.target
  const pdf = typeof resources.pdfFile === 'string' ? resources.pdfFile : undefined
  switch (parameter) {
    case 'application_id':
      return resources.application?.id ?? anyUuid
    case 'file_id':
      return resources.file ?? pdf ?? anyUuid
    case 'graph_id':
      return resources.graph ?? anyUuid
    default:
      return resources.job ?? anyUuid
  }
}
