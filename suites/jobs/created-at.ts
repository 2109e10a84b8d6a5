import { member } from '../../schemas/json-object.ts'
import { preview } from '../../schemas/preview.ts'
import { parseDateTime } from '../../schemas/date-time.ts'
import { mainLifecycle } from './lifecycle.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Story } from '../../harness/engine/story.ts'
import { jobsOf } from './job-tracker.ts'

/** The text without zeros at the end of its fraction: a server that keeps whole seconds may still write `.000`. */
function withoutIdleZeros(text: string): string {
  const point = text.indexOf('.')
  if (point < 0) return text
  let end = point + 1
  while (text[end] !== undefined && text[end]! >= '0' && text[end]! <= '9') end++
  let kept = end
  while (kept > point + 1 && text[kept - 1] === '0') kept--
  return text.slice(0, kept === point + 1 ? point : kept) + text.slice(end)
}

/** An instant and the size of one unit of its last digit that counts, both in ms; undefined where the text is no date-time. */
function instantOf(value: unknown) {
  return typeof value === 'string' ? parseDateTime(withoutIdleZeros(value)) : undefined
}

/**
 * `created_at` of a job equals that of its creation at the coarser of the two precisions, one unit of it allowed (a
 * server may round or cut), and reads the same ever after. A text that is no date-time is told as a fault of shape.
 */
export async function judgeCreatedAt(story: Story): Promise<void> {
  await mainLifecycle(story.run)
  for (const job of jobsOf(story.run).all) {
    story.shownBy = job.creation.purpose.requirement
    const creation = job.creation.answer?.json()
    const created = instantOf(creation?.ok ? member(creation.value, 'created_at') : undefined)
    const readings = job.readings.flatMap((reading) => {
      const instant = instantOf(member(reading.job, 'created_at'))
      return instant ? [{ reading, instant }] : []
    })
    for (const { reading, instant } of readings) {
      story.count()
      const text = `created_at ${preview(member(reading.job, 'created_at'))}`
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
