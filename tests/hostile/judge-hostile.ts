import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pc from 'picocolors'
import { loggedExchanges } from '../../library/output.ts'
import { decide } from '../../harness/report/verdict.ts'
import type { Prepared } from '../../harness/run/run.ts'
import type { TargetFile } from '../../harness/target/model.ts'
import { type FormatName, formats, type Render } from '../../reporters/index.ts'
import { renderTerminal } from '../../reporters/terminal.ts'
import { type Judged, type JudgeSettings, judgeUrl } from '../matrix/judge-reference.ts'

/** A key of the form that keys have, its own for these tests. */
export const hostileKey =
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJob3N0aWxlLXRlc3RzIiwibiI6MTczfQ.Zk7_qY2wLrV9-bXc3NfTgHsJ4mPdRuKa6EoWi8yB1tQ'

const withHostileKey = (file: TargetFile): TargetFile => ({
  ...file,
  keys: { ...file.keys, full: hostileKey },
})

export interface Outcome extends Pick<Judged, 'report' | 'failed' | 'passed' | 'of'> {
  readonly run: Prepared
  readonly code: 0 | 1 | 3
}

export interface HostileSettings extends JudgeSettings {
  /** With the keys of the reference in place of the one that is looked for in reports. */
  readonly ownKeys?: boolean
}

/** Judges a URL with the target file of the reference and another key, as the command line does. */
export async function judgeAsCommand(
  url: string,
  { ownKeys, change, ...settings }: HostileSettings = {},
): Promise<Outcome> {
  const judged = await judgeUrl(url, {
    ...settings,
    options: { refusalRuns: 1, ...settings.options },
    limits: { timeoutMs: 1000, jobTimeoutMs: 2000, ...settings.limits },
    change: ownKeys ? change : change ? (file) => change(withHostileKey(file)) : withHostileKey,
  })
  const { report, run, failed, passed, of, facts } = judged
  const code = facts.ended?.cause === 'unreachable' ? 3 : decide(report).code
  return { report, run, failed, passed, of, code }
}

/** Every report that `--report` can ask for, and what is printed for people. */
export interface Shown extends Outcome {
  readonly texts: Readonly<Record<FormatName | 'terminal', string>>
}

/** Judges a URL so, and renders everything. */
export async function judgeHostile(url: string, settings: HostileSettings = {}): Promise<Shown> {
  const dir = mkdtempSync(join(tmpdir(), 'conform-hostile-'))
  const exchangeLog = join(dir, 'exchanges.ndjson')
  try {
    const options = { ...settings.options, exchangeLog }
    const outcome = await judgeAsCommand(url, { ...settings, options })
    const texts: Record<string, string> = { terminal: terminalOf(outcome) }
    for (const [name, { load }] of Object.entries(formats)) {
      const render: Render = await load()
      texts[name] = await joined(render(outcome.report, loggedExchanges(exchangeLog)))
    }
    return { ...outcome, texts: texts as Shown['texts'] }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

export const terminalOf = ({ report }: Outcome): string =>
  renderTerminal(report, pc.createColors(false))

async function joined(text: string | AsyncIterable<string>): Promise<string> {
  if (typeof text === 'string') return text
  let whole = ''
  for await (const piece of text) whole += piece
  return whole
}
