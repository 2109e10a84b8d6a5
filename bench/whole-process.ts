import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Report } from '../harness/report/model.ts'

const bin = fileURLToPath(new URL('../bin/conform.js', import.meta.url))
/** Loaded into the process that is measured: tells its peak memory and its processor time on descriptor 3 when it ends. */
const probe = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from 'node:fs'
process.on('exit', () => { const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  writeSync(3, JSON.stringify({ maxRssMiB: maxRSS / 1024, cpuMs: (userCPUTime + systemCPUTime) / 1000 })) })`,
)}`

/** One run of the command line, from its start to its end. */
export interface Measured {
  readonly wallMs: number
  readonly cpuMs: number
  readonly maxRssMiB: number
  readonly requests: number
  /** Duration of the judging alone, as the report tells it. */
  readonly judgingMs: number
}

/** Runs `conform` against the embedded reference and measures the whole process, its worker thread included. */
export async function measureRun(args: readonly string[]): Promise<Measured> {
  const dir = mkdtempSync(join(tmpdir(), 'conform-bench-'))
  const path = join(dir, 'report.json')
  try {
    const started = performance.now()
    const all = ['--import', probe, bin, '--seed', '1', '--report', `json=${path}`, ...args]
    const child = spawn(process.execPath, all, { cwd: dir, stdio: ['ignore', 'ignore', 'inherit', 'pipe'] })
    let told = ''
    child.stdio[3]?.on('data', (piece: Buffer) => (told += piece.toString()))
    const code = await new Promise((resolve) => child.on('close', resolve))
    const wallMs = performance.now() - started
    if (code !== 0) throw new Error(`conform ${args.join(' ')} ended with ${String(code)}`)
    const { run } = JSON.parse(readFileSync(path, 'utf8')) as Report
    const usage = JSON.parse(told) as Pick<Measured, 'cpuMs' | 'maxRssMiB'>
    return { wallMs, ...usage, requests: run.requests, judgingMs: run.durationMs }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
