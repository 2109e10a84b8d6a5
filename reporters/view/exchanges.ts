import type { RecordedExchange } from '../../harness/report/model.ts'

/** The exchanges of a run, in the order in which they ended; read once, from memory or as they come from a file. */
export type Exchanges = Iterable<RecordedExchange> | AsyncIterable<RecordedExchange>
