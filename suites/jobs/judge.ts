import {
  byScenario,
  control,
  controlExchange,
  declaredResource,
  grantedByScenario,
  grantedProbe,
  inScenario,
  judgeVerdict,
  validRequest,
} from '../../harness/checks/index.ts'
import type { CheckContext, Judge, Run } from '../../harness/engine/index.ts'
import { jsonValue, judgeGranted, judgeShape, NotExercised } from '../../harness/engine/index.ts'
import { type History, historyOf, sameId } from '../../harness/history/index.ts'
import { leftOut } from '../../harness/report/index.ts'
import { member, preview } from '../../schemas/json.ts'
import { ids } from './held.ts'
import { followFailing, followFirst } from './follow.ts'
import { failedRule } from './reading-rules.ts'
import { jobRules } from './rules.ts'

type Id = keyof typeof jobRules

/** The requirements that say when there is no conflict: a scenario brings about the state without one. */
const granting: readonly string[] = [ids.released, ids.perApplication, ids.noEffect]

/**
 * Judges a requirement by its rule, on all that the run saw.
 * @param drive what brought the states about: why that could not be done is the reason if nothing is known
 */
export function byRule(id: Id, drive: (run: Run) => Promise<unknown>): Judge {
  return async (context) => {
    if (context.scenario) return (granting.includes(id) ? grantedByScenario : byScenario)(context)
    const { run } = context
    const verdict = jobRules[id](historyOf(run))
    if (verdict.outcome === 'open') await drive(run)
    if (id === ids.inProgress || id === ids.noEffect) context.control = 'granted'
    judgeVerdict(
      context,
      verdict.outcome === 'open' ? { ...verdict, why: whyOpen(id, run, verdict) } : verdict,
    )
  }
}

/** Why nothing is known of a conflict, if the run itself is the reason, or has tried in vain. */
function whyOpen(id: Id, run: Run, { why }: { readonly why: string }): string {
  if (id === ids.atomic && run.target.limits.concurrency === 1)
    return 'concurrent creations need limits.concurrency of 2 or more'
  return id.includes('/409-') ? `three attempts proved nothing: ${why}` : why
}

/** Every creation of the run that should be granted gives 202 and the shape shown. */
export const judgeCreated: Judge = async (context) => {
  const exchange = await controlExchange(context.run, 'jobs.create')
  const expected = '202 with the id, status and created_at of the new job'
  const verdict = jobRules['jobs.create/202-created'](historyOf(context.run))
  // What the run has made itself is nobody else's: that one is refused is no reason to know nothing.
  if (verdict.outcome === 'broken' && exchange.response?.status === 409)
    return judgeVerdict(context, verdict)
  judgeGranted(context, exchange, expected, 'with a valid body')
  judgeShape(context, exchange, 'created-job', 'with a valid body')
  judgeVerdict(context, verdict)
}

const isRead = (history: History, id: string): boolean => history.of(id).length > 0

/** A reading of the declared job, or of the first one of the run, and every other. */
export const judgeJobs: Judge = async (context) => {
  const { run } = context
  const { exchange } = await control(run, 'jobs.retrieve')
  if (!exchange) throw new NotExercised(leftOut('--read-only'))
  judgeGranted(context, exchange, '200 with a job', '')
  judgeShape(context, exchange, 'job', '')
  const verdict = jobRules['jobs.retrieve/200-job'](historyOf(run))
  if (verdict.outcome !== 'open') judgeVerdict(context, verdict)
}

/** A declared job shows its own id; the target file does not say of which application it is. */
async function judgeDeclared(context: CheckContext): Promise<void> {
  const { job } = context.run.target.resources
  if (job === undefined || !isRead(historyOf(context.run), job)) return
  const { exchange } = await control(context.run, 'jobs.retrieve')
  const read = member(jsonValue(exchange?.response), 'id')
  if (!exchange || typeof read !== 'string') return
  context.cases++
  if (!sameId(read, job))
    context.fail(exchange, `id ${job}`, 'for the declared job', `id ${preview(read)}`)
}

export const judgeIdentity: Judge = async (context) => {
  await judgeDeclared(context)
  const verdict = jobRules['jobs.retrieve/200-identity'](historyOf(context.run))
  if (verdict.outcome === 'open') await followFirst(context.run)
  judgeVerdict(context, verdict)
}

/** A job of the application that is declared for it, or a retrieval that the target's scenario leads to a failed job. */
export const judgeFailed: Judge = async (context) => {
  const { run } = context
  if (!context.scenario) {
    const verdict = failedRule(declaredResource(run, 'failingApplication').id)(historyOf(run))
    if (verdict.outcome === 'open') await followFailing(run)
    return judgeVerdict(context, verdict)
  }
  const make = grantedProbe(context, 'jobs.retrieve', () => validRequest(run, 'jobs.retrieve'))
  await inScenario(context, 'jobs.retrieve', async () => {
    const exchange = await context.send(make)
    const what = 'of an application whose jobs fail'
    judgeGranted(context, exchange, '200 with a failed job', what)
    const job = jsonValue(exchange.response)
    const expected = 'status failed; error, if present, a string'
    if (member(job, 'status') !== 'failed') context.fail(exchange, expected, what)
    const error = member(job, 'error')
    if (error !== undefined && typeof error !== 'string')
      context.fail(exchange, expected, what, `error ${preview(error)}`)
  })
}
