import { type OperationId, operations } from '../../catalogue/operations.ts'
import { catalogue, specVersion } from '../../catalogue/catalogue.ts'
import { headerValue } from '../../harness/http/index.ts'
import { type Redactor, shownText } from '../../harness/recording/index.ts'
import { suiteVersion } from '../../harness/report/index.ts'
import { member, parsedJson } from '../../schemas/json.ts'
import { pathUnder } from '../base-url.ts'
import type { RecordedEntry } from '../recorded-entry.ts'
import { learnSecrets, secretsIn } from '../secrets.ts'
import { placeOf, type RequestFault, requestFaults } from './request-faults.ts'
import type { Played, ScriptPlayer } from './script.ts'
import { groupBy } from '../../harness/group-by.ts'
import { isRefusal } from '../../catalogue/requirement.ts'

interface ClientJudgeOptions {
  /** The server's URL, in normal form. */
  readonly baseUrl: string
  readonly redactor: Redactor
  /** How the server is brought to each condition: the scenarios of its target file. */
  readonly scenarios: Readonly<Record<string, unknown>>
  readonly script?: ScriptPlayer
  readonly startedAt: Date
  /** Called with each fault that was not told before. */
  readonly onFinding: (finding: ClientFinding) => void
}

/** A job that the client made, as the client last saw it. */
interface OwnJob {
  readonly id: string
  isInProgress: boolean
}

