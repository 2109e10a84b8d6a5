import {
  type Failure,
  type RecordedExchange,
  type Report,
  type RequirementResult,
  type TakesState,
  decisive,
  reasonExpected,
  type Story,
  type StoryStep,
} from '../../harness/report/index.ts'
import { shortened, visible } from '../escape.ts'
import { duration } from './writing.ts'

/** The exchanges of a run, in the order in which they ended; read once, from memory or as they come from a file. */
export type Exchanges = Iterable<RecordedExchange> | AsyncIterable<RecordedExchange>

export type EvidenceLine = readonly [
  label: 'sent' | 'expected' | 'received' | 'note' | 'again' | 'curl',
  text: string,
]

const unlock = 'What stays locked has to be freed before you run the again line'

/** What has to be there for a failure to show again, and which of the two lines does not bring it about. */
const takenStates: Readonly<Record<TakesState, string>> = {
  'idle-application':
    'the application must have no job in progress. The curl line does not make the jobs that went before',
  'job-in-progress':
    'a job of the application must be in progress. The curl line sends two creations: the first one starts that job',
  'job-elsewhere':
    'a job of another application must be in progress. The curl line does not start it',
  'job-before': `a job of the application must have ended before. The curl line does not make it. ${unlock}`,
  'job-of-run':
    'the run made several jobs, and this one is wrong among them. The again line makes new jobs; the curl line reads this one as it is by now',
  'endless-job': `a job must go on for too long. The curl line does not start it. ${unlock}`,
  'refusal-before': `another request must be refused before this one. The curl line does not send it. ${unlock}`,
  'requests-at-once':
    'other requests must come at the same moment. The curl line does not send them',
  'more-requests':
    'the target must be asking for patience (429, 503), as it does after many requests',
  'object-of-run':
    'another request of the run made the object. The curl line does not make it again',
  chance: 'the answer comes and goes. You may have to run either line several times',
  'earlier-requests':
    'it depends on what was sent before, on the time that has passed, or on chance',
}

/**
 * A failure in the order in which a reader needs it; long texts are cut, but for the lines that can be run. Each is one line,
 * whatever the target sent.
 */
export function evidence(failure: Failure, limit = 2000): EvidenceLine[] {
  const notes = [
    failure.onlyName && 'only the code name differs: passes with --tpe family',
    failure.takes &&
      `one request alone does not show this: ${takenStates[failure.takes]}${waitOf(failure)}${laterOf(failure)}`,
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

/** How long after the job's own creation the wrong one came: a server may lock an application for a part of that time. */
function waitOf({ story, takes }: Failure): string {
  const wrong = story?.steps.find(({ isWrong }) => isWrong)
  if (takes !== 'job-in-progress' || wrong === undefined) return ''
  return `. In the run the other one came ${wrong.sentMs.toLocaleString('en')} ms after it: between the two you may have to wait so long`
}

function laterOf({ later }: Failure): string {
  return later === undefined
    ? ''
    : `. When the run ended, this request by itself was answered ${later}`
}

/** A line that is to be run is of no use when cut, so a longer one is only named. */
export function commandOrLength(text: string): string {
  return text.length <= 4000 ? text : `${text.length} characters long: see the JSON or HTML report`
}

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

/**
 * A requirement in formats that know only tests: `failed` is what decides the exit code, and nothing else. A failure that is
 * expected, or a `should`, is skipped and says what it did, as does whatever was not judged.
 */
export interface TestStatus {
  readonly kind: 'passed' | 'failed' | 'skipped'
  /** Absent for what passed. */
  readonly message?: string
}

export function testStatuses(report: Report): (result: RequirementResult) => TestStatus {
  const decides = new Set(decisive(report).map(({ id }) => id))
  const stale = new Map(report.run.baseline?.stale.map(({ id, why }) => [id, why]))
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
        : 'a failed should does not decide'
      return { kind: 'skipped', message: `${known}: ${sentence}` }
    }
    const message = `${outcome}: ${result.reason ?? 'no reason was recorded'}`
    return decides.has(id)
      ? { kind: 'failed', message: `${message} (--require-exercised)` }
      : { kind: 'skipped', message }
  }
}

/** Marks the answer of a story that is wrong. */
export const wrongSign = '✗ this one'

/** A story, a line each step: `12 ms  create a job, with a fault → 202 job A in_progress`. */
export function storyLines({ steps, left = 0, leftAfter = 0 }: Story): string[] {
  const lines = steps.map((step) => {
    const name = step.job === undefined ? undefined : `job ${letter(step.job)}`
    const at = duration(step.sentMs).padStart(8)
    const end = step.isWrong === true ? `  ${wrongSign}` : ''
    return `${at}  ${sentOf(step, name)} → ${receivedOf(step, name)}${end}`
  })
  return left === 0
    ? lines
    : [...lines.slice(0, leftAfter), `          ${left} more`, ...lines.slice(leftAfter)]
}

function letter(job: number): string {
  return job < 26 ? String.fromCharCode(65 + job) : String(job + 1)
}

function sentOf({ isFaulty, kind }: StoryStep, name: string | undefined): string {
  if (kind === 'reading') return `read ${name ?? 'a job'}`
  return isFaulty ? 'create a job, with a fault' : 'create a job'
}

function receivedOf({ kind, state, status, tpe }: StoryStep, name: string | undefined): string {
  if (status === null) return 'no answer'
  const made = kind === 'creation' && name !== undefined ? ` ${name}` : ''
  const said = tpe ?? state ?? ''
  return `${status}${made}${said === '' ? '' : ` ${said}`}`
}
