import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Report } from '../../schemas/report.ts'

/** By name: ms, MB, requests. */
export type Figures = Readonly<Record<string, number>>

export interface Side {
  readonly name: string
  /** How often it is measured in each turn: what is short is soon disturbed. */
  readonly times?: number
  measure(): Promise<Figures>
}

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const bin = file('cli/bin/conform.js')
const part = file('tests/bench/part.js')
const declared = JSON.parse(readFileSync(file('fixtures/reference.target.json'), 'utf8')) as {
  keys: { full: string }
}

/** Loaded into the process that is measured: tells its peak memory and its processor time on descriptor 3 when it ends. */
const probe = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from 'node:fs'
process.on('exit', () => { const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  writeSync(3, JSON.stringify({ memoryMb: maxRSS / 1024, cpuMs: (userCPUTime + systemCPUTime) / 1000 })) })`,
)}`

/** Runs `node <args>` and measures the whole process, its threads included; throws if it fails. */
async function measureProcess(cwd: string, args: readonly string[]): Promise<Figures> {
  const started = performance.now()
  const env = { ...process.env, NO_COLOR: '1' }
  const child = spawn(process.execPath, ['--import', probe, ...args], {
    ...{ cwd, env },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  })
  let said = ''
  let usage = ''
  child.stdout?.on('data', (piece: Buffer) => (said += piece.toString()))
  child.stdio[3]?.on('data', (piece: Buffer) => (usage += piece.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  const wallMs = performance.now() - started
  if (code !== 0)
    throw new Error(`node ${args.join(' ')} ended with ${String(code)}:\n${said.slice(-2000)}`)
  return { wallMs, ...(JSON.parse(usage) as Figures) }
}

async function measureRun(folder: string, args: readonly string[] = []): Promise<Figures> {
  const path = join(folder, 'report.json')
  const always = [bin, '--seed', '1', '--report', `json=${path}`]
  const measured = await measureProcess(folder, [...always, ...args])
  const { run } = JSON.parse(readFileSync(path, 'utf8')) as Report
  return { ...measured, requests: run.requests }
}

/** Calls with the URL of a process that serves, which is the first line that it writes, and ends it afterwards. */
async function withServer<T>(
  args: readonly string[],
  use: (url: string) => Promise<T>,
): Promise<T> {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  for await (const line of createInterface(child.stdout)) {
    try {
      return await use(line.startsWith('{') ? (JSON.parse(line) as { url: string }).url : line)
    } finally {
      child.kill('SIGTERM')
      await ended
    }
  }
  throw new Error(`node ${args.join(' ')} ended before it served`)
}

const withReference = <T>(options: object, use: (url: string) => Promise<T>): Promise<T> =>
  withServer([part, 'reference', JSON.stringify(options)], use)

/** Judges a reference server in another process. */
const measureExternal = (
  folder: string,
  options: object,
  args: readonly string[] = [],
): Promise<Figures> =>
  withReference(options, (url) => {
    const path = join(folder, 'bench.target.json')
    writeFileSync(path, JSON.stringify({ ...declared, $schema: undefined, baseUrl: url }))
    return measureRun(folder, ['--target', path, ...args])
  })

async function measureUndici(folder: string): Promise<Figures> {
  const har = join(folder, 'requests.har')
  if (!existsSync(har)) await measureExternal(folder, {}, ['--report', `har=${har}`])
  return withReference({}, (url) =>
    measureProcess(folder, [part, 'undici', har, url, declared.keys.full]),
  )
}

const latency = 20
const concurrency = 16

/** A target that is far away; also with so many requests at once that only what must wait for something waits. */
async function measureFar(folder: string): Promise<Figures> {
  const judge = (atOnce: number) =>
    measureExternal(folder, { latency }, ['--concurrency', String(atOnce)])
  const measured = await judge(concurrency)
  const shortest = await judge(256)
  return {
    ...measured,
    idealMs: Math.max((latency * measured.requests!) / concurrency, shortest.wallMs!),
  }
}

const far = `${latency} ms away, --concurrency ${concurrency}`
const bare = 'bare undici, the same requests'
const oneRefusal = ['--only', 'completion.create/400-empty-prompt']

export function allSides(folder: string): Side[] {
  const start = (name: string, args: readonly string[]): Side => ({
    ...{ name, times: 5 },
    measure: () => measureProcess(folder, args),
  })
  return [
    start('node alone', ['--eval', '0']),
    start('--version', [bin, '--version']),
    start('list', [bin, 'list']),
    { name: '--only one refusal', times: 3, measure: () => measureRun(folder, oneRefusal) },
    { name: 'embedded', measure: () => measureRun(folder) },
    { name: 'external', measure: () => measureExternal(folder, {}) },
    { name: bare, times: 3, measure: () => measureUndici(folder) },
    { name: far, measure: () => measureFar(folder) },
  ]
}

type Halves = [overSide: string, overFigure: string, underSide: string, underFigure: string]

/** A machine that is slow or busy changes both halves alike. */
export const ratios: Readonly<Record<string, Halves>> = {
  'external / bare undici, processor time': ['external', 'cpuMs', bare, 'cpuMs'],
  'embedded / external, processor time': ['embedded', 'cpuMs', 'external', 'cpuMs'],
  'embedded / node alone, memory': ['embedded', 'memoryMb', 'node alone', 'memoryMb'],
  '--version / node alone, processor time': ['--version', 'cpuMs', 'node alone', 'cpuMs'],
  'list / node alone, processor time': ['list', 'cpuMs', 'node alone', 'cpuMs'],
  '--only one / embedded, processor time': ['--only one refusal', 'cpuMs', 'embedded', 'cpuMs'],
  '20 ms away / ideal, time': [far, 'wallMs', far, 'idealMs'],
}
