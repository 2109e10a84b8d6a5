import type { RecordedExchange, Report } from '../../harness/report/model.ts'
import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** The exchanges that the failures of a report keep, for renderers of exchanges if there is no log of a run. */
export function failureExchanges({ requirements, run }: Report): RecordedExchange[] {
  const kept = requirements.flatMap(({ id, operation, failures }) =>
    failures.flatMap(({ exchange }) => (exchange ? [{ ...exchange, requirement: id, operation }] : [])),
  )
  return kept.map((exchange, n) => ({ ...exchange, n, role: 'probe', startedAt: run.startedAt, durationMs: 0 }))
}

/** The exchanges of a run as they were written down, one at a time; none if nothing was. A last line cut by an interrupt is left out. */
export async function* loggedExchanges(log: string | undefined): AsyncIterable<RecordedExchange> {
  if (log === undefined || !existsSync(log)) return
  for await (const line of createInterface({ input: createReadStream(log), crlfDelay: Infinity })) {
    const exchange = parsed(line)
    if (exchange) yield exchange
  }
}

function parsed(line: string): RecordedExchange | undefined {
  try {
    return JSON.parse(line) as RecordedExchange
  } catch {
    return undefined
  }
}
