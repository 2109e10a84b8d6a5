import { appendFileSync, statSync } from 'node:fs'
import { count, decisive, type Report, type RequirementResult } from '../harness/report/index.ts'
import { renderMarkdown } from './markdown.ts'
import { evidenceText, testStatuses } from './view/evidence.ts'
import { failuresOf } from './view/causes.ts'
import { runErrors } from './view/standing.ts'
import { visibleLines } from './escape.ts'

/** GitHub shows ten annotations of a kind per step, and accepts 1 MiB of summary. */
const MOST_ANNOTATIONS = 10
const SUMMARY_LIMIT = 1024 * 1024

type Environment = Readonly<Record<string, string | undefined>>

/**
 * On GitHub Actions: an annotation for each failure that no baseline expects (a warning if it does not decide), and
 * the report in the job's summary. Elsewhere nothing. Throws what the file system throws if the summary cannot be written.
 * @param write takes the annotations, one line or several, each ended by a line feed
 */
export function reportToGithub(
  report: Report,
  env: Environment,
  { write }: { write(text: string): void },
): void {
  if (env.GITHUB_ACTIONS !== 'true') return
  write(githubAnnotations(report))
  if (env.GITHUB_STEP_SUMMARY) {
    const room = SUMMARY_LIMIT - sizeOf(env.GITHUB_STEP_SUMMARY)
    appendFileSync(env.GITHUB_STEP_SUMMARY, githubSummary(report, room))
  }
}

/** The annotations as workflow commands, one per line; the last gives the number of omitted failures. */
export function githubAnnotations(report: Report): string {
  const errors = runErrors(report).map((error) => `::error title=conform::${commandData(error)}\n`)
  const decides = new Set(decisive(report))
  const missed = [...decides].filter(({ outcome }) => outcome !== 'failed')
  const failures = failuresOf(report).unexpected.map((result) =>
    annotation(result, decides.has(result)),
  )
  const all = [...errors, ...failures, ...missed.map((result) => missing(report, result))]
  const more = all.length - MOST_ANNOTATIONS
  const rest =
    more > 0
      ? [`::notice title=conform::${count(more, 'more failure')}: see the summary or the reports\n`]
      : []
  return [...all.slice(0, MOST_ANNOTATIONS), ...rest].join('')
}

function annotation(result: RequirementResult, decides: boolean): string {
  const kind = decides ? 'error' : 'warning'
  const text = [result.statement, ...result.failures.slice(0, 1).map(evidenceText)].join('\n')
  return `::${kind} title=${commandProperty(result.id)}::${commandData(text)}\n`
}

function missing(report: Report, result: RequirementResult): string {
  const { message = '' } = testStatuses(report)(result)
  return `::error title=${commandProperty(result.id)}::${commandData(message)}\n`
}

/** The Markdown report in at most that many bytes, with less evidence if necessary. */
export function githubSummary(report: Report, limit: number): string {
  const least = `The report is too large for this summary: the verdict is ${report.verdict}.\n`
  for (const evidence of [25, 5, 0]) {
    const text = `${renderMarkdown(report, evidence)}\n`
    if (Buffer.byteLength(text) <= limit) return text
  }
  return Buffer.byteLength(least) <= limit ? least : ''
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

export function commandData(text: string): string {
  return visibleLines(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** Escapes a property of such a command, where a colon or comma ends it. */
export function commandProperty(text: string): string {
  return commandData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
