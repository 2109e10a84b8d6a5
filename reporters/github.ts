import { appendFileSync, statSync } from 'node:fs'
import type { Report } from '../harness/report/index.ts'
import { renderMarkdown } from './markdown.ts'

/** GitHub accepts 1 MiB of summary per step. */
const SUMMARY_LIMIT = 1024 * 1024

/** On GitHub Actions, adds the report to the summary of the job; elsewhere nothing. Throws file system errors. */
export function reportToGithub(
  report: Report,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const path = env.GITHUB_STEP_SUMMARY
  if (env.GITHUB_ACTIONS !== 'true' || !path) return
  const used = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  appendFileSync(path, githubSummary(report, SUMMARY_LIMIT - used))
}

/** The Markdown report in at most that many bytes, with less evidence if necessary. */
export function githubSummary(report: Report, limit: number): string {
  const fits = (text: string): boolean => Buffer.byteLength(text) <= limit
  for (const evidence of [25, 5, 0]) {
    const text = `${renderMarkdown(report, evidence)}\n`
    if (fits(text)) return text
  }
  const least = `The report is too large for this summary: the verdict is ${report.verdict}.\n`
  return fits(least) ? least : ''
}
