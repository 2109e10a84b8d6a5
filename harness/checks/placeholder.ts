import { type OperationId, operation } from '../../catalogue/operations.ts'
import { randomOf, seedFor } from './seed.ts'
import type { Run } from '../engine/run.ts'
import { operationProbe } from '../engine/operation-probe.ts'
import type { Probe } from '../engine/probe.ts'
import { freshUnknownId } from './unknown-id.ts'

/** Ids of an unknown form are taken for uuids of version 4. */
const anyUuid = '6f1d2c3b-8a4e-4b5f-9c6d-7e8f90a1b2c3'

/** An id after whose shape an unknown one of that path parameter is made. */
function knownIdLike(run: Run, parameter: string): string {
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

/** A request of an operation for which nothing is declared: `{}` for a body, unknown ids in the path. It creates nothing on a conforming server. */
export async function placeholderRequest(run: Run, id: OperationId): Promise<Probe> {
  const { path, body } = operation(id)
  const random = randomOf(seedFor(run.options.seed, `stand-in ${id}`))
  const params = Object.fromEntries(
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [
      name as string,
      freshUnknownId(run, knownIdLike(run, name as string), random),
    ]),
  )
  return operationProbe(run, id, { params, ...(body === 'none' ? {} : { json: {} }) })
}
