import type { Exchange } from '../../harness/engine/exchange.ts'
import { responseOf } from '../../harness/engine/response.ts'
import type { HistoryEvent } from '../../harness/journal/event.ts'
import { createHistory, type History } from '../../harness/journal/journal.ts'
import { errorNames } from '../../catalogue/errors.ts'

export const limits = { settleMs: 5000, jobTimeoutMs: 8000 }

/** The uuid of a job, by the digit that a story calls it by. */
export const idOf = (name: string): string =>
  `6f1c1a52-93f4-4a53-9d3c-0a8b3c8f4a${name.slice(1).padStart(2, '0')}`

const line =
  /^(?<from>\d+)(?:-(?<to>\d+))? (?<on>\w+)(?<odd>\*)?(?:\/(?<fault>\S+))?: (?<said>\w+|-)(?: (?<tpe>[A-Z]\w*))?(?: (?<job>j\d+))?(?: (?<more>\{.*\}))?$/
/** When a story begins, in ms since the epoch. */
const begun = Date.UTC(2026, 2, 1, 12)
const at = (ms: number): string => new Date(begun + ms).toISOString()

/**
 * The history that a story tells, a line for each request, in ms: `0 a: 202 j1` (a creation on application a makes job 1),
 * `20 j1: in_progress` (a reading), `30 a*: 409` (a creation with values that nobody declared), `40 a/400-missing-inputs: 400
 * BadRequest` (a faulty one), `50 a: -` (no answer), `60 a: made` (the application itself). `0-9 a: 409` says when it ended; it takes 5
 * ms by default. A JSON object at the end holds further members of the answer.
 */
export function historyOf(story: string, isRecorded = false): History {
  const history = createHistory(limits, { isRecorded })
  const jobs = new Map<string, { readonly application: string; readonly createdAt: number }>()
  const lines = story.split('\n').map((text) => text.trim())
  for (const text of lines.filter((one) => one !== '' && !one.startsWith('#'))) {
    const told = line.exec(text)?.groups
    if (!told) throw new Error(`no line of a story: ${text}`)
    const { from = '0', to, on = '', odd, fault, said = '', tpe, job, more = '{}' } = told
    const [sentAt, endedAt] = [Number(from), Number(to ?? Number(from) + 5)]
    const members = JSON.parse(more) as Record<string, unknown>
    const isReading = /^j\d+$/.test(on)
    const status = said === '-' ? undefined : said === 'made' ? 201 : Number(said) || 200
    if (job && status === 202 && !jobs.has(job))
      jobs.set(job, { application: on, createdAt: sentAt })
    const known = jobs.get(isReading ? on : (job ?? ''))
    const ownOf = (name: string) => ({ id: idOf(name), created_at: at(known?.createdAt ?? 0) })
    const body = {
      ...(isReading &&
        status === 200 && { ...ownOf(on), status: said, application_id: known?.application }),
      ...(job && { ...ownOf(job), status: 'in_progress' }),
      ...(status !== undefined &&
        status >= 400 && { tpe: tpe ?? 'BadRequest', errors: [], extras: {} }),
      ...members,
    }
    history.append({
      kind: isReading ? 'reading' : 'creation',
      operation: isReading
        ? 'jobs.retrieve'
        : said === 'made'
          ? 'applications.create'
          : 'jobs.create',
      object: isReading ? idOf(on) : said === 'made' ? on : job && String(body.id),
      ...(!isReading && said !== 'made' && { within: on }),
      request: isRecorded ? 'unknown' : fault ? 'faulty' : odd ? 'odd' : 'valid',
      ...(fault && { fault }),
      sentAt,
      endedAt,
      status,
      tpe: status !== undefined && status >= 400 ? (tpe ?? 'BadRequest') : undefined,
      isGranted: status !== undefined && status < 300,
      noise: status === 429 || status === 503 ? 'throttled' : undefined,
      isFirst: true,
      body,
      exchange: exchangeOf(status, body, sentAt, endedAt, fault),
    } satisfies HistoryEvent)
  }
  return history
}

export function exchangeOf(
  status: number | undefined,
  body: object,
  sentAt: number,
  endedAt: number,
  fault: string | undefined,
): Exchange {
  const bytes = Buffer.from(JSON.stringify(body))
  const headers = [{ name: 'date', value: new Date(begun).toUTCString() }]
  return {
    purpose: { requirement: null, role: 'probe', what: fault },
    probe: { headers: [], credential: { full: true } },
    ...(status !== undefined && {
      response: responseOf(
        { kind: 'answer', status, headers, sentAt, endedAt, body: bytes, cut: false } as never,
        errorNames,
      ),
    }),
    recorded: () => ({ response: { status, headers: {}, body: JSON.stringify(body) } }),
    sentAt,
    endedAt,
  } as unknown as Exchange
}
