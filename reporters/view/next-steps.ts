import { count, isLeftOut, type Report, sayNeed } from '../../harness/report/index.ts'
import { shellWord } from '../../harness/shell-word.ts'
import { failed } from './groups.ts'
import { type LikelyCause, likelyCauses } from './causes.ts'
import { notBuilt } from './operation-map.ts'
import { isWithoutOutcome, notJudged } from './to-declare.ts'
import { capital } from './writing.ts'

/** What to do next: a sentence without a full stop, and the command that does it if there is one. */
export interface NextStep {
  readonly text: string
  readonly command?: string
}

/** What whoever shows the steps knows besides the report. */
export interface Shown {
  /** Path of the JSON report. */
  readonly json?: string | undefined
  /** Whoever shows the steps has a button for what is run again. */
  readonly hasButtons?: boolean
}

/** Path of the JSON report among those that are written, if one is in a file. */
export function jsonFile(
  reports: readonly { readonly format: string; readonly path: string }[],
): string | undefined {
  return reports.find(({ format, path }) => format === 'json' && path !== '-')?.path
}

const MOST = 3

/** What to do next, at most three steps, the one first that tells most; none if the last line says it, or all is well. */
export function nextSteps(report: Report, { hasButtons = false, json }: Shown = {}): NextStep[] {
  if (isWithoutOutcome(report)) return []
  const { unexpected } = failed(report)
  const causes = likelyCauses(unexpected, report)
  const run = commandIn(report)
  const file = json === undefined ? '<report.json>' : shellWord(json)
  const again = (text: string, option: string): NextStep =>
    hasButtons
      ? { text }
      : {
          text: json === undefined ? `${text} (--report json writes the report)` : text,
          command: `${run} ${option} ${file}`,
        }
  const isCutShort = report.requirements.some((result) => isLeftOut(result, 'interrupted'))
  const last = isCutShort
    ? [again('Go on with what was not tested', '--untested')]
    : unexpected.length > 0 && report.run.runs > 0
      ? [again('Run again what failed', '--failed')]
      : []
  const first = [
    ...(report.run.hints ?? []).map((text) => ({ text: capital(text) })),
    ...(causes.some(({ isAbsent }) => isAbsent) ? [] : absentStep(report)),
    ...causes.map((cause) => ({ text: changeOf(cause) })),
    ...unexplainedStep(report, causes),
    ...(unexpected.length === 0 && !isCutShort ? declareStep(report) : []),
  ]
  return [...first.slice(0, MOST - last.length), ...last]
}

function absentStep(report: Report): NextStep[] {
  const absent = notBuilt(report)
  if (absent === undefined) return []
  const { length } = absent.operations
  const them = length === 1 ? 'the operation that is' : `the ${length} operations that are`
  return [{ text: `Build ${them} absent, or paste the lines that say "not-served"` }]
}

function changeOf({ change, results, title }: LikelyCause): string {
  return `${title}. ${capital(change)}: ${count(results.length, 'failure')}`
}

/** Failures that no likely cause explains. */
export function unexplained(report: Report, causes: readonly LikelyCause[]) {
  const explained = new Set(causes.flatMap(({ results }) => results))
  return failed(report).unexpected.filter((result) => !explained.has(result))
}

function unexplainedStep(report: Report, causes: readonly LikelyCause[]): NextStep[] {
  const [first, ...others] = unexplained(report, causes)
  if (first === undefined) return []
  const more = others.length > 0 ? `, then ${others.length} more` : ''
  return [{ text: `Mend ${first.id}${more}` }]
}

function declareStep(report: Report): NextStep[] {
  const [first, ...others] = notJudged(report).steps
  if (first === undefined) return []
  const names = first.names.map(sayNeed).join(' and ')
  const gain = count(first.ids.length, 'more requirement')
  const more =
    others.length > 0
      ? `; ${count(others.length, 'other')} ${others.length === 1 ? 'is' : 'are'} listed with what to paste`
      : ''
  return [{ text: `Declare ${names}: ${gain} can be tested then${more}` }]
}

/** The command of the run; of a report without it as a failure repeats it, and of one without a failure what is known. */
function commandIn({ requirements, run, target }: Report): string {
  if (run.command !== undefined) return run.command
  const rerun = requirements.flatMap(({ failures }) => failures).at(0)?.rerun
  return rerun?.split(' --only ')[0] ?? `conform ${shellWord(target.baseUrl)}`
}
