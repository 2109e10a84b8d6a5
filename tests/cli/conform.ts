import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, onTestFinished, TestRunner } from 'vitest'
import reference from '../../fixtures/reference.target.json' with { type: 'json' }
import type { Report, RequirementResult } from '../../schemas/report.ts'

export const bin = fileURLToPath(new URL('../../cli/bin/conform.js', import.meta.url))

export type TargetData = Record<string, any>

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  readonly ms: number
}

export interface Settings {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly bin?: string
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  readonly firstLine: Promise<string>
  /** Settles when stderr holds that text. */
  says(text: string): Promise<void>
}

/** A folder of a test's own, or of its file; it is gone when that is over. */
export function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'conform-test-'))
  const atEnd = TestRunner.getCurrentTest() ? onTestFinished : afterAll
  atEnd(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Not the cache of the person who runs the tests. */
const caches = join(tmpdir(), 'conform-test-caches')

/** An environment without keys, colours, proxies and the marks of this test runner. */
export function userEnvironment(given: Settings['env'] = {}): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, XDG_CACHE_HOME: caches, NO_COLOR: '1', ...given }
}

/** The words of a command line: a text with blanks between them, or a list if one of them has blanks. */
export function wordsOf(args: string | readonly string[]): readonly string[] {
  return typeof args === 'string' ? args.split(/\s+/).filter(Boolean) : args
}

/** Starts the compiled `conform` as a user does, in a process of its own. */
export function start(
  args: string | readonly string[],
  { env, cwd = tmpdir(), bin: file = bin }: Settings = {},
): Running {
  const began = performance.now()
  const child = spawn(process.execPath, [file, ...wordsOf(args)], {
    cwd,
    env: userEnvironment(env),
  })
  let stdout = ''
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (stderr += piece))
  const says = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void =>
        stderr.includes(text) ? resolve() : void child.stderr.once('data', look)
      look()
    })
  const firstLine = new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      stdout += piece
      const end = stdout.indexOf('\n')
      if (end >= 0) resolve(stdout.slice(0, end))
    })
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) =>
      resolve({ code, signal, stdout, stderr, ms: performance.now() - began }),
    )
  })
  return { child, ended, firstLine, says }
}

export const conformProcess = (...given: Parameters<typeof start>): Promise<Ended> =>
  start(...given).ended

/** Writes the reference's target file, changed, for the server at that URL. */
export function targetFile(
  dir: string,
  baseUrl: string,
  change: (target: TargetData) => void = () => undefined,
): string {
  const { $schema: _, ...target }: TargetData = { ...structuredClone(reference), baseUrl }
  change(target)
  const file = join(dir, 'target.json')
  writeFileSync(file, JSON.stringify(target))
  return file
}

export const referenceKey = reference.keys.full

export function readReport(dir: string, name = 'conform-report.json'): Report {
  return JSON.parse(readFileSync(join(dir, name), 'utf8')) as Report
}

export function row(report: Report, id: string): RequirementResult {
  const found = report.requirements.find((result) => result.id === id)
  if (!found) throw new Error(`${id} is not in the report`)
  return found
}

export function ids(report: Report, outcome: RequirementResult['outcome']): string[] {
  return report.requirements.filter((result) => result.outcome === outcome).map(({ id }) => id)
}
