import {
  type Report,
  type Verdict,
  commonReason,
  count,
  isMistake,
  outsideCause,
} from '../../harness/report/index.ts'
import { groupBy } from '../../harness/group-by.ts'
import { total, selectedSummary } from './groups.ts'
import { leftOutOf, requiredChecks } from './excused.ts'
import { answering, operationMap } from './operation-map.ts'
import { firstOf } from './writing.ts'

/** `warning`: nothing unexpected failed, but not everything is known. */
export type Tone = 'good' | 'warning' | 'bad'

/** How a run is shown to people; files contain the verdict's own name. */
export interface Standing {
  readonly tone: Tone
  /** `Incomplete`: one or two words, seen first. */
  readonly word: string
  /** A sign, for readers without colours. */
  readonly sign: '✓' | '!' | '✗' | '?'
  readonly meaning: string
}

export const verdictWords: Readonly<Record<Verdict, Pick<Standing, 'tone' | 'word'>>> = {
  conformant: { tone: 'good', word: 'Conformant' },
  passing: { tone: 'warning', word: 'Incomplete' },
  'non-conformant': { tone: 'bad', word: 'Non-conformant' },
  'not-judged': { tone: 'warning', word: 'Not judged' },
}

const signs = { good: '✓', warning: '!', bad: '✗' } as const

/**
 * Good: conformant, tested in full, exit code 0. Warning: interrupted, restricted, incomplete, or failed as a baseline
 * expects.
 */
export function standingOf(report: Report): Standing {
  const { run, summary, verdict } = report
  const { tone, word } = qualified(report)
  const { failed } = summary.should
  const weight = run.strict ? 'decisive by --strict' : 'not decisive'
  const answers = answering(report)
  const meaning = [
    requiredOf(report),
    ...(failed > 0 ? [`${count(failed, 'recommendation')} failed (${weight})`] : []),
    ...(answers.length > 0 ? [`declared not served but answering: ${answers.join(', ')}`] : []),
  ].join('; ')
  return { tone, word, sign: verdict === 'not-judged' ? '?' : signs[tone], meaning }
}

export function verdictSentence(report: Report): string {
  const { meaning, word } = standingOf(report)
  return `${word}: ${meaning}`
}

export function verdictBeforeExit(report: Report): string {
  return isSaidByExit(report) ? standingOf(report).word : verdictSentence(report)
}

export function isSaidByExit(report: Report): boolean {
  const { exit, requirements, run, verdict } = report
  if (verdict !== 'not-judged' || exit.code !== 3 || run.interrupted) return false
  if (outsideCause(report) !== undefined) return true
  return !requirements.some(isMistake) && commonReason(requirements)?.why?.kind !== 'target'
}

function qualified({ exit, run, verdict }: Report): Pick<Standing, 'tone' | 'word'> {
  const plain = verdictWords[verdict]
  if (verdict === 'not-judged') return plain
  const modes = [
    ...(run.tpe === 'family' ? ['family names'] : []),
    ...(run.depth === 'quick' ? ['quick'] : []),
  ]
  const word = plain.word + (modes.length === 0 ? '' : ` (${modes.join(', ')})`)
  const warning = (and: string) => ({ tone: 'warning' as const, word: word + and })
  if (verdict === 'non-conformant' && exit.code === 0) return warning(', as expected')
  if (verdict === 'passing' && exit.code === 1) return { tone: 'bad', word }
  if (verdict === 'conformant' && exit.code !== 0) return warning(', but the run failed')
  return verdict === 'conformant' && run.depth === 'quick' ? warning('') : { ...plain, word }
}

function requiredOf(report: Report): string {
  const { requirements, run, verdict } = report
  const { must } = selectedSummary(report)
  if (verdict !== 'not-judged')
    return total(must) === 0
      ? 'no required check was selected'
      : requiredChecks(must, leftOutOf(report))
  if (run.interrupted) return 'the run was interrupted before anything could be judged'
  const reason = outsideCause(report) ?? commonReason(requirements)?.reason
  if (reason === undefined) return 'the target could not be judged'
  return requirements.some((requirement) => requirement.why?.kind === 'target')
    ? reason
    : `the target could not be judged (${reason})`
}