/** Judges the requests of a client, from what it was answered too. */
export function createClientJudge(options: ClientJudgeOptions) {
  const { baseUrl, redactor, script, startedAt, onFinding } = options
  const findings = new Map<string, ClientFinding>()
  const used = new Map<OperationId, { requests: number; responses: Map<string, CountedResponse> }>()
  /** Latest job of the client by application. */
  const jobs = new Map<string, OwnJob>()
  /** Refused creations by application, while no job was known: the granted one of the same moment may be told later. */
  const refused = new Map<string, { readonly entry: RecordedEntry; readonly n: number; readonly path: string }>()
  let requests = 0
  let wrong = 0

  const note = (found: Omit<ClientFinding, 'count'>): void => {
    const name = nameOf(found)
    const known = findings.get(name)
    if (known) return void known.count++
    const finding = shown({ ...found, count: 1 }, redactor)
    findings.set(name, finding)
    onFinding(finding)
  }

  const count = (operation: OperationId, { status }: RecordedEntry, told: unknown): void => {
    const counted = used.get(operation) ?? { requests: 0, responses: new Map<string, CountedResponse>() }
    used.set(operation, counted)
    counted.requests++
    if (status === 0) return
    const tpe = typeof told === 'string' ? told : undefined
    const name = `${status} ${tpe ?? ''}`
    const response = counted.responses.get(name) ?? { status, ...(tpe !== undefined && { tpe }), count: 0 }
    response.count++
    counted.responses.set(name, response)
  }

  /** True if a creation was refused because the client's own job is in progress. */
  const isRepeat = (
    entry: RecordedEntry,
    application: string,
    json: unknown,
    at: { n: number; path: string },
  ): boolean => {
    const isAsked = headerValue(entry.requestHeaders, 'x-simulate') !== undefined || script?.wrote(entry.headers)
    if (isAsked) return false
    const own = jobs.get(application)
    const noteRepeated = (job: string, { n, path }: { n: number; path: string }): void =>
      note({ request: n, operation: 'jobs.create', method: 'POST', path, fault: { rule: 'repeated-creation', job } })
    if (entry.status === 409 && own?.isInProgress) {
      noteRepeated(own.id, at)
      return true
    }
    if (entry.status === 409) refused.set(application, { entry, ...at })
    const id = member(json, 'id')
    if (entry.status !== 202 || typeof id !== 'string') return false
    jobs.set(application, { id, isInProgress: member(json, 'status') === 'in_progress' })
    const earlier = refused.get(application)
    refused.delete(application)
    if (earlier === undefined || (earlier.entry.startedAt ?? 0) + earlier.entry.durationMs < (entry.startedAt ?? 0))
      return false
    noteRepeated(id, earlier)
    wrong++
    return false
  }

  return {
    /** Takes exchanges one by one, as they end. */
    see(entry: RecordedEntry): void {
      for (const secret of secretsIn(entry)) learnSecrets(redactor, [secret])
      const path = pathUnder(baseUrl, entry.url)
      // Cleaning up is the reference's own; a browser asks for an icon by itself.
      if (path === undefined || path.startsWith('/admin/') || path === '/favicon.ico') return
      const n = ++requests
      const request = { ...entry, path, query: new URL(entry.url).searchParams }
      const place = placeOf(request)
      const operation = place === 'listed' ? 'pdf.parse' : (place?.operation ?? null)
      const faults = requestFaults(request)
      for (const fault of faults) note({ request: n, operation, method: entry.method, path, fault })
      const json = entry.body.state === 'whole' ? parsedJson(new TextDecoder().decode(entry.body.bytes)) : undefined
      if (operation !== null) count(operation, entry, entry.status < 400 ? undefined : member(json, 'tpe'))
      const params = typeof place === 'object' ? place.params : {}
      const application = params['application_id']
      const isRepeated =
        operation === 'jobs.create' && application !== undefined && isRepeat(entry, application, json, { n, path })
      if (operation === 'jobs.retrieve' && entry.status === 200)
        for (const job of jobs.values())
          if (job.id === params['job_id']) job.isInProgress = member(json, 'status') === 'in_progress'
      if (faults.length > 0 || isRepeated) wrong++
    },
    /** Notes that the client came back too early. */
    tooEarly({ error: { retryAfter }, operation, waitedMs = 0 }: Played, method: string, path: string): void {
      wrong++
      const fault = { rule: 'waiting' as const, retryAfter, waitedMs: Math.round(waitedMs) }
      // Its number is not known yet: it has just come.
      note({ request: requests + 1, operation, method, path, fault })
    },
    end(now: Date): ClientReport {
      const left = script?.left() ?? 0
      return {
        format: 'client-report/1',
        suite: { name: 'ai-content-conformance', version: suiteVersion(), specVersion },
        startedAt: startedAt.toISOString(),
        durationMs: now.getTime() - startedAt.getTime(),
        ...{ requests, wrong, exit: exitOf({ used: used.size, wrong, left }) },
        operations: operations.flatMap(({ id, ...about }) => {
          const seen = used.get(id)
          if (!seen) return []
          const responses = [...seen.responses.values()].sort((a, b) => a.status - b.status)
          const errors = errorsOf(id, responses, options.scenarios)
          return [
            { operation: id, deprecated: 'deprecated' in about, requests: seen.requests, answers: responses, errors },
          ]
        }),
        unused: operations.map(({ id }) => id).filter((id) => !used.has(id)),
        findings: [...findings.values()],
        script:
          script?.played.map(({ operation, error, waitedMs, isTooEarly }) => ({
            ...{ operation, error, isTooEarly },
            waitedMs: waitedMs === undefined ? undefined : Math.round(waitedMs),
          })) ?? [],
      }
    },
  }
}

/** Key by which two findings are the same: without the ids, which differ each time. */
function nameOf({ fault, operation, path }: Omit<ClientFinding, 'count'>): string {
  if (fault.rule === 'waiting' || fault.rule === 'repeated-creation') return `${operation} ${fault.rule}`
  if (fault.rule === 'member') {
    const { at, received, expected } = fault
    return JSON.stringify([operation, at.replaceAll(/\/\d+(?=\/|$)/g, '/*'), received?.kind, expected])
  }
  const place = fault.rule === 'path' || fault.rule === 'method' ? path.replaceAll(/[^/]*\d[^/]*/g, '*') : ''
  return JSON.stringify([operation, place, fault])
}

/** Cuts what a client sent; it may hold a key. */
function shown(finding: ClientFinding, redactor: Redactor): ClientFinding {
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return shownText(value.slice(0, 300), (text) => redactor.text(text))
    if (Array.isArray(value)) return value.slice(0, 3).map(clean)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .slice(0, 20)
        .map(([name, one]) => [redactor.text(name), clean(one)]),
    )
  }
  return { ...(clean(finding) as ClientFinding), count: finding.count }
}

