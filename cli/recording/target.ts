import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type HeaderValue,
  type KeyValue,
  type TargetFile,
  baseUrlProblem,
  loadTargetFile,
  plainFile,
  resolveTarget,
} from '../../harness/target/index.ts'
import { UserError } from '../../harness/user-error.ts'

const nowhere = 'http://recording.invalid'

/**
 * The target of a recording, from a target file, a base URL, both, or the recording itself; and warnings.
 * @param derive finds the base URL in the recording if none is given
 */
export async function recordedTarget(
  options: { readonly target?: string; readonly baseUrl?: string },
  derive: () => string | undefined,
) {
  const problem = options.baseUrl === undefined ? undefined : baseUrlProblem(options.baseUrl)
  if (problem !== undefined) throw new UserError(`--base-url: ${problem}`)
  const { file, dir } = await loadTargetFile(options.target)
  const address = options.baseUrl ?? file.baseUrl ?? derive() ?? nowhere
  // Nothing is sent, so only keys that can be in the recording matter, and only if they can be read without running
  // code.
  const atHand = plainFile(file, (value) =>
    isAtHand(value, dir) ? value : undefined,
  ) as TargetFile
  const { target, warnings } = await resolveTarget(atHand, {
    ...{ dir, source: options.target, baseUrl: address },
    env: environment(),
  })
  const unknown = { name: file.name ?? 'recording', baseUrl: '' }
  return {
    target: address === nowhere ? { ...target, ...unknown } : target,
    warnings,
  }
}

function isAtHand(value: KeyValue | HeaderValue, dir: string): boolean {
  if (typeof value === 'string') return true
  if (typeof value === 'function' || 'command' in value) return false
  return 'env' in value || existsSync(resolve(dir, value.file))
}

/** An environment in which every variable has a value: unset ones are never sent, so any value will do. */
function environment(): Readonly<Record<string, string | undefined>> {
  const unset = `unset-${randomUUID()}`
  return new Proxy(process.env, {
    get: (env, name) => (typeof name === 'string' && env[name]) || unset,
  })
}
