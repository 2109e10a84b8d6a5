import { outsideCause } from '../../harness/report/exit-code.ts'
import { commonReason } from '../../harness/report/reason.ts'
import { isEmptyShard } from '../../harness/report/verdict.ts'
import type { Counts, Report } from '../../harness/report/model.ts'
import { total } from './counts.ts'
import { count } from '../../harness/report/count.ts'
import { selectedSummary } from './selected.ts'

/**
 * The verdict and, in one sentence, what it means: `non-conformant: 3 of 212 musts failed`.
 * What did not run is never called a pass.
 */
export function verdictSentence(report: Report): string {
  return `${report.verdict}: ${meaning(report)}`
}

/** What the verdict means, without its name. */
export function meaning(report: Report): string {
  return [mustsOf(report), ...shouldsOf(report)].join('; ')
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
      return `${must.passed} of ${allOf(report, 'must')} passed and none failed${but(must, ['notExercised', 'notApplicable'])}`
    case 'non-conformant':
      return `${must.failed} of ${allOf(report, 'must')} failed${but(must, ['notExercised', 'notApplicable'])}`
    case 'not-judged':
      return notJudged(report)
  }
}

function notJudged(report: Report): string {
  if (isEmptyShard(report))
    return `this shard (${report.run.shard}) judges nothing by itself; merge the reports of all shards`
  if (report.run.interrupted) return 'the run was ended before anything could be judged'
  const reason = outsideCause(report) ?? commonReason(report.requirements)
  // Some reasons say so themselves, with the address.
  if (reason?.includes(' cannot be judged: ')) return reason
  return `the target could not be judged${reason === undefined ? '' : ` (${reason})`}`
}

function shouldsOf(report: Report): string[] {
  const { should } = report.summary
  if (should.failed === 0) return []
  const weight = report.run.strict ? ', which count like musts (--strict)' : ', which do not decide the verdict'
  return [`${should.failed} of ${allOf(report, 'should')} failed${report.verdict === 'not-judged' ? '' : weight}`]
}

function but(counts: Counts, members: ('notExercised' | 'notApplicable')[]): string {
  const words = { notExercised: 'not exercised', notApplicable: 'not applicable' }
  return members
    .filter((member) => counts[member] > 0)
    .map((member) => `, ${counts[member]} ${words[member]}`)
    .join('')
}
