import type { Exchange } from '../../harness/journal/exchange.ts'
import type { HistoryEvent } from '../../harness/journal/event.ts'

/** An event that began that many ms after the beginning of its history, and took 5 ms; a reading of a job by default. */
export function eventAt(ms: number, told: Partial<HistoryEvent> = {}): HistoryEvent {
  const { status = 200, isGranted = status < 300 } = told
  return {
    kind: 'reading',
    operation: told.kind === 'creation' ? 'jobs.create' : 'jobs.retrieve',
    object: undefined,
    request: 'valid',
    sentAt: ms,
    endedAt: ms + 5,
    exchange: {} as Exchange,
    ...told,
    status,
    isGranted,
  }
}
