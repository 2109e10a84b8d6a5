import { type OperationId, operations } from '../../catalogue/operations.ts'
import { specVersion } from '../../catalogue/catalogue.ts'
import { headerValue } from '../../harness/http/message.ts'
import type { Redactor } from '../../harness/recording/redactor.ts'
import { shownText } from '../../harness/recording/recorded.ts'
import { suiteVersion } from '../../harness/report/assemble-report.ts'
import { member, parsedJson } from '../../schemas/json.ts'
import { pathUnder } from '../base-url.ts'
import type { RecordedEntry } from '../recorded-entry.ts'
import { learnSecrets, secretsIn } from '../secrets.ts'
import { type CountedResponse, type ClientFinding, type ClientReport, errorsOf, exitOf } from './client-report.ts'
import { placeOf, requestFaults } from './request-faults.ts'
import type { Played, ScriptPlayer } from './script.ts'

interface ClientJudge {
  /** One exchange after the other, as they end. */
  see(entry: RecordedEntry): void
  /** A client that came back too early. */
  tooEarly(played: Played, method: string, path: string): void
  end(now: Date): ClientReport
}

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

export function createClientJudge(options: ClientJudgeOptions): ClientJudge {
  const { baseUrl, redactor, script, startedAt, onFinding } = options
  const findings = new Map<string, ClientFinding>()
  const used = new Map<OperationId, { requests: number; responses: Map<string, CountedResponse> }>()
  /** By application. */
  const jobs = new Map<string, OwnJob>()
  /** Creations that were refused while no job was known: that of the same moment may be told after it. */
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

  const count = (operation: OperationId, { status }: RecordedEntry, tpe: string | undefined): void => {
    const counted = used.get(operation) ?? { requests: 0, responses: new Map<string, CountedResponse>() }
    used.set(operation, counted)
    counted.requests++
    if (status === 0) return
    const name = `${status} ${tpe ?? ''}`
    const response = counted.responses.get(name) ?? { status, ...(tpe !== undefined && { tpe }), count: 0 }
    response.count++
    counted.responses.set(name, response)
  }

  /** Whether a creation was refused since the client's own job is in progress. */
  const repeated = (
    entry: RecordedEntry,
    application: string,
    json: unknown,
    at: { n: number; path: string },
  ): boolean => {
    const isAsked = headerValue(entry.requestHeaders, 'x-simulate') !== undefined || script?.wrote(entry.headers)
    if (isAsked) return false
    const own = jobs.get(application)
    const tell = (job: string, { n, path }: { n: number; path: string }): void =>
      note({ request: n, operation: 'jobs.create', method: 'POST', path, fault: { rule: 'repeated-creation', job } })
    if (entry.status === 409 && own?.isInProgress) {
      tell(own.id, at)
      return true
    }
    if (entry.status === 409) refused.set(application, { entry, ...at })
    const id = member(json, 'id')
    if (entry.status !== 202 || typeof id !== 'string') return false
    jobs.set(application, { id, isInProgress: member(json, 'status') === 'in_progress' })
    const earlier = refused.get(application)
    refused.delete(application)
    if (earlier === undefined || endOf(earlier.entry) < (entry.startedAt ?? 0)) return false
    tell(id, earlier)
    wrong++
    return false
  }

  return {
    see(entry) {
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
      const json = jsonOf(entry)
      if (operation !== null) count(operation, entry, entry.status < 400 ? undefined : textOf(member(json, 'tpe')))
      const params = typeof place === 'object' ? place.params : {}
      const application = params['application_id']
      const isRepeated =
        operation === 'jobs.create' && application !== undefined && repeated(entry, application, json, { n, path })
      if (operation === 'jobs.retrieve' && entry.status === 200)
        for (const job of jobs.values())
          if (job.id === params['job_id']) job.isInProgress = member(json, 'status') === 'in_progress'
      if (faults.length > 0 || isRepeated) wrong++
    },
    tooEarly({ error: { retryAfter }, operation, waitedMs = 0 }, method, path) {
      wrong++
      const fault = { rule: 'waiting' as const, retryAfter, waitedMs: Math.round(waitedMs) }
      // Its number is not known yet: it has just come.
      note({ request: requests + 1, operation, method, path, fault })
    },
    end(now) {
      const left =
        script?.left().reduce((sum, [, steps]) => sum + steps.filter((step) => step !== 'pass').length, 0) ?? 0
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

/** The key by which two findings are the same: not the ids, which differ each time. */
function nameOf({ fault, operation, path }: Omit<ClientFinding, 'count'>): string {
  if (fault.rule === 'waiting' || fault.rule === 'repeated-creation') return `${operation} ${fault.rule}`
  if (fault.rule === 'member') {
    const { at, received, expected } = fault
    return JSON.stringify([operation, at.replaceAll(/\/\d+(?=\/|$)/g, '/*'), received?.kind, expected])
  }
  const place = fault.rule === 'path' || fault.rule === 'method' ? path.replaceAll(/[^/]*\d[^/]*/g, '*') : ''
  return JSON.stringify([operation, place, fault])
}

const endOf = ({ startedAt = 0, durationMs }: RecordedEntry): number => startedAt + durationMs
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function jsonOf({ body }: RecordedEntry): unknown {
  return body.state === 'whole' ? parsedJson(new TextDecoder().decode(body.bytes)) : undefined
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
