import type { RecordedExchange, Failure, RequirementResult } from '../../harness/report/model.ts'
import { shortened, visible } from '../escape/visible.ts'

/** The exchanges of a run, in the order in which they ended; read once, from memory or as they come from a file. */
export type Exchanges = Iterable<RecordedExchange> | AsyncIterable<RecordedExchange>

/** A line of what a failure shows: what was sent, expected and received, and how to see it again. */
export type EvidenceLine = readonly [label: 'sent' | 'expected' | 'received' | 'note' | 'again' | 'curl', text: string]

/** The request was sent while something else went on, which is over when somebody pastes the curl line. */
const needsJob = /, while (only )?(a )?job .*in progress/

/**
 * A failure in the order in which a reader needs it; long texts are cut, but for the lines that can be run. Each is one line,
 * whatever the target sent.
 */
export function evidence(failure: Failure, limit = 2000): EvidenceLine[] {
  const notes = [
    failure.familyOnly && 'only the code name differs: passes with --tpe family',
    needsJob.test(failure.message) &&
      'the curl line sends one request alone: it shows this only while such a job lasts',
  ].filter((note) => note !== false)
  const cut = (text: string): string => shortened(visible(text), limit)
  return [
    ['sent', cut(failure.message)],
    ['expected', cut(failure.expected)],
    ['received', cut(failure.actual)],
    ...notes.map((note) => ['note', note] as const),
    ['again', visible(failure.rerun)],
    ...(failure.exchange ? ([['curl', visible(failure.exchange.curl)]] as const) : []),
  ]
}

/** The same as text, a line each. */
export function evidenceText(failure: Failure): string {
  return evidence(failure)
    .map(([label, text]) => `${label.padEnd(10)}${text}`)
    .join('\n')
}

/** The failures of a result in one sentence: the first of them. */
export function failureSentence({ failures }: RequirementResult): string {
  const [first] = failures
  if (!first) return 'failed; no evidence was recorded'
  return `expected ${shortened(first.expected, 400)}, received ${shortened(first.actual, 400)}`
}
