import { readFileSync } from 'node:fs'
import { Redactor } from '../harness/recording/index.ts'
import { baseUrlProblem, normalBaseUrl } from '../harness/target/index.ts'
import { ensure } from '../harness/user-error.ts'
import { isObject, member } from '../schemas/json.ts'
import { referenceTargetFile } from '../schemas/package-file.ts'
import { createClientJudge } from '../traffic/client/client-judge.ts'
import type { ClientReport } from '../traffic/client/client-report.ts'
import { recordedEntry, type RecordedEntry, Unreadable } from '../traffic/recorded-entry.ts'
import { createSurvey } from '../traffic/secrets.ts'
import { type Check, checkNamed } from './options.ts'

export type { ClientReport }
export type { ClientFault, ClientFinding } from '../traffic/client/finding.ts'

/** A request of a client, and what it was answered. */
export interface ClientExchange {
  readonly method: string
  /** The whole address. */
  readonly url: string
  readonly requestHeaders?: Readonly<Record<string, string>>
  readonly requestBody?: string | Uint8Array
  /** 0 or left out if no answer came. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Epoch ms; without it nothing is said of pauses. */
  readonly startedAt?: number
  /** ms until the answer was read; default 0. */
  readonly durationMs?: number
}

/** A HAR 1.2 as JSON, such as Playwright or a browser writes it. */
export interface HarLike {
  readonly log: { readonly entries: readonly unknown[] }
}

export interface JudgeClientOptions {
  /** The server's address before `/v1/`; if left out, what most of the requests have there. */
  readonly baseUrl?: string
  /** The server was `conform serve` or `startReference`: whatever it refuses is wrong. Default false: a refusal is a remark. */
  readonly reference?: boolean
}

const options: Readonly<Record<keyof JudgeClientOptions, Check>> = {
  baseUrl: (value) => (typeof value === 'string' ? baseUrlProblem(value) : 'give a URL'),
  reference: (value) => (typeof value === 'boolean' ? undefined : 'give true or false'),
}

/**
 * Judges the requests of a client as `conform serve --judge-client` does.
 * @param traffic exchanges in the order in which they were sent, or a HAR; an entry of it that cannot be read is left out
 * @throws UserError for an option that does not exist, or traffic that is none
 */
export function judgeClient(
  traffic: HarLike | readonly ClientExchange[],
  given: JudgeClientOptions = {},
): ClientReport {
  checkNamed(given, options)
  const isHar = isObject(traffic)
  const list = isHar ? member(member(traffic, 'log'), 'entries') : traffic
  ensure(Array.isArray(list), 'the traffic: give a HAR, or a list of exchanges')
  const entries = (list as unknown[]).flatMap((one, at) =>
    isHar ? readable(one, at) : [entryOf(one as ClientExchange | undefined, at)],
  )
  const survey = createSurvey()
  for (const entry of entries) survey.see(entry)
  const baseUrl = given.baseUrl ?? survey.baseUrls.likeliest('the traffic') ?? ''
  const judge = createClientJudge({
    ...{ redactor: new Redactor(), hasKeys: survey.secrets.size > 0 },
    baseUrl: baseUrl === '' ? '' : normalBaseUrl(baseUrl),
    ...(given.reference === true && ofReference()),
  })
  const byTime = (one: RecordedEntry, other: RecordedEntry): number =>
    (one.startedAt ?? 0) - (other.startedAt ?? 0)
  const isTimed = entries.every(({ startedAt }) => startedAt !== undefined)
  for (const entry of isTimed ? entries.toSorted(byTime) : entries) judge.see(entry)
  return judge.end(survey.time(new Date()))
}

function readable(value: unknown, at: number): RecordedEntry[] {
  try {
    return [recordedEntry(value, at)]
  } catch (error) {
    if (error instanceof Unreadable) return []
    throw error
  }
}

function ofReference() {
  const { keys, scenarios } = JSON.parse(readFileSync(referenceTargetFile, 'utf8')) as {
    keys: { expired: string; restricted: string }
    scenarios: Record<string, unknown>
  }
  const script = { played: [], left: () => 0 }
  return { reference: { scenarios, script }, wrongKeys: [keys.expired, keys.restricted] }
}

function entryOf(exchange: ClientExchange | undefined, index: number): RecordedEntry {
  ensure(
    typeof exchange?.method === 'string' && URL.canParse(exchange.url),
    `the traffic: exchange ${index}: give method and url, the whole address`,
  )
  const { body, durationMs = 0, headers, requestBody, requestHeaders, startedAt } = exchange
  const lines = (given: Readonly<Record<string, string>> = {}) =>
    Object.entries(given).map(([name, value]) => ({ name, value }))
  const whole = (given: string | Uint8Array = '') => ({
    state: 'whole' as const,
    bytes: typeof given === 'string' ? Buffer.from(given) : given,
  })
  return {
    ...{ index, startedAt, durationMs, httpVersion: '1.1', status: exchange.status ?? 0 },
    ...{ method: exchange.method.toUpperCase(), url: exchange.url },
    ...{ requestHeaders: lines(requestHeaders), requestBody: whole(requestBody) },
    ...{ headers: lines(headers), body: whole(body) },
  }
}
