import { outsideCause } from '../../harness/report/exit-code.ts'
import { commonReason, isTargetReason, count } from '../../harness/report/reason.ts'
import { isEmptyShard } from '../../harness/report/verdict.ts'
import type { Counts, Report, Verdict } from '../../harness/report/model.ts'
import { exercised, total, selectedSummary } from './groups.ts'

/** Whether a reader may be content: `warning` if nothing is known to be wrong that was not expected, but not everything is known. */
export type Tone = 'good' | 'warning' | 'bad'

/** How a run is shown to people, alike everywhere. The verdict's own name is for files. */
export interface Standing {
  readonly tone: Tone
  /** `Incomplete`: the one or two words that are seen first. */
  readonly word: string
  /** A sign beside them, for those who see no colours. */
  readonly sign: '✓' | '!' | '✗' | '?'
  /** What the word means here, without a full stop. */
  readonly meaning: string
}

/** A verdict by itself, without the run that it is of. */
export const verdictWords: Readonly<Record<Verdict, { readonly tone: Tone; readonly word: string }>> = {
  conformant: { tone: 'good', word: 'Conformant' },
  passing: { tone: 'warning', word: 'Incomplete' },
  'non-conformant': { tone: 'bad', word: 'Non-conformant' },
  'not-judged': { tone: 'warning', word: 'Not judged' },
}

const signs = { good: '✓', warning: '!', bad: '✗' } as const

/**
 * Says how a run ended. Good is only what is conformant, was tested in full and ends with 0; what was interrupted, restricted
 * or not tested is a warning, and so is what fails as a baseline expects.
 */
export function standingOf(report: Report): Standing {
  const [tone, word] = toneAndWord(report)
  return {
    tone,
    word,
    sign: report.verdict === 'not-judged' ? '?' : signs[tone],
    meaning: [mustsOf(report), ...shouldsOf(report)].join('; '),
  }
}

/** The same in one sentence: `Incomplete (passing): nothing failed in the 55 of 289 musts that were tested`. */
export function verdictSentence(report: Report): string {
  const { meaning, word } = standingOf(report)
  const isNamed = word.toLowerCase().replace(' ', '-').startsWith(report.verdict)
  return `${word}${isNamed ? '' : ` (${report.verdict})`}: ${meaning}`
}

/** The same where the line of the exit code follows: what that says is not said before it. */
export function verdictBeforeExit(report: Report): string {
  return isSaidByExit(report) ? standingOf(report).word : verdictSentence(report)
}

/** Whether the line of the exit code says all that the verdict means. */
export function isSaidByExit(report: Report): boolean {
  return report.verdict === 'not-judged' && standingOf(report).meaning.includes(report.exit.because)
}

function toneAndWord({ exit, run, verdict }: Report): readonly [Tone, string] {
  switch (verdict) {
    case 'not-judged':
      return ['warning', 'Not judged']
    case 'non-conformant':
      return exit.code === 0 ? ['warning', 'Non-conformant, as expected'] : ['bad', 'Non-conformant']
    case 'passing':
      if (run.interrupted) return ['warning', 'Interrupted']
      return [exit.code === 1 ? 'bad' : 'warning', 'Incomplete']
    case 'conformant':
      if (exit.code !== 0) return ['warning', 'Conformant, but the run is no success']
      return run.depth === 'quick' ? ['warning', 'Conformant in a quick run'] : ['good', 'Conformant']
  }
}

/** `3 musts`; `3 selected musts` if an option left others out. */
function allOf(report: Report, level: 'must' | 'should'): string {
  const selected = selectedSummary(report)[level]
  const all = total(selected)
  return count(all, all < total(report.summary[level]) ? `selected ${level}` : level)
}

function mustsOf(report: Report): string {
  const { must } = selectedSummary(report)
  if (report.verdict === 'passing' && total(must) === 0) return 'no must was selected'
  switch (report.verdict) {
    case 'conformant':
      return `all ${count(must.passed, 'must')} that apply passed${but(must, ['notApplicable'])}`
    case 'passing':
      return tested(report)
    case 'non-conformant':
      return `${must.failed} of ${allOf(report, 'must')} failed${but(must, ['notExercised', 'notApplicable'])}`
    case 'not-judged':
      return notJudged(report)
  }
}

/** Of all musts that apply, also those that an option left out: they were not tested either. */
function tested({ summary: { must, should } }: Report): string {
  const what = should.failed === 0 ? 'nothing' : 'no must'
  const apply = total(must) - must.notApplicable
  const were = exercised(must) === 1 ? 'was' : 'were'
  return `${what} failed in the ${exercised(must)} of ${count(apply, 'must')} that ${were} tested`
}

function notJudged(report: Report): string {
  if (isEmptyShard(report))
    return `this shard (${report.run.shard}) judges nothing by itself; merge the reports of all shards`
  if (report.run.interrupted) return 'the run was ended before anything could be judged'
  const reason = outsideCause(report) ?? commonReason(report.requirements)
  if (reason !== undefined && isTargetReason(reason)) return reason
  return `the target could not be judged${reason === undefined ? '' : ` (${reason})`}`
}

function shouldsOf(report: Report): string[] {
  const { should } = report.summary
  if (should.failed === 0) return []
  const weight = report.run.strict ? ', which count like musts (--strict)' : ', which do not decide the verdict'
  return [`${should.failed} of ${allOf(report, 'should')} failed${report.verdict === 'not-judged' ? '' : weight}`]
}

function but(counts: Counts, members: ('notExercised' | 'notApplicable')[]): string {
  const words = { notExercised: 'not tested', notApplicable: 'not applicable' }
  return members
    .filter((member) => counts[member] > 0)
    .map((member) => `, ${counts[member]} ${words[member]}`)
    .join('')
}
