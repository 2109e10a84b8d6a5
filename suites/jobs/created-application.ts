import { operationProbe } from '../../harness/engine/operation-probe.ts'
import { usable } from '../created/created-object.ts'
import { jobsOf } from './job-tracker.ts'

/** A job can be created on a created application. Which inputs that has nobody says: none is given, and a 400 will do. */
export const judgeUsableApplication = usable({
  creates: 'applications.create',
  what: 'on an application that was just created',
  request: (run, id) =>
    operationProbe(run, 'jobs.create', { params: { application_id: id }, json: { inputs: [] }, effect: 'generates' }),
  // No declared application, so nothing else records its jobs; the run waits for their end anyway.
  seen: (run, id, exchange) => void jobsOf(run).track(exchange, id),
})
