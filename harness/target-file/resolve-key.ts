import { execFile } from 'node:child_process'
import { foreignMs, waitForForeign } from '../foreign-code.ts'
import { Unjudgeable, UserError, whyUnreadable } from '../user-error.ts'
import { keyProblem } from './http-values.ts'
import type { FromCommand, KeyFunction } from './target-file.ts'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { printed, redacted, Redactor, shortestKey } from '../recording/index.ts'
import type { Secret, KeySource, Target, KeySources, KeyValue, TargetFile } from './model.ts'
import { operations, type OperationId } from '../../catalogue/operations.ts'
import { isKeyPerOperation } from './declared.ts'

/** A function is asked again when its answer is older than this, in ms. */
const functionTtlMs = 60_000
/** Asks for the key that a command or a function gives, and remembers it while it is fresh; each one is noted before anybody uses it. */
export function askedKey(
  context: Pick<Context, 'dir' | 'source' | 'secrets' | 'warnings'>,
  member: string,
  source: FromCommand | KeyFunction,
  label: string,
): () => Promise<string> {
  const place = placed(context, member)
  const isFunction = typeof source === 'function'
  const ttlMs = isFunction ? functionTtlMs : (source.ttlSeconds ?? Infinity) * 1000
  const ask = async (): Promise<string> => {
    const value = await (isFunction
      ? callFunction(place, source)
      : runCommand(place, source.command, context.dir))
    const problem = keyProblem(value)
    if (problem !== undefined)
      throw new UserError(
        `${place}: the key that the ${isFunction ? 'function' : 'command'} gives ${problem}`,
      )
    note(context, member, { value, label })
    return value
  }
  let askedAt = 0
  let known: Promise<string> | undefined
  return () => {
    if (known && performance.now() - askedAt < ttlMs) return known
    askedAt = performance.now()
    const response = ask()
    known = response
    // A failed answer is not remembered: the next request asks again.
    response.catch(() => {
      if (known === response) known = undefined
    })
    return response
  }
}

async function callFunction(path: string, source: KeyFunction): Promise<string> {
  let value: unknown
  try {
    value = await waitForForeign(
      Promise.resolve(source()),
      `${path}: the function that gives the key never answers`,
      { keepsAlive: true },
    )
  } catch (error) {
    if (error instanceof Unjudgeable) throw error
    // The error may hold the key.
    throw new UserError(`${path}: the function that gives the key threw an error`)
  }
  if (typeof value !== 'string')
    throw new UserError(`${path}: the function that gives the key must return a string`)
  return value
}

/** Runs the program without a shell; what it prints is never part of an error. */
function runCommand(
  path: string,
  [program = '', ...args]: readonly string[],
  cwd: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd, timeout: foreignMs, windowsHide: true }, (error, stdout) => {
      if (error) reject(new UserError(`${path}: the command "${program}" ${failure(error)}`))
      else resolve(stdout.trim())
    })
  })
}

function failure(error: Error & { code?: unknown; killed?: boolean | undefined }): string {
  if (error.killed) return `took longer than ${foreignMs / 1000} s`
  if (error.code === 'ENOENT') return 'was not found'
  return typeof error.code === 'number'
    ? `failed with exit code ${error.code}`
    : `failed (${typeof error.code === 'string' ? error.code : 'signal'})`
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The context in which the parts of a target file are resolved, and the secrets among them noted. */
export interface Context {
  readonly dir: string
  /** How the file is called in a message; absent if it needs no name. */
  readonly source?: string | undefined
  readonly env: Environment
  /** In normal form. */
  readonly baseUrl: string
  readonly secrets: Secret[]
  /** Header values of environment variables: hidden as well, if the file itself does not show them. */
  readonly hidden: Secret[]
  readonly warnings: string[]
}

/** The member as a message names it: with the file that has it. */
export function placed({ source }: Pick<Context, 'source'>, member: string): string {
  return source === undefined ? member : `${source}: ${member}`
}

/** Notes a secret that `member` holds. */
export function note(
  { secrets, warnings }: Pick<Context, 'secrets' | 'warnings'>,
  member: string,
  secret: Secret,
): void {
  secrets.push(secret)
  printed.add(secret.value, secret.label)
  if (secret.value.length >= shortestKey) return
  warnings.push(
    `${member} is shorter than ${shortestKey} characters: reports can hide it only where it stands alone`,
  )
}

/** The value of an environment variable that `place` names; throws a `UserError` if it is not set or empty. */
export function readEnv({ env }: Pick<Context, 'env'>, name: string, place: string): string {
  const value = env[name]
  if (value === undefined)
    throw new UserError(`${place}: the environment variable ${name} is not set`)
  if (value === '') throw new UserError(`${place}: the environment variable ${name} is empty`)
  return value
}

/** The bytes of a file that `place` names, relative to the folder. */
export async function readNamedFile(dir: string, path: string, place: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await readFile(resolve(dir, path)))
  } catch (error) {
    throw new UserError(`${place}: ${path} ${whyUnreadable(error)}`)
  }
}

