import { retryAfter } from '../../harness/engine/index.ts'
import { headerValue } from '../../harness/http/index.ts'
import type { Redactor } from '../../harness/recording/index.ts'
import { member, parsedJson } from '../../schemas/json.ts'
import { pathUnder } from '../base-url.ts'
import type { RecordedEntry } from '../recorded-entry.ts'
import { learnSecrets, secretsIn } from '../secrets.ts'
import { type Answered, clientReport, type ClientReport, type Taken } from './client-report.ts'
import { type ClientFinding, createFindings, isKnown } from './finding.ts'
import { createJobHabits } from './job-habits.ts'
import type { ScriptPlayer } from './script.ts'
import { placeOf, requestFaults, pathMeant, requestRemarks } from './request-faults.ts'
import {
  atOnceMs,
  type Call,
  callKey,
  createRetries,
  awaitedAs,
  requestOf,
  textOf,
  timesOf,
} from './retries.ts'

export interface ClientJudgeOptions {
  /** The server's URL, in normal form. */
  readonly baseUrl: string
  readonly redactor: Redactor
  /** Called with each finding that was not told before. */
  readonly onFinding?: (finding: ClientFinding) => void
  /** False if the requests were recorded without their keys. Default true. */
  readonly hasKeys?: boolean
  /** Keys that are there to be refused. */
  readonly wrongKeys?: readonly string[]
  /** Given if the server is the reference, which refuses nothing but what is wrong. */
  readonly reference?: {
    /** How it is brought to each condition: the scenarios of its target file. */
    readonly scenarios: Readonly<Record<string, unknown>>
    readonly script: Pick<ScriptPlayer, 'played' | 'left'>
  }
}

interface Seen {
  readonly call: Call
  readonly entry: RecordedEntry
  readonly key: string
  readonly params: Readonly<Record<string, string>>
  readonly json: unknown
}

/** Methods that any server may answer, and that change nothing (RFC 9110 §9.3). */
const always = ['HEAD', 'OPTIONS']
/** Refusals that say something of the state of the server: an id may well be unknown. */
const ofState = [404, 409, 410]
/** Most calls that are remembered as granted. */
const mostGranted = 10_000

