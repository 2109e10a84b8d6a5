import { declaredResource } from '../../harness/checks/valid-request.ts'
import type { RunHook } from '../../harness/engine/run.ts'
import { operationProbe } from '../../harness/engine/operation-probe.ts'
import type { Probe } from '../../harness/engine/probe.ts'
import type { Run } from '../../harness/engine/run.ts'
import { gatesOf } from './gate.ts'
import { isEnded, jobsOf } from './job-tracker.ts'
import { readableJob } from './lifecycle.ts'
import { jobRequest } from './request.ts'

/** The declared application that a creation names; undefined for any other request. */
function applicationOf(run: Run, { operation, params }: Probe): string | undefined {
  const application = operation === 'jobs.create' ? params['application_id'] : undefined
  return application !== undefined && run.target.applicationIds.has(application) ? application : undefined
}

/** All that the engine is told of jobs: how they are asked for, one creation at a time on an application, their end. */
export const jobsHook: RunHook = {
  requests: {
    'jobs.create': (run) => jobRequest(run, declaredResource(run, 'application')),
    'jobs.retrieve': async (run) => {
      const id = run.target.resources.job ?? (await readableJob(run))
      return operationProbe(run, 'jobs.retrieve', { params: { job_id: id } })
    },
  },
  admit(run, probe, purpose, send) {
    const application = applicationOf(run, probe)
    if (application === undefined) return undefined
    const expects409 = purpose.expects?.some(([status]) => status === 409) ?? false
    return gatesOf(run)
      .of(application)
      .pass(probe.effect !== 'none', expects409, send)
  },
  observe(run, exchange) {
    const application = applicationOf(run, exchange.probe)
    if (application !== undefined) gatesOf(run).of(application).note(exchange)
  },
  async finish(run) {
    const deadline = performance.now() + run.target.limits.jobTimeoutMs
    const jobs = jobsOf(run)
    await Promise.all(jobs.all.map((job) => jobs.awaitEnd(job, deadline).catch(() => false)))
  },
  unfinished: (run) =>
    jobsOf(run)
      .all.filter((job) => !isEnded(job.readings.at(-1)))
      .map(({ id }) => id),
}
