import { isDeepStrictEqual } from 'node:util'
import { member, preview } from '../../schemas/json.ts'
import { judgeEach } from '../../harness/checks/at-once.ts'
import { control } from '../../harness/checks/control.ts'
import { jsonValue } from '../../harness/engine/response.ts'
import { NotExercised, pause } from '../../harness/engine/outcome.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import type { Run } from '../../harness/engine/run.ts'
import type { Judge, CheckContext } from '../../harness/engine/check-context.ts'
import { isWhole, type Job, jobsOf } from './job-tracker.ts'
import { isGone } from './every-job.ts'
import type { SeenReading } from './seen-jobs.ts'

/** The members that the spec shows (§2.3), but for `updated_at`, which may move: others may change as a server likes. */
const shown = ['id', 'status', 'application_id', 'created_at', 'completed_at', 'data', 'error'] as const

/** One reading at least comes so long after the job was seen to have ended, or later, in ms. */
const laterMs = 200

/** Most jobs of one application that ended in one way which are read again, the latest of them. */
const mostReadAgain = { full: 3, quick: 1 }

/** Reads the ended jobs of the run again, and a declared one: what the spec shows of them reads the same. */
export const judgeStable: Judge = async (context) => {
  const { run } = context
  const ended = [...endedReadings(run), ...(await declaredReading(run))]
  const [first, ...others] = ended
  if (!first) throw new NotExercised('this run saw no job end')
  await judgeEach(latestOfEach(run, others), (reading) => judgeAgain(context, reading))
  await pause(run, Math.max(0, first.exchange.endedAt + laterMs - performance.now()))
  await judgeAgain(context, first)
}

/** The last ones of each application and outcome; of applications that the run created as of one. */
function latestOfEach(run: Run, ended: readonly SeenReading[]): SeenReading[] {
  const { target, options } = run
  const counts = new Map<string, number>()
  return ended.toReversed().filter(({ exchange, job }) => {
    const id = jobOf(run, exchange)?.application ?? ''
    const kind = `${target.applicationIds.has(id) ? id : ''} ${String(member(job, 'status'))}`
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    return (counts.get(kind) ?? 0) <= mostReadAgain[options.depth]
  })
}

async function judgeAgain(context: CheckContext, before: SeenReading): Promise<void> {
  const send = (): Promise<Exchange> => context.send(before.exchange.probe)
  const first = await send()
  const wait = settledAt(context, before) - performance.now()
  // A new job may not be known everywhere yet.
  if (isGone(first) && wait > 0) await pause(context.run, wait)
  const exchange = isGone(first) && wait > 0 ? await send() : first
  const { response } = exchange
  const json = response?.json()
  if (!response || exchange.throttled) throw new NotExercised('the job could not be read again')
  context.cases++
  context.shownBy = before.exchange.purpose.requirement
  if (response.status !== 200 || !json?.ok) {
    context.fail(exchange, '200 with the job, as when the ended job was read before', '')
  }
  for (const name of shown) {
    const [was, is] = [member(before.job, name), member(json.value, name)]
    if (readsTheSame(was, is)) continue
    const told = (value: unknown): string => `${name} ${value === undefined ? 'absent' : preview(value)}`
    context.fail(exchange, `${told(was)}, as when the ended job was read before`, '', told(is))
  }
}

/** The job that was asked for, whatever the answer says of it. */
function jobOf(run: Run, { probe }: Exchange): Job | undefined {
  return jobsOf(run).all.find(({ id }) => id === probe.params['job_id'])
}

/** When the job of that reading is to be known everywhere, in ms (`performance.now()`). */
function settledAt({ run }: CheckContext, { exchange }: SeenReading): number {
  const job = jobOf(run, exchange)
  return job ? job.createdAtMs + run.target.limits.settleMs : 0
}

/** True if both are the same JSON value; data that is nested too deep to be compared tells nothing. */
function readsTheSame(before: unknown, after: unknown): boolean {
  try {
    return isDeepStrictEqual(before, after)
  } catch {
    throw new NotExercised('the job is nested too deep to be compared')
  }
}

/** First reading of each job of the run that showed it ended; the last of all if only that was kept whole, and shows it. */
function endedReadings(run: Run): SeenReading[] {
  return jobsOf(run)
    .all.filter(({ creation }) => creation.probe.credential.full)
    .flatMap(({ readings }) => {
      const first = readings.find(({ job }) => hasEnded(job))
      if (!first || isWhole(first)) return first ? [first] : []
      return readings.slice(-1).filter(({ job }) => hasEnded(job))
    })
}

async function declaredReading(run: Run): Promise<SeenReading[]> {
  if (run.target.resources.job === undefined) return []
  const { exchange } = await control(run, 'jobs.retrieve')
  const job = jsonValue(exchange?.response)
  return exchange && hasEnded(job) ? [{ exchange, job }] : []
}

/** A status that the spec does not know may be one of a job that goes on. */
function hasEnded(job: unknown): boolean {
  const status = member(job, 'status')
  return status === 'completed' || status === 'failed'
}
