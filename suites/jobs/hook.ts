import { isBreakdown } from '../../harness/engine/response.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { isPlanned, type Run, type RunHook } from '../../harness/engine/run.ts'
import { operationProbe } from '../../harness/engine/operation-probe.ts'
import type { Probe } from '../../harness/engine/probe.ts'
import { gatesOf } from './gate.ts'
import { createJobs, readFinalStates } from './every-job.ts'
import { noEffectAtOnce } from './no-effect.ts'
import { isEnded, jobsOf } from './job-tracker.ts'
import { readableJob } from './lifecycle.ts'

/** The declared application that a creation names; undefined for any other request. */
function applicationOf(run: Run, { operation, params }: Probe): string | undefined {
  const application = operation === 'jobs.create' ? params['application_id'] : undefined
  return application !== undefined && run.target.applicationIds.has(application) ? application : undefined
}

function isJudgedFirst(run: Run, application: string): boolean {
  return isPlanned(run, 'jobs.create/4xx-no-effect') && run.target.resources.application?.id === application
}

/** All that the engine knows about jobs: which one can be read, that an application takes one creation at a time, and their end. */
export const jobsHook: RunHook = {
  requests: {
    'jobs.retrieve': async (run) => {
      const id = run.target.resources.job ?? (await readableJob(run))
      return operationProbe(run, 'jobs.retrieve', { params: { job_id: id } })
    },
  },
  intercept(run, probe, purpose, send) {
    const application = applicationOf(run, probe)
    if (application === undefined) return undefined
    const expects409 = purpose.expects?.some(([status]) => status === 409) ?? false
    const gate = gatesOf(run).of(application)
    if (probe.effect !== 'none') return gate.sendWhenIdle({ exclusive: true, expects409 }, send)
    const refused = (): Promise<Exchange> => gate.sendWhenIdle({ exclusive: false, expects409 }, send)
    // Whether a refused creation has an effect is judged before any other refusal is sent there.
    return isJudgedFirst(run, application) ? noEffectAtOnce(run).then(refused, refused) : refused()
  },
  observe(run, exchange) {
    const application = applicationOf(run, exchange.probe)
    if (application === undefined) return
    gatesOf(run).of(application).record(exchange)
    const { response, probe } = exchange
    if (response && probe.effect !== 'none' && isBreakdown(response)) jobsOf(run).broken.push(exchange)
  },
  unanswered(run, { probe, endedAt }) {
    const application = applicationOf(run, probe)
    if (application !== undefined) gatesOf(run).of(application).lostAt = endedAt
  },
  start: createJobs,
  finish: readFinalStates,
  unfinished: (run) =>
    jobsOf(run)
      .all.filter((job) => !isEnded(job.readings.at(-1)))
      .map(({ id }) => id),
}
