import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Report } from '../harness/report/model.ts'
import { type Measured, type Measuring, measureProcess } from './measure-process.ts'

export const file = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))
const bin = file('bin/conform.js')

/** A reference server of its own process. */
export interface Served {
  readonly url: string
  close(): void
}

/** @param options as `startReference` takes them */
export async function serve(options: object = {}): Promise<Served> {
  const child = spawn(process.execPath, [file('bench/reference.js'), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the reference server ended')))
  const [line] = await Promise.race([once(child.stdout, 'data') as Promise<[Buffer]>, ended])
  ended.catch(() => undefined)
  return { url: line.toString().trim(), close: () => child.stdin.end() }
}

/** Writes a target file that declares all that the reference has, at that address. */
export function targetAt(folder: string, name: string, url: string): string {
  const path = join(folder, `${name}.target.json`)
  const declared = JSON.parse(readFileSync(file('fixtures/reference.target.json'), 'utf8')) as object
  writeFileSync(path, JSON.stringify({ ...declared, $schema: undefined, baseUrl: url }))
  return path
}

/** A whole run of the command line. */
export interface MeasuredRun extends Measured {
  readonly report: Report
}

export function measureConform(args: readonly string[], measuring?: Measuring): Promise<Measured> {
  return measureProcess([bin, ...args], measuring)
}

/** Judges something; the seed is the same in all runs. */
export async function measureRun(
  folder: string,
  args: readonly string[],
  measuring: Measuring = {},
): Promise<MeasuredRun> {
  const path = join(folder, 'report.json')
  const measured = await measureConform(['--seed', '1', '--report', `json=${path}`, ...args], {
    ...measuring,
    cwd: folder,
  })
  return { ...measured, report: JSON.parse(readFileSync(path, 'utf8')) as Report }
}
