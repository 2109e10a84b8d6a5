import { operationProbe } from '../../harness/engine/operation-probe.ts'
import type { Probe } from '../../harness/engine/probe.ts'
import type { Run } from '../../harness/engine/run.ts'
import type { ApplicationResource } from '../../harness/target-file/model.ts'

/** A creation of a job for that application, with its declared inputs. */
export function jobRequest(run: Run, { id, inputs }: ApplicationResource): Promise<Probe> {
  return operationProbe(run, 'jobs.create', { params: { application_id: id }, json: { inputs }, effect: 'generates' })
}
