import { readFileSync } from 'node:fs'
import { codeNames, listedTypes } from '../../catalogue/answers.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import type { Exchange } from '../../harness/journal/exchange.ts'
import { responseOf } from '../support/response.ts'
import type { HistoryEvent } from '../../harness/journal/event.ts'
import { Journal, type History } from '../../harness/journal/journal.ts'
import { bodyOf } from '../spec/bodies.ts'

export const limits = { settleMs: 5000, jobTimeoutMs: 8000 }

/** The uuid of a job, by the digit that a story calls it by. */
export const idOf = (name: string): string =>
  `6f1c1a52-93f4-4a53-9d3c-0a8b3c8f4a${name.slice(1).padStart(2, '0')}`

const line =
  /^(?<from>\d+)(?:-(?<to>\d+))? (?<on>\w+)(?<odd>\*)?(?<other>!)?(?:\/(?<fault>\S+))?: (?<said>\w+|--?)(?: (?<tpe>[A-Z]\w*))?(?: (?<job>j\d+))?(?<more>(?: \w+=\S+)*)$/
/** What a reading shows besides, for the shape alone. */
const read = bodyOf('job')
/** When a story begins, in ms since the epoch. */
const begun = Date.UTC(2026, 2, 1, 12)
const at = (ms: number): string => new Date(begun + ms).toISOString()
/** The name of an error: the first that §7 gives the operation, unless a story says another. */
export const tpeOf = (operation: OperationId, status = 0, told?: string): string | undefined =>
  status < 400
    ? undefined
    : (told ?? listedTypes(operation, status)[0] ?? codeNames[status]?.[0] ?? 'BadRequest')

/** `status=7 error=none created_at=T12:00:00Z`: JSON, a time on the day of the story, or a text. */
export function membersIn(text = ''): Record<string, unknown> {
  const valueOf = (value: string): unknown => {
    try {
      return JSON.parse(value)
    } catch {
      return value.replace(/^T/, '2026-03-01T')
    }
  }
  return Object.fromEntries(
    [...text.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, valueOf(value)]),
  )
}

export type Row = readonly [verdict: string, what: string, story: string]

/** The tables in a file, by the id above each; `(name 1 a)` in a story is what that function makes of the words behind its name. */
export function tablesIn<Id extends string>(
  file: string,
  functions: Readonly<Record<string, (...words: string[]) => string>>,
): [Id, Row[]][] {
  const blocks = readFileSync(new URL(file, import.meta.url), 'utf8')
    .trim()
    .split('\n\n')
    .slice(1)
  return blocks.map((block) => {
    const [id, ...lines] = block.split('\n')
    const rows = lines.map((line): Row => {
      const [verdict = '', what = '', story = ''] = line.split('  ')
      const written = story.replaceAll(/\((\w+) ?([^)]*)\)/g, (_, name: string, words: string) =>
        functions[name]!(...words.split(' ')),
      )
      return [verdict, what, written]
    })
    return [id as Id, rows]
  })
}

/**
 * The history that a story tells, a line for each request, in ms: `0 a: 202 j1` (a creation on application a makes job 1),
 * `20 j1: in_progress` (a reading), `30 a*: 409` (a creation with values that nobody declared), `40 a/400-missing-inputs: 400
 * BadRequest` (a faulty one), `45 a!: 202 j2` (one with another key), `50 a: -` (no answer, with `--` none to a second attempt either), `60 a: made` (the application itself). `0-9 a: 409` says when it ended; it takes 5
 * ms by default. Further members of the answer come last: `status=7`, or the `Age` of one from a cache: `Age=0`.
 */
export function historyOf(story: string, isRecorded = false): History {
  const history = new Journal(limits, isRecorded)
  const jobs = new Map<string, { readonly application: string; readonly createdAt: number }>()
  for (const text of story.split(/;|\n/).map((text) => text.trim())) {
    const told = line.exec(text)?.groups
    if (!told) throw new Error(`no line of a story: ${text}`)
    const { from = '0', to, on = '', odd, other, fault, said = '', tpe, job, more } = told
    const [sentAt, endedAt] = [Number(from), Number(to ?? Number(from) + 5)]
    const isReading = /^j\d+$/.test(on)
    const status = said.startsWith('-') ? undefined : said === 'made' ? 201 : Number(said) || 200
    if (job && status === 202 && !jobs.has(job))
      jobs.set(job, { application: on, createdAt: sentAt })
    const known = jobs.get(isReading ? on : (job ?? ''))
    const ownOf = (name: string) => ({ id: idOf(name), created_at: at(known?.createdAt ?? 0) })
    const operation = isReading
      ? 'jobs.retrieve'
      : said === 'made'
        ? 'applications.create'
        : 'jobs.create'
    const named = tpeOf(operation, status, tpe)
    const { Age: age, ...members } = membersIn(more)
    const body = {
      ...(isReading &&
        status === 200 && {
          ...read,
          ...ownOf(on),
          status: said,
          application_id: known?.application,
        }),
      ...(job && { ...ownOf(job), status: 'in_progress' }),
      ...(named && { tpe: named, errors: [], extras: {} }),
      ...members,
    }
    history.append({
      kind: isReading ? 'reading' : 'creation',
      operation,
      object: isReading ? idOf(on) : said === 'made' ? on : job && String(body.id),
      ...(!isReading && said !== 'made' && { within: on }),
      ...(isRecorded && { key: other ? 'another' : 'own' }),
      request: isRecorded ? 'unknown' : (fault ?? other) ? 'faulty' : odd ? 'odd' : 'valid',
      ...answered({
        status,
        tpe: named,
        body,
        sentAt,
        endedAt,
        fault,
        age,
        isTwice: said === '--' && !isRecorded,
      }),
    } satisfies HistoryEvent)
  }
  return history
}

type Answered = Pick<HistoryEvent, 'status' | 'tpe' | 'body' | 'sentAt' | 'endedAt'> & {
  readonly fault: string | undefined
  /** The header of a cache. */
  readonly age?: unknown
  readonly isTwice: boolean
}

/** What an event has of its answer. */
export function answered({ fault, age, isTwice, ...answer }: Answered) {
  const { status, body, sentAt, endedAt } = answer
  const text = JSON.stringify(body)
  const exchange = {
    purpose: { requirement: null, role: 'probe', what: fault },
    probe: { headers: [], credential: { full: true } },
    ...(status !== undefined && {
      response: responseOf(status, text, {
        date: new Date(begun).toUTCString(),
        ...(age !== undefined && { age: JSON.stringify(age) }),
      }),
    }),
    recorded: () => ({ response: { status, headers: {}, body: text } }),
    ...(isTwice && { unansweredTimes: 2 }),
    sentAt,
    endedAt,
  } as unknown as Exchange
  return {
    ...answer,
    ...(fault !== undefined && { fault }),
    isGranted: status !== undefined && status < 300,
    noise: status === 429 || status === 503 ? ('throttled' as const) : undefined,
    exchange,
  }
}
