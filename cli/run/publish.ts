import type { EndCause } from '../../harness/client/index.ts'
import { complain, type People } from '../../library/output/say.ts'
import {
  type Baseline,
  type Report,
  decided,
  holdAgainst,
  updateBaseline,
  withProblems,
} from '../../harness/report/index.ts'
import { reportToGithub } from '../../reporters/github.ts'
import { keptExchanges, finish } from '../../library/output/write-reports.ts'
import type { StartedServer } from './start-server.ts'
import { followed, writeAtomically, type ReportRequest } from '../../library/output/files.ts'
import { unwritable } from '../../harness/user-error.ts'
import type { RunArguments } from './arguments.ts'
import { reportOf, type RunRecord, whyNotJudged } from '../../suites/run-report.ts'

interface Publication {
  readonly options: RunArguments
  readonly requests: readonly ReportRequest[]
  readonly people: People
  readonly baseline: Baseline | undefined
  readonly server: StartedServer | undefined
  readonly isEmbedded: boolean
}

export async function publish(record: RunRecord, publication: Publication): Promise<Report> {
  const { isEmbedded, options, people, requests, server } = publication
  const notes = notesOf(record)
  const problems: string[] = []
  const held = await heldAgainst(reportOf(record), publication, { notes, problems })
  if (isEmbedded)
    notes.push('This run judged the embedded reference server. Judge yours: conform <base_url>')
  const { requireExercised = false } = options
  const report = decided(held, { requireExercised, notJudged: whyNotJudged(record) })
  notes.push(...(server?.notes(report) ?? []))
  try {
    reportToGithub(withProblems(report, problems), process.env)
  } catch (error) {
    problems.push(
      `the job summary cannot be written (${(error as NodeJS.ErrnoException).code ?? 'error'})`,
    )
  }
  for (const problem of problems) complain(problem)
  const problem = record.facts.recordingProblem
  if (problem !== undefined)
    notes.push(
      `the exchanges could not be stored (${problem}): no HAR is written, and HTML shows those of failures only`,
    )
  return finish(withProblems(report, problems), {
    ...keptExchanges(record.options.exchangeLog, problem, requests),
    ...{ people, notes, isVerbose: options.verbose ?? false },
  })
}

/**
 * Applies the baseline, or its rewritten version, to the report.
 * @param messages receives what to print
 */
async function heldAgainst(
  whole: Report,
  publication: Publication,
  one: { readonly notes: string[]; readonly problems: string[] },
): Promise<Report> {
  if (!publication.baseline) return whole
  const now = new Date()
  const { run, requirements } = whole
  const by = (held: Baseline): Report => ({
    ...whole,
    run: { ...run, baseline: holdAgainst(held, requirements, now) },
  })
  if (!publication.options.updateBaseline) return by(publication.baseline)
  if (whole.verdict === 'not-judged' || run.interrupted) {
    one.notes.push(
      `${publication.baseline.file} was not changed: the run judged nothing, or not everything`,
    )
    return by(publication.baseline)
  }
  const { baseline: updated, difference, text } = updateBaseline(publication.baseline, whole, now)
  try {
    await writeAtomically(followed(publication.baseline.file), text)
  } catch (error) {
    one.problems.push(unwritable(`--update-baseline ${publication.baseline.file}`, error).message)
    return by(publication.baseline)
  }
  const lines = difference.length > 0 ? difference : ['nothing changed']
  one.notes.push(`${publication.baseline.file} is updated:`, ...lines.map((line) => `  ${line}`))
  return by(updated)
}

const told: readonly EndCause[] = ['interrupted', 'bail', 'unreachable', 'setup', 'lost']

function notesOf(record: RunRecord): string[] {
  const { ended, jobsInProgress } = record.facts
  return [
    ...(ended && !told.includes(ended.cause) ? [ended.reason] : []),
    ...(jobsInProgress.length > 0
      ? [`jobs still running when the run ended: ${jobsInProgress.join(', ')}`]
      : []),
  ]
}
