import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { RecordedExchange } from '../../harness/report/model.ts'

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
