import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Report } from '../../harness/report/index.ts'
import { writeAtomically } from '../../library/output/files.ts'
import { json } from '../../reporters/escape.ts'

/** The target named by URL, file, or both; with neither, the embedded reference. */
export interface Named {
  readonly baseUrl: string | undefined
  readonly target?: string | undefined
}

/** Path of the last report of that target, in the user's cache folder. */
export function lastReportOf(one: Named): string {
  const named = JSON.stringify([
    one.baseUrl,
    one.target === undefined ? undefined : resolve(one.target),
  ])
  return join(keptIn(), `${createHash('sha256').update(named).digest('hex').slice(0, 32)}.json`)
}

function keptIn(): string {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env
  const usual = process.platform === 'darwin' ? 'Library/Caches' : '.cache'
  const windows = process.platform === 'win32' ? LOCALAPPDATA : undefined
  return join(XDG_CACHE_HOME || windows || join(homedir(), usual), 'ai-content-conformance')
}

/**
 * Keeps a report, which has no keys, for `--failed`. A report that judged nothing does not replace another; failing to
 * write it is ignored.
 */
export async function keepReport(report: Report, target: Named): Promise<void> {
  if (report.verdict === 'not-judged') return
  try {
    mkdirSync(keptIn(), { recursive: true, mode: 0o700 })
    await writeAtomically(lastReportOf(target), json(report))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
  }
}

/** The report of the last run of any target; undefined if none is kept. */
export function newestReport(): string | undefined {
  const folder = keptIn()
  const paths = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
  return paths
    .filter((path) => path.endsWith('.json'))
    .toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)[0]
}
