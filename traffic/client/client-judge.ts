import { type OperationId, operations } from '../../catalogue/operations.ts'
import { catalogue, specVersion } from '../../catalogue/catalogue.ts'
import { headerValue } from '../../harness/http/index.ts'
import { type Redactor, shownText } from '../../harness/recording/index.ts'
import { count, suiteVersion } from '../../harness/report/index.ts'
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

/** A request that creates a job: its number, and its path under the base URL. */
interface Creation {
  readonly entry: RecordedEntry
  readonly n: number
  readonly path: string
}

/** Requests of a client, and those that did not keep the interface. */
export type ClientReport = ReturnType<ReturnType<typeof createClientJudge>['end']>

/** Judges the requests of a client, from what it was answered too. */
export function createClientJudge(options: ClientJudgeOptions) {
  const { baseUrl, redactor, scenarios, script, startedAt, onFinding } = options
  const findings = new Map<string, ClientFinding>()
  const answered = new Map<string, Counted>()
  /** Latest job of the client by application, as the client last saw it. */
  const jobs = new Map<string, { readonly id: string; isInProgress: boolean }>()
  /** Refused creations by application, while no job was known: the granted one of the same moment may be told later. */
  const refused = new Map<string, Creation>()
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

  const noteAnswer = (operation: OperationId, status: number, tpe: string | undefined): void => {
    const name = [operation, status, tpe].join(' ')
    const counted = answered.get(name) ?? { operation, status, tpe, count: 0 }
    counted.count++
    answered.set(name, counted)
  }

  const noteRepeated = (job: string, { n, path }: Creation): void =>
    note({
      request: n,
      operation: 'jobs.create',
      method: 'POST',
      path,
      fault: { rule: 'repeated-creation', job },
    })

  /** True if a creation was refused because the client's own job is in progress. */
  const isRepeat = (application: string, json: unknown, creation: Creation): boolean => {
    const { status, requestHeaders, headers, startedAt: sentAt = 0 } = creation.entry
    const isAsked =
      headerValue(requestHeaders, 'x-simulate') !== undefined || script?.wrote(headers)
    if (isAsked) return false
    const own = jobs.get(application)
    if (status === 409 && own?.isInProgress) {
      noteRepeated(own.id, creation)
      return true
    }
    if (status === 409) refused.set(application, creation)
    const id = member(json, 'id')
    if (status !== 202 || typeof id !== 'string') return false
    jobs.set(application, { id, isInProgress: member(json, 'status') === 'in_progress' })
    const earlier = refused.get(application)
    refused.delete(application)
    if (earlier && (earlier.entry.startedAt ?? 0) + earlier.entry.durationMs >= sentAt) {
      noteRepeated(id, earlier)
      wrong++
    }
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
      const json =
        entry.body.state === 'whole'
          ? parsedJson(new TextDecoder().decode(entry.body.bytes))
          : undefined
      const tpe = entry.status < 400 ? undefined : member(json, 'tpe')
      if (operation !== null)
        noteAnswer(operation, entry.status, typeof tpe === 'string' ? tpe : undefined)
      const params = typeof place === 'object' ? place.params : {}
      const application = params['application_id']
      const isRepeated =
        operation === 'jobs.create' &&
        application !== undefined &&
        isRepeat(application, json, { entry, n, path })
      if (operation === 'jobs.retrieve' && entry.status === 200)
        for (const job of jobs.values())
          if (job.id === params['job_id'])
            job.isInProgress = member(json, 'status') === 'in_progress'
      if (faults.length > 0 || isRepeated) wrong++
    },
    /** Notes that the client came back too early. */
    tooEarly(
      { error: { retryAfter }, operation, waitedMs = 0 }: Played,
      method: string,
      path: string,
    ): void {
      wrong++
      const fault = { rule: 'waiting' as const, retryAfter, waitedMs: Math.round(waitedMs) }
      // Its number is not known yet: it has just come.
      note({ request: requests + 1, operation, method, path, fault })
    },
    end(now: Date) {
      const counted = groupBy(answered.values(), ({ operation }) => operation)
      const used = operations.flatMap(({ id, ...about }) => {
        const own = counted.get(id)
        if (!own) return []
        const answers = own.filter(({ status }) => status > 0).sort((a, b) => a.status - b.status)
        const entry = {
          ...{ operation: id, deprecated: 'deprecated' in about },
          requests: own.reduce((sum, one) => sum + one.count, 0),
          answers: answers.map(({ status, tpe, count: times }) => ({ status, tpe, count: times })),
          errors: errorsOf(id, answers, scenarios),
        }
        return [entry]
      })
      const left = script?.left() ?? 0
      return {
        format: 'client-report/1' as const,
        suite: { name: 'ai-content-conformance', version: suiteVersion(), specVersion },
        startedAt: startedAt.toISOString(),
        durationMs: now.getTime() - startedAt.getTime(),
        requests,
        /** Requests that did not keep the interface. */
        wrong,
        exit: exitOf(wrong, used.length, left),
        operations: used,
        unused: operations
          .map(({ id }) => id)
          .filter((id) => used.every(({ operation }) => operation !== id)),
        findings: [...findings.values()],
        script: (script?.played ?? []).map(({ operation, error, waitedMs, isTooEarly }) => ({
          ...{ operation, error, isTooEarly },
          waitedMs: waitedMs === undefined ? undefined : Math.round(waitedMs),
        })),
      }
    },
  }
}

