import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pc from 'picocolors'
import { loggedExchanges } from '../../cli/output/write-reports.ts'
import { reportOf } from '../../suites/run-report.ts'
import { decide } from '../../harness/report/exit-code.ts'
import type { Run } from '../../harness/engine/run.ts'
import { type FormatName, loadFormats } from '../../reporters/index.ts'
import { renderTerminal } from '../../reporters/terminal.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { type JudgeSettings, judgeUrl } from '../matrix/judge-reference.ts'
import { hostileKey } from './hostile-key.ts'

export interface Outcome {
  readonly report: Report
  readonly run: Run
  readonly code: 0 | 1 | 3
  /** Every report that `--report` can ask for, and what is printed for people. */
  readonly texts: Readonly<Record<FormatName | 'terminal', string>>
}

export interface HostileSettings extends JudgeSettings {
  /** With the keys of the reference in place of the one that is looked for in reports. */
  readonly ownKeys?: boolean
}

/** Judges a URL with the target file of the reference and another key, as the command line does, and renders everything. */
export async function judgeHostile(url: string, settings: HostileSettings = {}): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), 'conform-hostile-'))
  const exchangeLog = join(dir, 'exchanges.ndjson')
  const startedAt = new Date()
  const started = performance.now()
  try {
    const { results, facts, run } = await judgeUrl(url, {
      ...settings,
      options: { refusalRuns: 1, exchangeLog, ...settings.options },
      limits: { timeoutMs: 1000, jobTimeoutMs: 2000, ...settings.limits },
      change: (file) => {
        const own = settings.ownKeys ? file : { ...file, keys: { ...file.keys, full: hostileKey } }
        return settings.change?.(own) ?? own
      },
    })
    const report = reportOf({
      target: run.target,
      options: run.options,
      startedAt,
      durationMs: performance.now() - started,
      results: new Map(results.map((result) => [result.id, result])),
      facts,
    })
    const texts: Record<string, string> = {
      terminal: renderTerminal(report, pc.createColors(false)),
    }
    for (const [name, render] of Object.entries(await loadFormats())) {
      texts[name] = await joined(render(report, loggedExchanges(exchangeLog)))
    }
    const code = facts.ended?.cause === 'unreachable' ? 3 : decide(report).code
    return { report, run, code, texts: texts as Outcome['texts'] }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function joined(text: string | AsyncIterable<string>): Promise<string> {
  if (typeof text === 'string') return text
  let whole = ''
  for await (const piece of text) whole += piece
  return whole
}
