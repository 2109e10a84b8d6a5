import { complain } from '../output/say.ts'
import type { Baseline, Report } from '../../harness/report/index.ts'
import { decided, holdAgainst, updateBaseline, withProblems } from '../../harness/report/index.ts'
import { reportToGithub } from '../../reporters/github.ts'
import { type People, keptExchanges, finish } from '../output/write-reports.ts'
import type { StartedServer } from './start-server.ts'
import { type ReportRequest, writeAtomically } from '../output/files.ts'
import { unwritable } from '../../harness/user-error.ts'
import type { RunArguments } from './arguments.ts'
import { reportOf, type RunRecord, whyNotJudged } from '../../suites/run-report.ts'

export interface Publication {
  readonly options: RunArguments
  readonly requests: readonly ReportRequest[]
  readonly people: People
  readonly baseline: Baseline | undefined
  /** Notes of --start or --wait. */
  readonly server: StartedServer | undefined
}

interface Messages {
  readonly notes: string[]
  readonly problems: string[]
}

/** Writes every report that was asked for and the one for people, and sets the exit code. Gives the report as it was written. */
export async function publish(record: RunRecord, publication: Publication): Promise<Report> {
  const { options, people } = publication
  const messages: Messages = { notes: notesOf(record), problems: [] }
  const held = await heldAgainst(reportOf(record), publication, messages)
  const { requireExercised = false } = options
  const report = decided(held, { requireExercised, notJudged: whyNotJudged(record) })
  messages.notes.push(...(publication.server?.notes(report) ?? []))
  github(withProblems(report, messages.problems), people, messages)
  for (const problem of messages.problems) complain(problem)
  const problem = record.facts.recordingProblem
  if (problem !== undefined)
    messages.notes.push(
      `the exchanges could not be kept (${problem}): no HAR is written, and HTML shows those of failures only`,
    )
  return finish(withProblems(report, messages.problems), {
    ...keptExchanges({ log: record.options.exchangeLog, problem }, report, publication.requests),
    people,
    notes: messages.notes,
    isVerbose: options.verbose ?? false,
    command: record.options.rerun,
  })
}

/** The report as the baseline holds it; as the rewritten one does, if it is to be rewritten. */
async function heldAgainst(whole: Report, { baseline, options }: Publication, messages: Messages): Promise<Report> {
  if (!baseline) return whole
  const now = new Date()
  const by = ({ run, requirements, ...rest }: Report, held: Baseline): Report => ({
    ...rest,
    requirements,
    run: { ...run, baseline: holdAgainst(held, requirements, run.tpe, now) },
  })
  if (!options.updateBaseline) return by(whole, baseline)
  if (whole.verdict === 'not-judged' || whole.run.interrupted) {
    messages.notes.push(`${baseline.file} is left as it was: the run judged nothing, or not all`)
    return by(whole, baseline)
  }
  const { baseline: updated, difference, text } = updateBaseline(baseline, whole, now)
  try {
    await writeAtomically(baseline.file, text)
  } catch (error) {
    messages.problems.push(unwritable(`--update-baseline ${baseline.file}`, error).message)
    return by(whole, baseline)
  }
  const lines = difference.length > 0 ? difference : ['nothing changed']
  messages.notes.push(`${baseline.file} is updated:`, ...lines.map((line) => `  ${line}`))
  return by(whole, updated)
}

function notesOf({ facts }: RunRecord): string[] {
  const { ended, jobsInProgress, hints } = facts
  const isTold =
    !ended ||
    ended.cause === 'interrupted' ||
    ended.cause === 'bail' ||
    ended.cause === 'unreachable' ||
    ended.cause === 'setup'
  return [
    ...(isTold ? [] : [ended.reason]),
    ...hints,
    ...(jobsInProgress.length > 0 ? [`jobs that were not seen to end: ${jobsInProgress.join(', ')}`] : []),
  ]
}

function github(report: Report, people: People, { problems }: Messages): void {
  try {
    reportToGithub(report, process.env, (text) => people.write(text))
  } catch (error) {
    problems.push(`the job summary cannot be written (${(error as NodeJS.ErrnoException).code ?? 'error'})`)
  }
}