export function interruptedNote(report: Report): string | undefined {
  return report.run.interrupted
    ? 'interrupted: only what was tested before the interrupt is judged'
    : undefined
}

/** Notes for files that show no first line and no next step. */
export function allNotes(report: Report): string[] {
  const first = interruptedNote(report)
  return [...(report.run.hints ?? []), ...(first === undefined ? [] : [first]), ...runNotes(report)]
}

/** Notes needed to weigh the verdict, one sentence each. */
export function runNotes(report: Report): string[] {
  const { created, longestPauseMs = 0, retried = 0, throttled } = report.run
  const isTls = report.target.baseUrl.startsWith('https:') && report.run.statuses?.length !== 0
  const longest =
    longestPauseMs > 0 ? `, and to wait ${Math.ceil(longestPauseMs / 1000)} s at most` : ''
  const were = retried === 1 ? 'was' : 'were'
  const notes: (readonly [holds: boolean, note: string | undefined])[] = [
    [report.run.insecure, 'insecure: the certificate of the target was not verified (--insecure)'],
    [
      report.run.ca && !report.run.insecure && isTls,
      'own authority: the certificate of the target was accepted because of tls.ca',
    ],
    [report.run.proxy !== null, `proxy: requests went through ${report.run.proxy}`],
    [
      report.run.depth === 'quick',
      'quick: one case of each kind per requirement, few wrong keys (--depth quick)',
    ],
    [
      report.run.readOnly,
      'read only: nothing was sent that creates or generates something (--read-only)',
    ],
    [
      throttled > 0,
      `throttled: ${count(throttled, 'answer')} asked to slow down (429, 503)${longest}; use --rate or --concurrency to send less`,
    ],
    [
      retried > 0,
      `retried: ${count(retried, 'answer')} ${were} cut off, reset or a gateway's 502 or 504, and repeated`,
    ],
    [created.length > 0, cleanupSentence(created)],
  ]
  return notes.flatMap(([holds, note]) => (holds && note !== undefined ? [note] : []))
}

/** `created 161 objects, removed 103`; undefined if none. */
export function createdObjects(other: Report['run']): string | undefined {
  if (other.created.length === 0) return undefined
  const removed = other.created.filter((one) => one.removed).length
  return `created ${count(other.created.length, 'object')}${removed > 0 ? `, removed ${removed}` : ''}`
}

/** Why some objects were not removed: `clean-up: 88 of 90 …; 2 not: answered 403 (files.upload f-1, …)`. */
function cleanupSentence(created: Report['run']['created']): string | undefined {
  const asked = created.filter((one) => one.removed !== undefined)
  const kept = asked.filter((one) => !one.removed)
  if (kept.length === 0) return undefined
  const reasons = [...groupBy(kept, ({ kept: why = '' }) => why)].map(([why, objects]) => {
    const names = firstOf(
      objects.map((object) => `${object.operation} ${object.id}`),
      3,
    )
    return `; ${objects.length} not: ${why} (${names.join(', ')})`
  })
  return `clean-up: ${asked.length - kept.length} of ${count(asked.length, 'created object')} removed${reasons.join('')}`
}

export function isNothingWorking(report: Report): boolean {
  return !operationMap(report).some((one) => one.state === 'working')
}

export function seedLine(report: Report): string {
  // A recording has no generated cases, so there is no seed.
  if (report.run.runs === 0) return 'recorded traffic, nothing was sent'
  return `repeat with --seed ${report.run.seed}`
}

export function exitLine(report: Report): string {
  return `exit ${report.exit.code}: ${report.exit.because}`
}

/**
 * Why the run as a whole failed although no requirement shows it: exit code 2 or 3, or a stale baseline entry without a
 * failure. Formats that only know tests would otherwise show it as passed.
 */
export function runErrors({ exit, requirements, run }: Report): string[] {
  const failed = new Set(
    requirements
      .filter((requirement) => requirement.outcome === 'failed')
      .map((requirement) => requirement.id),
  )
  const stale = (run.baseline?.stale ?? []).filter((one) => !failed.has(one.id))
  return [
    ...(exit.code > 1 ? [exit.because] : []),
    ...stale.map((one) => `stale entry of the baseline: ${one.id}: ${one.why}`),
  ]
}
