import {
  derived,
  idKey,
  type Rule,
  type Evidence,
  readsTheSame,
} from '../../harness/history/index.ts'
import { jobOf, isReading, hasEnded, statusOf, isGone } from './jobs.ts'
import { seconds } from './conflict-rules.ts'
import { shownBy, isRead, told, verdictOf } from './reading-rules.ts'
import { member } from '../../schemas/json.ts'

/** The members that the spec shows (§2.3), but for `updated_at`, which may move: others may change as a server likes. */
const members = ['id', 'status', 'application_id', 'created_at', 'completed_at', 'data', 'error']

/** A replica that lags behind may show a job in progress for so long after another one showed its end, in ms. */
const maxLagMs = 1000
/** Least time from the end of a job to a later reading of it, in ms. */
const laterMs = 200

/** Ids under which jobs were read: those of the history, and those that somebody declared. */
export const readIds = derived((history) => {
  const ids = history.events.flatMap(({ operation, kind, object, request }) =>
    operation === 'jobs.retrieve' && kind === 'reading' && request !== 'faulty'
      ? (object ?? [])
      : [],
  )
  return [...new Set(ids.map(idKey))]
})

/** §3: a job that has ended reads the same again, `updated_at` apart. */
export const stable: Rule = (history) => {
  let cases = 0
  const evidence = readIds(history).flatMap((id): Evidence[] => {
    const job = jobOf(history, id)
    const readings = job?.readings ?? history.of(id).filter(isReading)
    const end = readings.find(hasEnded)
    const later = readings.filter((one) => {
      const lagMs = statusOf(one) === 'in_progress' ? maxLagMs : laterMs
      return end && one.noise === undefined && one.sentAt >= end.endedAt + lagMs
    })
    return later.flatMap((reading) => {
      const what = `read again ${seconds(reading.sentAt - end!.endedAt)} later`
      const by = {
        what,
        against: end!.exchange,
        shownBy: job && shownBy(job),
        exchange: reading.exchange,
      }
      if (isGone(reading)) {
        const isNew = job && reading.sentAt - job.creation.endedAt < history.limits.settleMs
        return isNew
          ? []
          : [{ ...by, expected: '200 with the job, as when the ended job was read before' }]
      }
      if (!isRead(reading)) return []
      cases++
      const name = members.find(
        (one) => !readsTheSame(member(end!.body, one), member(reading.body, one)),
      )
      if (name === undefined) return []
      const expected = `${told(name, end!)}, as when the ended job was read before`
      return [{ ...by, expected, actual: told(name, reading) }]
    })
  })
  return verdictOf(evidence.slice(0, 1), cases + evidence.length, 'no ended job was read again')
}
