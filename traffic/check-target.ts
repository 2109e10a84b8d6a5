import { existsSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { baseUrlProblem, normalBaseUrl } from '../harness/target/base-url.ts'
import { loadTargetFile } from '../harness/target/load.ts'
import { mapKeys } from '../harness/target/map-keys.ts'
import type { HeaderValue, KeyValue, Target, TargetFile } from '../harness/target/model.ts'
import { resolveTarget } from '../harness/target/resolve.ts'
import { UserError } from '../harness/user-error.ts'

export interface CheckTargetOptions {
  readonly target?: string
  readonly baseUrl?: string
  /** The base URL that the recording itself shows, used if none is given. */
  readonly derive: () => string | undefined
}

export interface CheckTarget {
  readonly target: Target
  /** Sentences for the user. */
  readonly warnings: readonly string[]
}

/** Stands if a recording shows no address at all; nothing is judged then. */
const nowhere = 'http://recording.invalid'

/** The target that a recording is held against: a target file, a base URL, both, or the base URL that the recording shows. */
export async function checkTarget(options: CheckTargetOptions): Promise<CheckTarget> {
  const { target: path, baseUrl, derive } = options
  const problem = baseUrl === undefined ? undefined : baseUrlProblem(baseUrl)
  if (problem !== undefined) throw new UserError(`--base-url: ${problem}`)
  const { file, dir } = path === undefined ? { file: {} as TargetFile, dir: process.cwd() } : await loadTargetFile(path)
  const address = baseUrl ?? file.baseUrl ?? derive() ?? nowhere
  const from = { dir, source: path, env: setOrNot(), baseUrl: normal(address) }
  const { target, warnings } = await resolveTarget(withKeysAtHand(file, dir), from)
  const unknown = { name: file.name ?? 'recording', baseUrl: '' }
  return { target: address === nowhere ? { ...target, ...unknown } : target, warnings }
}

function normal(address: string): string {
  return baseUrlProblem(address) === undefined ? normalBaseUrl(address) : address
}

/**
 * Nothing is sent: of the keys only those matter that can be in the recording, and that are read without asking
 * anybody. Those stay as the file has them.
 */
function withKeysAtHand(file: TargetFile, dir: string): TargetFile {
  return mapKeys(file, (_, value) => (isAtHand(value, dir) ? (value as string) : undefined))
}

function isAtHand(value: KeyValue | HeaderValue, dir: string): boolean {
  if (typeof value === 'string') return true
  if (typeof value === 'function' || 'command' in value) return false
  return 'env' in value || existsSync(resolve(dir, value.file))
}

/** The environment; what a variable that is not set would have given is never sent, so that any value will do. */
function setOrNot(): Readonly<Record<string, string | undefined>> {
  const never = `unset-${randomUUID()}`
  return new Proxy(process.env, { get: (env, name) => (typeof name === 'string' && env[name]) || never })
}
