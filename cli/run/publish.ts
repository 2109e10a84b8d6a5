import { writeFileSync } from 'node:fs'
import pc from 'picocolors'
import type { Baseline } from '../../harness/report/baseline.ts'
import { exitCode } from '../../harness/report/exit-code.ts'
import { holdAgainst } from '../../harness/report/baseline.ts'
import { updateBaseline } from '../../harness/report/update-baseline.ts'
import type { Report } from '../../harness/report/model.ts'
import { UserError } from '../../harness/user-error.ts'
import { reportToGithub } from '../../reporters/github.ts'
import { terminalText } from '../../reporters/escape/terminal.ts'
import { renderTerminal } from '../../reporters/terminal.ts'
import type { ReportRequest } from '../output/report-request.ts'
import { writeReports } from '../output/write-reports.ts'
import type { RunArguments } from './arguments.ts'
import { loggedExchanges } from './logged-exchanges.ts'
import { type RunRecord, reportOf } from './report-of.ts'

export interface Publication {
  readonly options: RunArguments
  readonly requests: readonly ReportRequest[]
  /** Where the report for people goes. */
  readonly people: NodeJS.WriteStream
  readonly baseline: Baseline | undefined
}

/** Writes every report that was asked for and the one for people, and sets the exit code. */
export async function publish(record: RunRecord, { options, requests, people, baseline }: Publication): Promise<void> {
  const whole = reportOf(record)
  const now = new Date()
  const report: Report = baseline
    ? { ...whole, run: { ...whole.run, baseline: holdAgainst(baseline, whole.requirements, whole.run.tpe, now) } }
    : whole
  const log = record.options.exchangeLog
  const problems = await writeReports(requests, report, () => loggedExchanges(log))
  people.write(renderTerminal(report, pc))
  sayWhy(record, people)
  problems.push(...github(report, people))
  if (record.facts.recordingProblem !== undefined) problems.push(record.facts.recordingProblem)
  let code = exitCode(report, { requireExercised: options.requireExercised ?? false })
  if (options.updateBaseline && baseline) code = rewriteBaseline(baseline, report, now, people, code)
  // A target that was lost half-way could not be judged to the end, whatever was learned.
  if (record.facts.ended?.cause === 'unreachable' || record.problem !== undefined) code = 3
  if (problems.length > 0) throw new UserError(problems.join('\n'))
  process.exitCode = code
}

/** What ended a run before its time stands once, behind the verdict. */
function sayWhy({ facts, target, problem }: RunRecord, people: NodeJS.WriteStream): void {
  if (facts.ended && facts.ended.cause !== 'interrupted' && facts.ended.cause !== 'bail')
    people.write(`${terminalText(facts.ended.reason)}\n`)
  if (facts.keyRefused && target.keys.full)
    people.write('the key is not accepted: every request with it was answered 401\n')
  if (problem !== undefined) people.write(`a mistake of the suite ended the run: ${terminalText(problem)}\n`)
  for (const hint of facts.hints) people.write(`${terminalText(hint)}\n`)
  if (facts.jobsInProgress.length > 0)
    people.write(`jobs still in progress: ${terminalText(facts.jobsInProgress.join(', '))}\n`)
}

function github(report: Report, people: NodeJS.WriteStream): string[] {
  try {
    reportToGithub(report, process.env, (text) => people.write(text))
    return []
  } catch (error) {
    return [`the job summary cannot be written (${(error as NodeJS.ErrnoException).code ?? 'error'})`]
  }
}

function rewriteBaseline(
  baseline: Baseline,
  report: Report,
  now: Date,
  people: NodeJS.WriteStream,
  code: 0 | 1 | 3,
): 0 | 1 | 3 {
  if (report.verdict === 'not-judged' || report.run.interrupted) {
    people.write(`${baseline.file} is left as it was: the run judged nothing, or not all\n`)
    return code
  }
  const update = updateBaseline(baseline, report, now)
  try {
    writeFileSync(baseline.file, update.text)
  } catch (error) {
    throw new UserError(
      `--update-baseline: ${baseline.file} cannot be written (${(error as NodeJS.ErrnoException).code})`,
    )
  }
  const lines = update.difference.length > 0 ? update.difference : ['nothing changed']
  people.write(`${baseline.file} is updated:\n${lines.map((line) => `  ${line}\n`).join('')}`)
  const { baseline: updated } = update
  const held = holdAgainst(updated, report.requirements, report.run.tpe, now)
  return exitCode({ ...report, run: { ...report.run, baseline: held } })
}
