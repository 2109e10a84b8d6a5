import { parseDateTime } from '../../schemas/date-time.ts'
import { member } from '../../harness/ask/answer.ts'
import { mainLifecycle } from '../../harness/jobs/lifecycle.ts'
import { NotExercised } from '../../harness/run/outcome.ts'
import type { Story } from '../../harness/words/story.ts'

/**
 * An instant and the size of one unit of its last digit, both in ms; undefined where the text is no date-time. Zeros at
 * the end of the fraction are no precision: a server that keeps whole seconds may still write `.000`.
 */
function instantOf(value: unknown) {
  return typeof value === 'string'
    ? parseDateTime(value.replace(/\.(\d*?)0+(?=\D)/, (_, kept: string) => kept && `.${kept}`))
    : undefined
}

/**
 * `created_at` of a job equals that of its creation at the coarser of the two precisions, one unit of it allowed (a
 * server may round or cut), and reads the same ever after. A text that is no date-time is told as a fault of shape.
 */
export async function judgeCreatedAt(story: Story): Promise<void> {
  await mainLifecycle(story.run)
  for (const job of story.run.jobs.all) {
    const creation = job.creation.answer?.json()
    const created = instantOf(creation?.ok ? member(creation.value, 'created_at') : undefined)
    const readings = job.readings.flatMap((reading) => {
      const instant = instantOf(member(reading.job, 'created_at'))
      return instant ? [{ reading, instant }] : []
    })
    for (const { reading, instant } of readings) {
      story.count()
      const text = `created_at ${String(member(reading.job, 'created_at'))}`
      const unit = Math.max(created?.unitMs ?? 0, instant.unitMs)
      if (created && Math.abs(instant.epochMs - created.epochMs) > unit) {
        story.fail(reading.exchange, 'the created_at of the creation response', `for job ${job.id}`, text)
      }
      if (instant.epochMs !== readings[0]?.instant.epochMs) {
        story.fail(reading.exchange, 'the same created_at at each reading', `for job ${job.id}`, text)
      }
    }
  }
  if (story.cases === 0) throw new NotExercised('no reading of a job had a created_at that can be compared')
}
