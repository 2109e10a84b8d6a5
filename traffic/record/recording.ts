import { createExchangeLog, type RecordedBody, shownText } from '../../harness/recording/index.ts'
import type { RecordedExchange } from '../../harness/report/index.ts'
import { type HarBody, noBody, type RecordedEntry } from '../recorded-entry.ts'
import { decode, headerValue } from '../../harness/http/index.ts'
import { describeProbe } from '../../harness/engine/index.ts'
import { redactorFor, type Target } from '../../harness/target/index.ts'
import { createRecordingJudge, type OnFailure, recordedExchange } from '../recording-judge.ts'
import type { RecordedHttpResponse } from '../recorded-exchange.ts'
import { receivedIn, recordingReport } from '../recording-report.ts'
import { wrongKeysAtHand } from '../base-url.ts'
import { createSurvey, learnSecrets } from '../secrets.ts'
import { createClientJudge } from '../client/client-judge.ts'
import type { ClientFinding } from '../client/finding.ts'
import type { CapturedBody, CapturedExchange } from './reverse-proxy.ts'

/** A failure of a requirement that was not seen before. */
export interface Finding {
  readonly requirement: string
  /** Number of the exchange that showed it, from 0. */
  readonly exchange: number
  readonly sent: string
  readonly expected: string
  readonly received: string
}

/** The target that a recording is judged by, and the file its exchanges are written to. */
export interface RecordingOptions {
  readonly target: Target
  /** The log of exchanges, a line each. */
  readonly log: string
  /** The command that shows a failure again. */
  readonly rerun: string
}

export type Recorded = ReturnType<ReturnType<typeof createRecording>['end']>

/** A line of the log as an entry of a recording: its keys are removed, its bodies may be cut. */
function entryOfLine({
  n,
  request,
  response,
  startedAt,
  durationMs,
  httpVersion,
}: RecordedExchange): RecordedEntry {
  const lines = (headers: Readonly<Record<string, string>> = {}) =>
    Object.entries(headers).map(([name, value]) => ({ name, value }))
  return {
    index: n,
    startedAt: Date.parse(startedAt),
    durationMs,
    httpVersion: httpVersion ?? '1.1',
    method: request.method,
    url: request.url,
    requestHeaders: lines(request.headers),
    requestBody: bodyOfLine(request),
    status: response?.status ?? 0,
    headers: lines(response?.headers),
    body: response ? bodyOfLine(response) : noBody,
  }
}

function bodyOfLine({ body, bodyEncoding, bodyLength }: RecordedBody): HarBody {
  const bytes = Buffer.from(body, bodyEncoding ?? 'utf8')
  return bodyLength === undefined
    ? { state: 'whole', bytes }
    : { state: 'cut', bytes, length: bodyLength }
}

/** Most failures of a requirement that are told: a server may answer each request in other words. */
const mostTold = 50

/**
 * Judges exchanges and writes them down as they come, keys removed.
 * @param onFinding called once for each failure that is told apart from those before
 * @param onClientFinding called once for each finding on the client
 */
export function createRecording(
  { target, log, rerun }: RecordingOptions,
  onFinding: (finding: Finding) => void,
  onClientFinding: (finding: ClientFinding) => void,
) {
  const redactor = redactorFor(target)
  const written = createExchangeLog(log)
  const told = new Map<string, Set<string>>()
  const survey = createSurvey()
  const client = createClientJudge({
    ...{ baseUrl: target.baseUrl, redactor, wrongKeys: wrongKeysAtHand(target) },
    onFinding: (finding) => onClientFinding(finding),
  })
  let secretsUntil = 0
  const clean = (text: string): string => shownText(text, (whole) => redactor.text(whole))
  const onFailure: OnFailure = (requirement, fault) => {
    const { exchange } = fault
    const [expected, received] = [fault.expected, receivedIn(fault)].map(clean) as [string, string]
    const name = JSON.stringify([requirement, expected, received])
    const before = told.get(requirement) ?? new Set<string>()
    if (before.has(name) || before.size === mostTold) return
    told.set(requirement, before.add(name))
    const sent = clean(describeProbe(exchange, ''))
    const { index } = (exchange as RecordedHttpResponse).entry
    onFinding({ requirement, expected, received, sent, exchange: index })
  }
  const judge = createRecordingJudge({
    target,
    redactor,
    again: (index) => entryOfLine(written.read(index)),
    onFailure,
    isLive: true,
  })
  return {
    /** Takes an exchange; called one at a time, in the order in which they ended. */
    async add(exchange: CapturedExchange): Promise<void> {
      const entry = await entryOf(exchange, written.count, target.limits.maxAnswerBytes)
      const known = survey.secrets.size
      survey.see(entry)
      if (survey.secrets.size > known) {
        learnSecrets(redactor, [...survey.secrets].slice(known))
        secretsUntil = written.count
      }
      client.see(entry)
      const requirement = judge.see(entry)
      const { response, ...line } = recordedExchange(entry.index, entry, requirement, {
        target,
        redactor,
      })
      const error = exchange.error === undefined ? {} : { error: redactor.text(exchange.error) }
      written.write({ ...line, ...error, ...(response && entry.status > 0 && { response }) })
    },
    end(now: Date) {
      const seen = judge.end()
      const report = recordingReport({ target, redactor, judged: seen, rerun, ...survey.time(now) })
      written.close()
      return {
        ...{ report, counts: seen.counts, exchanges: written.count },
        client: client.end(survey.time(now)),
        /** Credentials that were seen, and how many exchanges had been written when the last of them was. */
        secrets: [...survey.secrets],
        secretsUntil,
        /** Why exchanges could not be written down. */
        problem: written.problem,
      }
    },
  }
}

/** Writes what passed by as an entry of a recording: bodies without their content coding. */
export async function entryOf(
  exchange: CapturedExchange,
  index: number,
  limit: number,
): Promise<RecordedEntry> {
  const { error: _, ...seen } = exchange
  const requestBody = await bodyOf(seen.requestBody, seen.requestHeaders, limit)
  const body = await bodyOf(seen.body, seen.headers, limit)
  return { ...seen, index, httpVersion: '1.1', requestBody, body }
}

async function bodyOf(
  { bytes, length, sha256, ended }: CapturedBody,
  headers: RecordedEntry['headers'],
  limit: number,
): Promise<HarBody> {
  const isWhole = ended && bytes.length === length
  const encoding = headerValue(headers, 'content-encoding') ?? ''
  const decoded = await decode({ body: bytes, encoding, cut: !isWhole }, limit)
  if (decoded.undecodable !== undefined) return { state: 'missing', bytes: new Uint8Array() }
  if (isWhole && !decoded.cut) return { state: 'whole', bytes: decoded.body }
  return {
    state: 'cut',
    bytes: decoded.body,
    ...(ended && encoding === '' && { length, ...(sha256 && { sha256 }) }),
  }
}
