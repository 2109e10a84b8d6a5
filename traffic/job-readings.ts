import { member } from '../schemas/json-object.ts'
import { isGranted } from '../harness/engine/answer.ts'
import { isUuid } from '../schemas/uuid.ts'
import { type Instant, parseDateTime } from '../schemas/date-time.ts'
import type { RecordedAnswer } from './recorded-exchange.ts'
import type { RowBook } from './row-book.ts'

/** A job whose creation is recorded. */
interface CreatedJob {
  readonly id: string
  readonly application: string
  readonly createdAt: Instant | undefined
  /** Of the first retrieval. */
  firstRead?: Instant
}

/** Holds recorded retrievals against the recorded creation of the same job. Entries are to come in order of time. */
export function createJobReadings(book: RowBook): (exchange: RecordedAnswer) => void {
  const jobs = new Map<string, CreatedJob>()
  return (exchange) => {
    const { operation, params } = exchange.probe
    const json = exchange.answer.json()
    if (!json.ok || !isGranted(exchange.answer)) return
    if (operation === 'jobs.create') {
      const id = member(json.value, 'id')
      if (typeof id !== 'string') return
      const createdAt = instantOf(member(json.value, 'created_at'))
      jobs.set(keyOf(id), { id, application: params['application_id'] ?? '', createdAt })
    }
    const job = operation === 'jobs.retrieve' ? jobs.get(keyOf(params['job_id'] ?? '')) : undefined
    if (!job) return
    judgeIdentity(exchange, json.value, job, book)
    judgeCreatedAt(exchange, json.value, job, book)
  }
}

/** uuids are the same in either letter case. */
function keyOf(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id
}

function judgeIdentity(exchange: RecordedAnswer, read: unknown, job: CreatedJob, book: RowBook): void {
  const row = 'jobs.retrieve/200-identity'
  for (const [name, own] of [
    ['id', job.id],
    ['application_id', job.application],
  ] as const) {
    const value = member(read, name)
    // An absent or ill-typed member is a fault of the job's shape, and told there.
    if (typeof value !== 'string') continue
    if (keyOf(value) === keyOf(own)) book.pass(row)
    else book.fail(row, exchange, `${name} ${own}`, `${name} ${value}`)
  }
}

/** Equal at the coarser of the two precisions, one unit of it allowed (a server may round or cut), and the same ever after. */
function judgeCreatedAt(exchange: RecordedAnswer, read: unknown, job: CreatedJob, book: RowBook): void {
  const row = 'jobs.retrieve/200-created-at'
  const text = member(read, 'created_at')
  const instant = instantOf(text)
  // A text that is no date-time is told as a fault of shape.
  if (!instant) return
  const actual = `created_at ${String(text)}`
  const { createdAt } = job
  const first = (job.firstRead ??= instant)
  if (createdAt && Math.abs(instant.epochMs - createdAt.epochMs) > Math.max(createdAt.unitMs, instant.unitMs)) {
    return book.fail(row, exchange, 'the created_at of the creation response', actual)
  }
  if (instant.epochMs === first.epochMs) book.pass(row)
  else book.fail(row, exchange, 'the same created_at at each reading', actual)
}

/** Zeros at the end of the fraction are no precision: a server that keeps whole seconds may still write `.000`. */
function instantOf(value: unknown): Instant | undefined {
  if (typeof value !== 'string') return undefined
  const [, seconds = value, fraction = '', zone = ''] = /^([^.]*)\.(\d+)(.*)$/s.exec(value) ?? []
  let kept = fraction.length
  while (fraction[kept - 1] === '0') kept--
  return parseDateTime(seconds + (kept > 0 ? `.${fraction.slice(0, kept)}` : '') + zone)
}
