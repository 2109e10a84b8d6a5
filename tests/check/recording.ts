import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkFile } from '../../cli/check.ts'
import type { Report } from '../../schemas/report.ts'
import { folder } from '../cli/conform.ts'
import { bodyOf } from '../spec/bodies.ts'

/** A recorded request and its answer, in the few words that a test needs. */
export interface Told {
  readonly method?: string
  /** Path under the base URL, or a whole address. */
  readonly to: string
  readonly sends?: unknown
  readonly status?: number
  /** A string is the body as it is, anything else is sent as JSON. */
  readonly answers?: unknown
  readonly type?: string
  readonly authorization?: string
  /** Headers of the request. */
  readonly sentWith?: Readonly<Record<string, string>>
  /** Members of the entry's response and content that replace the usual ones. */
  readonly response?: Record<string, unknown>
  readonly content?: Record<string, unknown>
}

export const base = 'https://api.example.com/base'

const written = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

export function entry(told: Told, at = 0) {
  const { sends, status = 200, answers = {}, type = 'application/json', authorization } = told
  const text = written(answers)
  const common = { httpVersion: 'HTTP/1.1', cookies: [], headersSize: -1, bodySize: -1 }
  const mimeType = 'application/json'
  return {
    startedDateTime: new Date(Date.UTC(2026, 2, 1, 12) + 1000 * at).toISOString(),
    time: 12.5,
    request: {
      ...common,
      method: told.method ?? (sends === undefined ? 'GET' : 'POST'),
      url: told.to.startsWith('/') ? base + told.to : told.to,
      headers: Object.entries({ ...told.sentWith, ...(authorization && { authorization }) }).map(
        ([name, value]) => ({ name, value }),
      ),
      queryString: [],
      ...(sends !== undefined && { postData: { mimeType, text: written(sends) } }),
    },
    response: {
      ...{ ...common, status, statusText: '', redirectURL: '' },
      headers: [{ name: 'Content-Type', value: type }],
      content: { size: Buffer.byteLength(text), mimeType: type, text, ...told.content },
      ...told.response,
    },
    cache: {},
    timings: { send: 0, wait: 12.5, receive: 0 },
  }
}

/** A HAR of these exchanges, a second apart. */
export function har(...told: Told[]) {
  const creator = { name: 'test', version: '1' }
  return { log: { version: '1.2', creator, entries: told.map(entry) } }
}

export const envelope = (tpe: string, key?: string) => ({
  tpe,
  errors: [{ description: 'No', ...(key === undefined ? {} : { key }), extras: {} }],
  extras: {},
})

const id = '6f1c1a52-93f4-4a53-9d3c-0a8b3c8f4a11'

const created_at = '2026-03-01T12:00:00Z'

export const createdJob = { ...bodyOf('created-job'), id, created_at }
export const job = {
  ...{ ...bodyOf('job'), id, created_at },
  ...{ application_id: 'app-1', status: 'completed' },
}

const jobs = '/v1/applications/app-1/jobs'
const parser = '/v1/tools/pdf-parser/f-1'
const medical = { content: 'a', response_type: 'Entities' }

/** One granted request of each row that recorded traffic can show: where to, what was sent, what was answered, status. */
const rows: Readonly<Record<string, readonly [string, unknown, unknown, number?]>> = {
  'jobs.create/202-created': [jobs, { inputs: [] }, createdJob, 202],
  'jobs.retrieve/200-job': [`/v1/applications/jobs/${id}`, undefined, job],
  'pdf.parse/200-text': [parser, { format: 'text' }, bodyOf('pdf-content')],
  'pdf.parse/200-markdown': [parser, { format: 'markdown' }, bodyOf('pdf-content')],
  'completion.create/2xx-accepted': ['/v1/completion', {}, 'free'],
  'chat.create/200-completion': [
    '/v1/chat/completions',
    { model: 'm', messages: [] },
    bodyOf('chat-completion'),
  ],
  'files.upload/2xx-accepted': ['/v1/files', 'bytes', { id: 'f-1' }, 201],
  'files.list/2xx-accepted': ['/v1/files?file_types=pdf', undefined, []],
  'files.retrieve/2xx-accepted': ['/v1/files/f-1', undefined, {}],
  'graphs.create/2xx-accepted': ['/v1/knowledge-graphs', {}, {}],
  'graphs.add-file/2xx-accepted': ['/v1/knowledge-graphs/g-1/files', {}, {}],
  'graphs.query/2xx-accepted': ['/v1/knowledge-graphs/g-1/query', {}, {}],
  'applications.create/2xx-accepted': ['/v1/applications', {}, {}],
  'ai-detect.run/2xx-accepted': ['/v1/tools/ai-detect', {}, {}],
  'web-search.run/2xx-accepted': ['/v1/tools/web-search', {}, {}],
  'medical.comprehend/200-entities': [
    '/v1/tools/comprehend/medical',
    medical,
    bodyOf('medical-entities'),
  ],
  'translate.run/2xx-accepted': ['/v1/translate', {}, {}],
  'vision.analyze/2xx-accepted': ['/v1/vision', {}, {}],
}
export const granted: Readonly<Record<string, Told>> = Object.fromEntries(
  Object.entries(rows).map(([row, [to, sends, answers, status = 200]]) => [
    row,
    { to, sends, answers, status },
  ]),
)

/** A granted creation under that name, whose answer has that id. */
export function creationOf(operation: string, name: string, id: string): Told {
  const told = granted[`${operation}/2xx-accepted`]!
  return { ...told, sends: { name }, answers: { ...(told.answers as object), id } }
}

let files = 0

export function inFile(text: string, name = `${files++}.har`): string {
  const path = join(folder(), name)
  writeFileSync(path, text)
  return path
}

const now = new Date('2027-01-01T00:00:00Z')

export function checked(recorded: unknown, options: Parameters<typeof checkFile>[1] = {}) {
  const text = typeof recorded === 'string' ? recorded : JSON.stringify(recorded)
  return checkFile(inFile(text), options, now)
}

export const check = async (...given: Parameters<typeof checked>): Promise<Report> =>
  (await checked(...given)).report

export const rowOf = ({ requirements }: Report, row: string) =>
  requirements.find((one) => one.id === row)!

export function failedIds({ requirements }: Report): string[] {
  return requirements.filter(({ outcome }) => outcome === 'failed').map((one) => one.id)
}
