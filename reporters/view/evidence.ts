import {
  type Failure,
  type RecordedExchange,
  type Report,
  type RequirementResult,
  type TakesState,
  decisive,
  reasonExpected,
} from '../../harness/report/index.ts'
import { shortened, visible } from '../text.ts'

/** The exchanges of a run in order of completion, read once, from memory or a file. */
export type Exchanges = Iterable<RecordedExchange> | AsyncIterable<RecordedExchange>

export interface EvidenceLine {
  readonly label: 'sent' | 'expected' | 'received' | 'note' | 'again' | 'curl'
  readonly text: string
}

const unlock = 'Release whatever is still locked before you run the again line'

const takenStates: Readonly<Record<TakesState, string>> = {
  'idle-application':
    'no job may be running on the application. The curl line does not create the earlier jobs',
  'job-in-progress':
    'a job of the application must be running. The curl line sends two creations: the first one starts that job',
  'job-elsewhere': 'a job of another application must be running. The curl line does not start it',
  'job-before': `a job of the application must have ended before. The curl line does not create it. ${unlock}`,
  'job-of-run':
    'the run created several jobs, and this one is wrong. The again line creates new jobs; the curl line reads this one as it is now',
  'endless-job': `a job must run for too long. The curl line does not start it. ${unlock}`,
  'refusal-before': `another request must be refused before this one. The curl line does not send it. ${unlock}`,
  'requests-at-once':
    'other requests must come at the same moment. The curl line does not send them',
  'more-requests': 'the target must be throttling (429, 503), as it does after many requests',
  'object-of-run': 'the object came from an earlier request. The curl line does not recreate it',
  chance: 'the answer varies. You may have to run either line several times',
  'earlier-requests':
    'it depends on what was sent before, on the time that has passed, or on chance',
}

/**
 * The lines of a failure in reading order; long texts are truncated. Each is one line, whatever the
 * target sent.
 */
export function evidence(failure: Failure, limit = 2000): EvidenceLine[] {
  const notes = [
    failure.onlyName && 'only the code name differs: passes with --tpe family',
    failure.takes &&
      `one request alone does not reproduce this: ${takenStates[failure.takes]}${laterOf(failure)}`,
  ].filter((note) => typeof note === 'string')
  const cut = (text: string): string => shortened(visible(text), limit)
  return [
    { label: 'sent', text: cut(failure.message) },
    { label: 'expected', text: cut(failure.expected) },
    { label: 'received', text: cut(failure.actual) },
    ...notes.map((text): EvidenceLine => ({ label: 'note', text })),
    { label: 'again', text: commandOrLength(failure.rerun) },
    ...(failure.exchange
      ? [{ label: 'curl' as const, text: commandOrLength(failure.exchange.curl) }]
      : []),
  ]
}

/** Whether a line is to copy. */
export function isCommand(line: EvidenceLine): boolean {
  return line.label === 'again' || line.label === 'curl'
}

function laterOf(failure: Failure): string {
  return failure.later === undefined
    ? ''
    : `. At the end of the run, this request alone got ${failure.later}`
}

/** A truncated command is useless, so a longer one is replaced by its length. */
function commandOrLength(text: string): string {
  return text.length <= 4000 ? visible(text) : `${text.length} characters long: see the JSON report`
}

export function evidenceText(failure: Failure, limit = 2000): string {
  return evidence(failure, limit)
    .map((line) => `${line.label.padEnd(10)}${line.text}`)
    .join('\n')
}

export function failureSentence(result: RequirementResult): string {
  const [first] = result.failures
  if (!first) return 'failed; no evidence was recorded'
  return `expected ${shortened(first.expected, 400)}, received ${shortened(first.actual, 400)}`
}

/**
 * A requirement in formats that only know tests: `failed` means that it decides the exit code. Expected failures,
 * recommendations and results not judged are skipped, with a message.
 */
export interface TestStatus {
  readonly kind: 'passed' | 'failed' | 'skipped'
  readonly message?: string
}

export function testStatuses(report: Report): (result: RequirementResult) => TestStatus {
  const decides = new Set(decisive(report).map((one) => one.id))
  const stale = new Map(report.run.baseline?.stale.map((one) => [one.id, one.why]))
  const expected = new Set(report.run.baseline?.expected)
  return (result) => {
    const { id, outcome } = result
    if (outcome === 'passed') return { kind: 'passed' }
    if (outcome === 'failed') {
      const sentence = failureSentence(result)
      const why = stale.get(id)
      if (decides.has(id))
        return {
          kind: 'failed',
          message: why === undefined ? sentence : `${sentence}; baseline: ${why}`,
        }
      const reason = reasonExpected(report, id)
      const known = expected.has(id)
        ? `failed as ${report.run.baseline!.file} expects${reason === undefined ? '' : ` (${reason})`}`
        : 'a failed recommendation is not decisive'
      return { kind: 'skipped', message: `${known}: ${sentence}` }
    }
    const message = `${outcome}: ${result.reason ?? 'no reason was recorded'}`
    return decides.has(id)
      ? { kind: 'failed', message: `${message} (--require-exercised)` }
      : { kind: 'skipped', message }
  }
}
