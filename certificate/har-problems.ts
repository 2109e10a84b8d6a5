import type { Report } from '../harness/report/model.ts'
import { isObject } from '../schemas/json-object.ts'
import type { NamedBytes } from './bundle.ts'

/** A run's clock and that of its worker may differ by so much, in ms. */
const CLOCK_MS = 1000

/** An entry of a HAR, as far as it is looked at. */
interface Entry {
  readonly startedDateTime: string
  readonly request: { readonly url: string }
  readonly _requirement: string | null
  readonly _role: string
}

/**
 * Why these are not the recorded exchanges of that run: as many as the run sent, at its time, to its target, by its suite,
 * and for its requirements only.
 */
export function harProblems(files: readonly NamedBytes[], report: Report): string[] {
  const { run, suite, target } = report
  const logs = files.map(({ name, bytes }) => ({ name, log: logIn(bytes) }))
  const broken = logs.flatMap(({ name, log }) => (log ? [] : [`${name} is not a HAR as conform writes it`]))
  if (broken.length > 0) return broken
  const entries = logs.flatMap(({ log }) => log?.entries ?? [])
  const began = Date.parse(run.startedAt)
  const ids = new Set(report.requirements.map(({ id }) => id))
  const isAway = ({ request, _role }: Entry) => _role === 'probe' && !isBelow(request.url, target.baseUrl)
  const isEarly = ({ startedDateTime }: Entry) => !(Date.parse(startedDateTime) >= began - CLOCK_MS)
  const isStrange = ({ _requirement }: Entry) => _requirement !== null && !ids.has(_requirement)
  const holds: [boolean, string][] = [
    [logs.every(({ log }) => log?.creator === `${suite.name} ${suite.version}`), 'another suite recorded them'],
    [entries.length === run.requests, `they are ${entries.length} of the ${run.requests} that the run sent`],
    [!entries.some(isAway), `they did not go to ${target.baseUrl}`],
    [!entries.some(isEarly), 'they were recorded before the run began'],
    [!entries.some(isStrange), 'they are for requirements that the report does not hold'],
  ]
  return holds.flatMap(([holding, problem]) =>
    holding ? [] : [`the exchanges are not those of the report: ${problem}`],
  )
}

function logIn(bytes: Uint8Array): { creator: string; entries: readonly Entry[] } | null {
  try {
    const { log } = JSON.parse(Buffer.from(bytes).toString('utf8')) as {
      log: { creator: { name: string; version: string }; entries: Entry[] }
    }
    const isEntry = (entry: Entry) => isObject(entry) && typeof entry.request.url === 'string'
    if (!log.entries.every(isEntry)) return null
    return { creator: `${log.creator.name} ${log.creator.version}`, entries: log.entries }
  } catch {
    return null
  }
}

function isBelow(url: string, baseUrl: string): boolean {
  return url === baseUrl || ['/', '?'].some((next) => url.startsWith(baseUrl + next))
}
