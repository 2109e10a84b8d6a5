import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { HeaderValue, KeyValue, TargetFile } from '../../harness/target/index.ts'
import {
  baseUrlProblem,
  loadTargetFile,
  normalBaseUrl,
  plainFile,
  resolveTarget,
} from '../../harness/target/index.ts'
import { UserError } from '../../harness/user-error.ts'

/** Stands if a recording shows no address at all; nothing is judged then. */
const nowhere = 'http://recording.invalid'

/**
 * The target that a recording is held against: a target file, a base URL, both, or the base URL that the recording shows; and
 * warnings, sentences for the user.
 * @param derive the base URL that the recording itself shows, used if none is given
 */
export async function recordedTarget(
  { target: path, baseUrl }: { readonly target?: string; readonly baseUrl?: string },
  derive: () => string | undefined,
) {
  const problem = baseUrl === undefined ? undefined : baseUrlProblem(baseUrl)
  if (problem !== undefined) throw new UserError(`--base-url: ${problem}`)
  const { file, dir } = await loadTargetFile(path)
  const address = baseUrl ?? file.baseUrl ?? derive() ?? nowhere
  const given = baseUrlProblem(address) === undefined ? normalBaseUrl(address) : address
  const normal = given.replace(/\/v1$/, '')
  const doubled =
    'the base URL ends in /v1, with which the paths of the interface begin already: it is taken without that'
  // Nothing is sent: of the keys only those matter that can be in the recording, and that are read without asking anybody.
  const atHand = plainFile(file, (value) =>
    isAtHand(value, dir) ? value : undefined,
  ) as TargetFile
  const { target, warnings } = await resolveTarget(atHand, {
    ...{ dir, source: path, baseUrl: normal },
    env: environment(),
  })
  const unknown = { name: file.name ?? 'recording', baseUrl: '' }
  return {
    target: address === nowhere ? { ...target, ...unknown } : target,
    warnings: normal === given ? warnings : [doubled, ...warnings],
  }
}

function isAtHand(value: KeyValue | HeaderValue, dir: string): boolean {
  if (typeof value === 'string') return true
  if (typeof value === 'function' || 'command' in value) return false
  return 'env' in value || existsSync(resolve(dir, value.file))
}

/** The environment; what a variable that is not set would have given is never sent, so that any value will do. */
function environment(): Readonly<Record<string, string | undefined>> {
  const unset = `unset-${randomUUID()}`
  return new Proxy(process.env, {
    get: (env, name) => (typeof name === 'string' && env[name]) || unset,
  })
}
