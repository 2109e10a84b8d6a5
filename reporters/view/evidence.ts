import type { RecordedExchange, Failure, RequirementResult, TakesState } from '../../harness/report/model.ts'
import { shortened, visible } from '../escape/visible.ts'

/** The exchanges of a run, in the order in which they ended; read once, from memory or as they come from a file. */
export type Exchanges = Iterable<RecordedExchange> | AsyncIterable<RecordedExchange>

/** A line of what a failure shows: what was sent, expected and received, and how to see it again. */
export type EvidenceLine = readonly [label: 'sent' | 'expected' | 'received' | 'note' | 'again' | 'curl', text: string]

/** What the curl line of a failure does not bring about. */
const takenStates: Readonly<Record<TakesState, string>> = {
  'job-in-progress': 'it shows this only while a job of the application is in progress',
  'job-elsewhere': 'it shows this only while a job of another application is in progress',
  'job-before': 'it shows this only after a job of the application that has ended',
  'job-of-run': 'the job was made by the run, and may read otherwise by now',
  'refusal-before': 'it shows this only after the refused request',
  'requests-at-once': 'it shows this only beside another one that is sent at the same moment',
  'object-of-run': 'it names what another request of the run made',
}

/**
 * A failure in the order in which a reader needs it; long texts are cut, but for the lines that can be run. Each is one line,
 * whatever the target sent.
 */
export function evidence(failure: Failure, limit = 2000): EvidenceLine[] {
  const notes = [
    failure.familyOnly && 'only the code name differs: passes with --tpe family',
    failure.takes && `the curl line sends one request alone: ${takenStates[failure.takes]}`,
  ].filter((note) => typeof note === 'string')
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