export async function readNamedText(dir: string, path: string, place: string): Promise<string> {
  return Buffer.from(await readNamedFile(dir, path, place)).toString('utf8')
}

/** A redactor that knows every secret of the target, and what of its file may be shown. */
export function redactorFor({ secrets, kept }: Pick<Target, 'secrets' | 'kept'>): Redactor {
  const redactor = new Redactor()
  for (const { value, label } of secrets) redactor.add(value, label)
  for (const text of kept) redactor.keep(text)
  return redactor
}

/** How a key is written in its place, if no environment variable has it already. */
export const labels = {
  full: '$CONFORM_API_KEY',
  expired: '$CONFORM_KEY_EXPIRED',
  restricted: '$CONFORM_KEY_RESTRICTED',
  other: redacted,
} as const

/** Reads a key, or asks its command or function for the first time; whatever it is becomes a secret. */
export async function resolveKey(
  context: Context,
  member: string,
  value: KeyValue,
  label: string,
): Promise<KeySource> {
  const place = placed(context, member)
  if (typeof value === 'string') return fixedKey(context, place, value, label)
  if (typeof value === 'object' && 'env' in value) {
    const from = `${place} (from the environment variable ${value.env})`
    return fixedKey(context, from, readEnv(context, value.env, place), `$${value.env}`)
  }
  if (typeof value === 'object' && 'file' in value) {
    const text = await readNamedText(context.dir, value.file, place)
    return fixedKey(
      context,
      `${place} (from the file ${value.file})`,
      text.replace(/\r?\n$/, ''),
      label,
    )
  }
  const ask = askedKey(context, member, value, label)
  await ask()
  return { label, ask }
}

function fixedKey(context: Context, from: string, value: string, label: string): KeySource {
  const problem = keyProblem(value)
  if (problem !== undefined) throw new UserError(`${from} ${problem}`)
  note(context, from, { value, label })
  return { label, value }
}

/** The keys of a run. The full one: `-k`, else `keys.full`, else `CONFORM_API_KEY`, else none. */
export async function resolveKeys(
  context: Context,
  { keys = {} }: TargetFile,
  given?: string,
): Promise<KeySources> {
  const full = await resolveFull(context, keys.full, given)
  const { expired } = keys
  return {
    ...(full && { full }),
    ...(expired !== undefined && {
      expired: await resolveKey(context, 'keys.expired', expired, labels.expired),
    }),
    restricted: await resolveRestricted(context, keys.restricted),
  }
}

async function resolveFull(
  context: Context,
  declared: KeyValue | undefined,
  given?: string,
): Promise<KeySource | undefined> {
  if (given !== undefined) {
    const full = fixedKey(context, 'the key on the command line', given, labels.full)
    // Not used, but still a secret.
    if (typeof declared === 'string')
      note(context, placed(context, 'keys.full'), { value: declared, label: labels.other })
    return full
  }
  if (declared !== undefined) return resolveKey(context, 'keys.full', declared, labels.full)
  const fromEnv = context.env['CONFORM_API_KEY'] ?? ''
  return fromEnv === ''
    ? undefined
    : fixedKey(context, 'the environment variable CONFORM_API_KEY', fromEnv, labels.full)
}

async function resolveRestricted(
  context: Context,
  declared: NonNullable<TargetFile['keys']>['restricted'],
): Promise<Partial<Record<OperationId, KeySource>>> {
  if (declared === undefined) return {}
  if (!isKeyPerOperation(declared)) {
    const key = await resolveKey(context, 'keys.restricted', declared, labels.restricted)
    return Object.fromEntries(operations.map(({ id }) => [id, key]))
  }
  const resolved: Partial<Record<OperationId, KeySource>> = {}
  for (const [id, value] of Object.entries(declared) as [OperationId, KeyValue][]) {
    resolved[id] = await resolveKey(context, `keys.restricted.${id}`, value, labels.restricted)
  }
  return resolved
}
