import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, createReadStream, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { RecordedExchange, Report } from '../../harness/report/index.ts'
import type { ReportRequest } from './files.ts'
import { parsedJson } from '../../schemas/json.ts'

/**
 * Makes a folder of one run alone, for what it writes down while it goes on; it is removed when the process ends at the latest.
 * If there is no room for it the path is that of no folder: what is written there fails, and costs what is made of it alone.
 */
export function makeRunFolder() {
  const path = tryMake()
  if (path === undefined) return { path: join(tmpdir(), `conform-run-${randomUUID()}`), remove: () => undefined }
  const remove = (): void => {
    try {
      rmSync(path, { recursive: true, force: true })
    } catch {
      // If somebody made the folder read-only meanwhile, it stays.
    }
  }
  process.once('exit', remove)
  return {
    path,
    remove() {
      process.off('exit', remove)
      remove()
    },
  }
}

function tryMake(): string | undefined {
  try {
    return mkdtempSync(join(tmpdir(), 'conform-run-'))
  } catch {
    return undefined
  }
}

/** The exchanges that the failures of a report keep, for renderers of exchanges if there is no log of a run. */
export function failureExchanges({ requirements, run }: Report): RecordedExchange[] {
  const kept = requirements.flatMap(({ id, operation, failures }) =>
    failures.flatMap(({ exchange }) => (exchange ? [{ ...exchange, requirement: id, operation }] : [])),
  )
  return kept.map((exchange, n) => ({ ...exchange, n, role: 'probe', startedAt: run.startedAt, durationMs: 0 }))
}

/** The exchanges of a run; if they could not be written down, those of failures, which are not enough for a HAR. */
export function keptExchanges(
  { log, problem }: { readonly log: string | undefined; readonly problem: string | undefined },
  report: Report,
  requests: readonly ReportRequest[],
) {
  if (problem === undefined) return { requests, exchanges: () => loggedExchanges(log) }
  return {
    requests: requests.filter(({ format }) => format !== 'har'),
    exchanges: () => failureExchanges(report),
  }
}

/** The exchanges of a run as they were written down, one at a time; none if nothing was. A last line cut by an interrupt is left out. */
export async function* loggedExchanges(log: string | undefined): AsyncIterable<RecordedExchange> {
  if (log === undefined || !existsSync(log)) return
  for await (const line of createInterface({ input: createReadStream(log), crlfDelay: Infinity })) {
    const exchange = parsedJson(line) as RecordedExchange | undefined
    if (exchange) yield exchange
  }
}
