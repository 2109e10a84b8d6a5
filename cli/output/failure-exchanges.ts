import type { RecordedExchange, Report } from '../../harness/report/model.ts'

/** The exchanges that the failures of a report keep, for renderers of exchanges if there is no log of a run. */
export function failureExchanges({ requirements, run }: Report): RecordedExchange[] {
  const kept = requirements.flatMap(({ id, operation, failures }) =>
    failures.flatMap(({ exchange }) => (exchange ? [{ ...exchange, requirement: id, operation }] : [])),
  )
  return kept.map((exchange, n) => ({ ...exchange, n, role: 'probe', startedAt: run.startedAt, durationMs: 0 }))
}
