import { type OperationId, operation } from '../../catalogue/operations.ts'
import { randomOf, seedFor } from './seed.ts'
import type { Run } from '../engine/run.ts'
import { knownIdLike } from './known-id.ts'
import { operationProbe } from '../engine/operation-probe.ts'
import type { Probe } from '../engine/probe.ts'
import { freshUnknownId } from './fresh-unknown-id.ts'

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
