import type { Report } from '../harness/report/model.ts'
import { json } from './escape/json.ts'
import type { Exchanges } from './view/evidence.ts'
import { entry } from './har/entry.ts'
import { runNotes, seedLine } from './view/run-notes.ts'
import { verdictSentence } from './view/verdict-sentence.ts'

/** Every exchange of the run as HAR 1.2, streamed: one is in memory at a time. */
export async function* renderHar(report: Report, exchanges: Exchanges): AsyncGenerator<string, void, undefined> {
  const { suite } = report
  const comment = [verdictSentence(report), ...runNotes(report), seedLine(report)].join('; ')
  const head = { version: '1.2', creator: { name: suite.name, version: suite.version }, comment }
  yield `{"log":${json(head).slice(0, -1)},"entries":[`
  let separator = '\n'
  for await (const exchange of exchanges) {
    yield separator + json(entry(exchange))
    separator = ',\n'
  }
  yield '\n]}}\n'
}
