import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'

/** Loaded into the process that is measured: tells its peak memory and its processor time on descriptor 3 when it ends. */
const probe = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from 'node:fs'
process.on('exit', () => { const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  writeSync(3, JSON.stringify({ memoryMb: maxRSS / 1024, cpuMs: (userCPUTime + systemCPUTime) / 1000 })) })`,
)}`

/** One process, from its start to its end, its threads included. */
export interface Measured {
  readonly wallMs: number
  readonly cpuMs: number
  /** Peak of the resident memory. */
  readonly memoryMb: number
  readonly stdout: string
}

export interface Measuring {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Runs `node <args>` and measures the whole process. */
export async function measureProcess(args: readonly string[], measuring: Measuring = {}): Promise<Measured> {
  const { cwd = tmpdir(), env = process.env } = measuring
  const started = performance.now()
  const child = spawn(process.execPath, ['--import', probe, ...args], {
    cwd,
    env: { ...env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  })
  let usage = ''
  let stdout = ''
  child.stdio[3]?.on('data', (piece: Buffer) => (usage += piece.toString()))
  child.stdout?.on('data', (piece: Buffer) => (stdout += piece.toString()))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  const wallMs = performance.now() - started
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${String(code)}:\n${stdout.slice(-2000)}`)
  const { cpuMs, memoryMb } = JSON.parse(usage) as Pick<Measured, 'cpuMs' | 'memoryMb'>
  return { wallMs, cpuMs, memoryMb, stdout }
}