/** A fault of a request, or of the way in which it came. */
export type ClientFault =
  | RequestFault
  /** §8: the application's job was in progress, by all that the client knew. */
  | { readonly rule: 'repeated-creation'; readonly job: string }
  /** It came back before `Retry-After` (s) was over; without one, twice in a row at once. */
  | { readonly rule: 'waiting'; readonly retryAfter: number | undefined; readonly waitedMs: number }

/** A fault, told once; the same one again is counted. */
export interface ClientFinding {
  /** Number of the first request that showed it, from 1. */
  readonly request: number
  readonly operation: OperationId | null
  readonly method: string
  readonly path: string
  readonly fault: ClientFault
  count: number
}

/** An answer that a client got, and how often. */
export interface CountedResponse {
  readonly status: number
  /** The `tpe` of the errors. */
  readonly tpe?: string
  count: number
}

/** An error that the operation can answer with. */
export interface ErrorCondition {
  readonly status: number
  readonly tpe: string
  /** Requirements that are answered so. */
  readonly ids: readonly string[]
  readonly met: number
  /** Value of the header `x-simulate` that brings it about. */
  readonly simulate?: string
}

interface UsedOperation {
  readonly operation: OperationId
  readonly deprecated: boolean
  readonly requests: number
  readonly answers: readonly CountedResponse[]
  readonly errors: readonly ErrorCondition[]
}

export interface ClientReport {
  readonly format: 'client-report/1'
  readonly suite: { readonly name: string; readonly version: string; readonly specVersion: string }
  readonly startedAt: string
  readonly durationMs: number
  readonly requests: number
  /** Requests that did not keep the interface. */
  readonly wrong: number
  readonly exit: { readonly code: 0 | 1 | 3; readonly because: ClientExit }
  readonly operations: readonly UsedOperation[]
  readonly unused: readonly OperationId[]
  readonly findings: readonly ClientFinding[]
  readonly script: readonly Played[]
}

type ClientExit =
  | { readonly kind: 'kept' }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'no-request' }
  /** Answers of the script that nobody asked for. */
  | { readonly kind: 'script-not-played'; readonly steps: number }

const codes = { kept: 0, wrong: 1, 'no-request': 3, 'script-not-played': 3 } as const

/** @param left answers of the script that nobody asked for */
export function exitOf(seen: {
  readonly used: number
  readonly wrong: number
  readonly left: number
}): ClientReport['exit'] {
  const { left, used, wrong } = seen
  const because: ClientExit =
    wrong > 0
      ? { kind: 'wrong' }
      : used === 0
        ? { kind: 'no-request' }
        : left > 0
          ? { kind: 'script-not-played', steps: left }
          : { kind: 'kept' }
  return { code: codes[because.kind], because }
}

/** The errors that the operation's requirements name, by status and type. */
export function errorsOf(
  operation: OperationId,
  responses: readonly CountedResponse[],
  scenarios: Readonly<Record<string, unknown>>,
): ErrorCondition[] {
  const errors = catalogue.flatMap(({ expects, id, operation: of }) => {
    if (of !== operation || !isRefusal(expects)) return []
    const [[status, tpe] = []] = expects as readonly (readonly [unknown, string?])[]
    return typeof status === 'number' && tpe !== undefined ? [{ id, status, tpe }] : []
  })
  const byPair = [...groupBy(errors, ({ status, tpe }) => `${status} ${tpe}`).values()]
  const all = byPair.map((same): ErrorCondition => {
    const { status, tpe } = same[0]!
    const met = responses.find((response) => response.status === status && response.tpe === tpe)?.count ?? 0
    const ids = same.map(({ id }) => id)
    const simulate = ids
      .map((id) => member(member(scenarios[id], 'headers'), 'x-simulate'))
      .find((value) => value !== undefined)
    const value = typeof simulate === 'string' ? simulate.split(' ').slice(0, 2).join(' ') : undefined
    return { status, tpe, ids, met, ...(value !== undefined && { simulate: value }) }
  })
  return all.sort((a, b) => a.status - b.status)
}