/** Judges the requests of a client, from what it was answered too. */
export function createClientJudge(options: ClientJudgeOptions) {
  const { baseUrl, hasKeys = true, redactor, reference, wrongKeys = [], onFinding } = options
  const findings = createFindings(redactor, onFinding)
  const { note } = findings
  const answered = new Map<string, Answered>()
  /** The latest job by application, as its creation was answered; undefined if that got no answer. */
  const jobs = new Map<string, string | undefined>()
  const granted = new Set<string>()
  /** How the client took what the script answered, by the number of the request at the proxy. */
  const taken = new Map<number | undefined, Taken>()
  let requests = 0
  const wrong = { faulty: 0, refused: 0 }

  const habits = createJobHabits((remark, call) => note('remark', call, remark))
  const noteConflict = (call: Call, waitedMs: number | undefined): void => {
    const id = jobs.get(call.path)
    const job = id !== undefined && habits.isInProgress(id) ? id : undefined
    note('remark', call, { rule: 'repeated-creation', job, waitedMs })
  }
  const retries = createRetries({
    back({ call, kind, waitedMs = 0 }, second) {
      if (reference) taken.set(call.atProxy, { waitedMs, isTooSoon: false })
      if (kind === 'lost' && call.method === 'POST') note('remark', second, { rule: 'sent-twice' })
      if (kind === 'refused')
        note('remark', second, { rule: 'sent-unchanged', status: call.status })
      if (kind === 'conflict' && waitedMs < atOnceMs) noteConflict(second, waitedMs)
    },
    tooSoon(tries, last) {
      wrong.faulty += tries.length
      for (const { call, waitedMs } of tries) taken.set(call.atProxy, { waitedMs, isTooSoon: true })
      const asked = tries[0]?.retryAfterMs
      const retryAfterS = asked === undefined ? undefined : asked / 1000
      const waitedMs = Math.round(tries.reduce((sum, one) => sum + (one.waitedMs ?? 0), 0))
      note('fault', last, {
        ...{ rule: 'waiting', retryAfter: retryAfterS, waitedMs, times: tries.length },
      })
    },
    inTime(tries, last) {
      const waitedMs = tries.map((one) => Math.round(one.waitedMs ?? 0))
      if (!grows(waitedMs)) note('remark', last, { rule: 'even-pauses', waitedMs })
    },
  })

  const noteAnswer = ({ call: { operation, status }, json }: Seen): void => {
    if (operation === null) return
    const tpe = status < 400 ? undefined : textOf(json, 'tpe')
    const name = [operation, status, tpe].join(' ')
    const counted = answered.get(name) ?? { operation, status, tpe, count: 0 }
    counted.count++
    answered.set(name, counted)
  }

  /** @param mayBe a server may refuse it, and another grant it */
  const noteRefusal = ({ call, json, key }: Seen, mayBe: boolean): void => {
    const { isAsked, operation, status } = call
    const isOther = status < 400 || status >= 500 || status === 429
    if (isOther || isAsked || (operation === 'jobs.create' && status === 409)) return
    const errors = member(json, 'errors')
    const reason = Array.isArray(errors) ? textOf(errors[0], 'description') : undefined
    const fault = { rule: 'refused', status, tpe: textOf(json, 'tpe'), reason } as const
    // What was granted before is refused for what it did.
    const isRight = mayBe || reference === undefined || ofState.includes(status) || granted.has(key)
    if (!isRight) wrong.refused++
    note(isRight ? 'remark' : 'fault', call, fault)
  }

  const seeJobs = ({ call, json, params }: Seen): void => {
    const { operation, path, status } = call
    const state = textOf(json, 'status')
    if (operation === 'jobs.retrieve')
      habits.read(params['job_id'] ?? '', status === 200 ? state : undefined, call)
    if (operation !== 'jobs.create') return
    const id = textOf(json, 'id')
    if (status === 0) jobs.set(path, undefined)
    else if (status === 202 && id !== undefined) {
      jobs.set(path, id)
      habits.created(id, state ?? '', call)
    }
  }

  const seeCall = ({ call, entry, key }: Seen): void => {
    const kind = awaitedAs(call, entry.witnessed?.isAborted ?? false)
    const answer = { header: (name: string) => headerValue(entry.headers, name) }
    const retryAfterMs = kind === 'pause' ? retryAfter(answer, entry.startedAt ?? 0) : undefined
    retries.see(key, call, kind && { kind, retryAfterMs })
    const isGranted = call.status >= 200 && call.status < 300
    if (isGranted && call.method === 'POST' && granted.size < mostGranted) granted.add(key)
  }

  const isAsked = ({ requestHeaders, witnessed }: RecordedEntry): boolean => {
    if (headerValue(requestHeaders, 'x-simulate') !== undefined) return true
    const credential = headerValue(requestHeaders, 'authorization') ?? ''
    return (
      wrongKeys.some((key) => credential.endsWith(key)) ||
      reference?.script.played.some(({ n }) => n === witnessed?.n) === true
    )
  }

  return {
    /** Takes exchanges one by one, as they end, or in the order of time. */
    see(entry: RecordedEntry): void {
      for (const secret of secretsIn(entry)) learnSecrets(redactor, [secret])
      const { method, status } = entry
      const path = pathUnder(baseUrl, entry.url)
      if (path === undefined || always.includes(method)) return
      const isInside = path === '/v1' || path.startsWith('/v1/')
      const hint = isInside ? undefined : pathMeant({ method, path })
      // Cleaning up is the reference's own, and a browser asks for an icon: the interface says nothing of it.
      if (!isInside && hint === undefined) return
      const request = requestOf(entry, path)
      const place = isInside ? placeOf(request) : undefined
      const operation = place === 'listed' ? 'pdf.parse' : (place?.operation ?? null)
      const n = ++requests
      const call = {
        n,
        operation,
        method,
        path,
        status,
        isAsked: isAsked(entry),
        ...timesOf(entry),
      }
      if (hint !== undefined) return note('remark', call, { rule: 'outside', hint })
      const { bytes, state } = entry.body
      const json = state === 'whole' ? parsedJson(new TextDecoder().decode(bytes)) : undefined
      const params = typeof place === 'object' ? place.params : {}
      const seen = { call, entry, key: callKey(entry), params, json }
      noteAnswer(seen)
      const faults = requestFaults(request).filter((fault) => isKnown(fault, entry, hasKeys))
      for (const fault of faults) note('fault', call, fault)
      const remarks = requestRemarks(request).filter((one) => isKnown(one, entry, hasKeys))
      for (const remark of remarks) note('remark', call, remark)
      if (faults.length > 0) wrong.faulty++
      else
        noteRefusal(
          seen,
          remarks.some(({ rule }) => rule === 'recommended'),
        )
      seeCall(seen)
      seeJobs(seen)
    },
    end({
      startedAt,
      durationMs,
    }: {
      readonly startedAt: Date
      readonly durationMs: number
    }): ClientReport {
      for (const { call, kind } of retries.end())
        // A creation whose answer was lost may be the one in progress.
        if (kind === 'conflict' && isTimed(call) && !call.isAsked && !isLost(jobs, call.path))
          noteConflict(call, undefined)
      habits.end()
      const { left, played } = reference?.script ?? { left: () => 0, played: [] }
      const untaken = { waitedMs: undefined, isTooSoon: false }
      return clientReport({
        ...{ startedAt, durationMs, requests, wrong, answered: answered.values(), left: left() },
        findings: findings.all(),
        script: played.map((one) => ({ ...one, ...(taken.get(one.n) ?? untaken) })),
        scenarios: reference?.scenarios ?? {},
      })
    },
  }
}

/** Whether pauses grow, as far as so many can tell: drawn ones differ, but they are longer in the second half. */
function grows(pauses: readonly number[]): boolean {
  if (pauses.length < 3) return true
  const half = pauses.length / 2
  const sum = (some: readonly number[]): number => some.reduce((all, one) => all + one, 0)
  const isShorter = sum(pauses.slice(Math.ceil(half))) < sum(pauses.slice(0, Math.floor(half)))
  const areAlike = Math.max(...pauses) < 1.3 * Math.min(...pauses)
  return !areAlike && !(isShorter && pauses.length >= 5)
}

const isTimed = ({ sentAt }: Call): boolean => !Number.isNaN(sentAt)

const isLost = (jobs: ReadonlyMap<string, string | undefined>, path: string): boolean =>
  jobs.has(path) && jobs.get(path) === undefined
