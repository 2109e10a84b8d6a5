import { member } from '../../schemas/json-object.ts'
import { preview } from '../../schemas/preview.ts'
import { isDeepStrictEqual } from 'node:util'
import { control } from '../../harness/checks/control.ts'
import { isEnded } from './job-tracker.ts'
import type { Reading } from './model.ts'
import { mainLifecycle } from './lifecycle.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Run } from '../../harness/engine/run.ts'
import type { Story } from '../../harness/engine/story.ts'
import { pause } from '../../harness/engine/pause.ts'

/** The members that the spec shows (§2.3): others may change as a server likes. */
const shown = ['id', 'status', 'application_id', 'created_at', 'updated_at', 'completed_at', 'data', 'error'] as const

/** Two more looks, the second a little later, in ms. */
const pauses = [0, 200] as const

/** Looks at an ended job again: what the spec shows of it reads the same. */
export async function judgeStable(story: Story): Promise<void> {
  const { run } = story
  const first = await endedReading(run)
  for (const ms of pauses) {
    await pause(run, ms)
    const exchange = await story.ask(first.exchange.probe)
    const json = exchange.answer?.json()
    if (!exchange.answer || exchange.throttled) throw new NotExercised('the job could not be read again')
    story.count()
    if (exchange.answer.status !== 200 || !json?.ok) {
      story.fail(exchange, '200 with the job, as when the ended job was read before', '')
    }
    for (const name of shown) {
      const [before, after] = [member(first.job, name), member(json.value, name)]
      if (readsTheSame(before, after)) continue
      const told = (value: unknown): string => `${name} ${value === undefined ? 'absent' : preview(value)}`
      story.fail(exchange, `${told(before)}, as when the ended job was read before`, '', told(after))
    }
  }
}

/** True where both are the same JSON value; data that is nested too deep to be compared tells nothing. */
function readsTheSame(before: unknown, after: unknown): boolean {
  try {
    return isDeepStrictEqual(before, after)
  } catch {
    throw new NotExercised('the job is nested too deep to be compared')
  }
}

/** A reading of an ended job: the run's own, or the declared one. */
async function endedReading(run: Run): Promise<Reading> {
  if (run.target.resources.job === undefined) {
    const { job } = await mainLifecycle(run)
    const last = job.readings.at(-1)
    if (last && isEnded(last)) return last
    throw new NotExercised('the job did not end in time')
  }
  const { exchange, said } = await control(run, 'jobs.retrieve')
  const json = exchange?.answer?.json()
  const job = json?.ok ? json.value : undefined
  const status = member(job, 'status')
  if (exchange && (status === 'completed' || status === 'failed')) return { exchange, job, status }
  throw new NotExercised(`job ${run.target.resources.job} has not ended: ${said}`)
}