/** Key by which two findings are the same: without the ids, which differ each time. */
function nameOf({ fault, operation, path }: Omit<ClientFinding, 'count'>): string {
  if (fault.rule === 'waiting' || fault.rule === 'repeated-creation')
    return `${operation} ${fault.rule}`
  if (fault.rule === 'member') {
    const { at, received, expected } = fault
    return JSON.stringify([
      operation,
      at.replaceAll(/\/\d+(?=\/|$)/g, '/*'),
      received?.kind,
      expected,
    ])
  }
  const place =
    fault.rule === 'path' || fault.rule === 'method' ? path.replaceAll(/[^/]*\d[^/]*/g, '*') : ''
  return JSON.stringify([operation, place, fault])
}

/** Cuts what a client sent; it may hold a key. */
function shown(finding: ClientFinding, redactor: Redactor): ClientFinding {
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string')
      return shownText(value.slice(0, 300), (text) => redactor.text(text))
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

/** An answer that a client got to an operation, and how often; its status is 0 if none came. */
interface Counted {
  readonly operation: OperationId
  readonly status: number
  /** The `tpe` of the errors. */
  readonly tpe: string | undefined
  count: number
}

/** @param left answers of the script that nobody asked for */
function exitOf(wrong: number, used: number, left: number) {
  if (wrong > 0)
    return { code: 1, because: `${count(wrong, 'request')} did not keep the interface` }
  if (used === 0) return { code: 3, because: 'no request to an operation of the interface came' }
  if (left === 0) return { code: 0, because: 'every request kept the interface' }
  const were = left === 1 ? 'was' : 'were'
  return {
    code: 3,
    because: `${count(left, 'answer')} of the script ${were} never asked for: whether the client tries again was not seen`,
  }
}

/** The errors that the operation's requirements name, by status and type: how often each was met, and what brings it about. */
function errorsOf(
  id: OperationId,
  answers: readonly Counted[],
  scenarios: ClientJudgeOptions['scenarios'],
) {
  const named = catalogue.flatMap(({ expects, id: requirement, operation }) => {
    if (operation !== id || !isRefusal(expects)) return []
    const [[status, tpe] = []] = expects as readonly (readonly [unknown, string?])[]
    return typeof status === 'number' && tpe !== undefined ? [{ requirement, status, tpe }] : []
  })
  const byPair = [...groupBy(named, ({ status, tpe }) => `${status} ${tpe}`).values()]
  const errors = byPair.map((same) => {
    const { status, tpe } = same[0]!
    const ids = same.map(({ requirement }) => requirement)
    const met = answers.find((answer) => answer.status === status && answer.tpe === tpe)?.count ?? 0
    const asked = ids.map((one) => member(member(scenarios[one], 'headers'), 'x-simulate'))
    const simulate = asked.find((value) => value !== undefined)
    const value =
      typeof simulate === 'string' ? simulate.split(' ').slice(0, 2).join(' ') : undefined
    return { status, tpe, ids, met, ...(value !== undefined && { simulate: value }) }
  })
  return errors.sort((a, b) => a.status - b.status)
}
