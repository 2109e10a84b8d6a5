import { execFile, type ExecFileException } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type OperationId, operations } from '../../catalogue/operations.ts'
import { foreignMs, waitForForeign } from '../foreign-code.ts'
import { isAuthorization, isSecretName, printed } from '../recording/index.ts'
import { foreignWords, redacted, Redactor, shortestKey } from '../recording/index.ts'
import { Unjudgeable, UserError, whyUnreadable } from '../user-error.ts'
import { isKeyPerOperation } from './declared.ts'
import { keyProblem } from './http-values.ts'
import type { KeySource, KeySources, Secret, Target, TargetFile } from './model.ts'
import type { FromCommand, HeaderValue, KeyFunction, KeyValue } from './target-file.ts'

export type Environment = Readonly<Record<string, string | undefined>>

interface Surroundings {
  readonly dir: string
  readonly source?: string | undefined
  readonly env: Environment
  readonly baseUrl: string
}

/** Inputs of reading a target file, and side results. */
export type Context = ReturnType<typeof newContext>

export const newContext = (surroundings: Surroundings) => ({
  ...surroundings,
  problems: [] as string[],
  secrets: [] as Secret[],
  /** Header values from the environment: also hidden, unless the file itself shows them. */
  hidden: [] as Secret[],
  warnings: [] as string[],
  /** Commands and functions that provide keys, called before the run. */
  asked: [] as (() => Promise<string>)[],
})

export function refuse(context: Context, sentence: string): void {
  context.problems.push(placed(context, sentence))
}

export function placed({ source }: Pick<Context, 'source'>, member: string): string {
  return source === undefined ? member : `${source}: ${member}`
}

/** Labels of keys without an environment variable. */
export const labels = {
  full: '$CONFORM_API_KEY',
  expired: '$CONFORM_KEY_EXPIRED',
  restricted: '$CONFORM_KEY_RESTRICTED',
  other: redacted,
} as const

function note(
  context: Pick<Context, 'secrets' | 'warnings'>,
  member: string,
  value: string,
  label: string,
): void {
  context.secrets.push({ value, label })
  printed.add(value, label)
  if (value.length < shortestKey)
    context.warnings.push(
      `${member} is shorter than ${shortestKey} characters: reports can only hide it where it appears alone`,
    )
}

/** The value of an environment variable that `member` names, if set. */
export function readEnv(context: Context, name: string, member: string): string | undefined {
  const value = context.env[name]
  if (value) return value
  const state = value === undefined ? 'not set' : 'empty'
  refuse(context, `${member}: the environment variable ${name} is ${state}`)
  return undefined
}

export function readNamedFile(context: Context, path: string, member: string): Buffer | undefined {
  try {
    return readFileSync(resolve(context.dir, path))
  } catch (error) {
    refuse(context, `${member}: ${path} ${whyUnreadable(error)}`)
    return undefined
  }
}

export function redactorFor({ secrets, kept }: Pick<Target, 'secrets' | 'kept'>): Redactor {
  const redactor = new Redactor()
  for (const { value, label } of secrets) redactor.add(value, label)
  for (const text of kept) redactor.keep(text)
  return redactor
}

/** Notes the secret part of a header or query member, by its name or because it comes from the environment. */
export function noteHeader(
  context: Context,
  member: string,
  { name, value }: { readonly name: string; readonly value: string },
  declared: HeaderValue,
): void {
  const variable = typeof declared === 'object' ? declared.env : undefined
  const label = variable === undefined ? labels.other : `$${variable}`
  const place = placed(context, member)
  if (isAuthorization(name)) {
    // The credentials after the scheme.
    const [, credentials] = /^\S+ (.+)$/.exec(value) ?? []
    const behind = variable === undefined ? label : `\${${variable}#* }`
    note(context, place, credentials ?? value, credentials === undefined ? label : behind)
  } else if (isSecretName(name)) {
    note(context, place, value, label)
  } else if (variable !== undefined) context.hidden.push({ value, label })
}

export function keysOf(context: Context, { keys = {} }: TargetFile, given?: string): KeySources {
  const full = fullKey(context, keys.full, given)
  const { expired, restricted } = keys
  return {
    ...(full && { full }),
    ...(expired !== undefined && {
      expired: keyOf(context, 'keys.expired', expired, labels.expired),
    }),
    restricted: restricted === undefined ? {} : restrictedKeys(context, restricted),
  }
}

function fullKey(context: Context, declared?: KeyValue, given?: string): KeySource | undefined {
  const unnamed = { ...context, source: undefined }
  if (given !== undefined) {
    const full = fixedKey(unnamed, 'the key on the command line', given, labels.full)
    // Unused, but still secret.
    if (typeof declared === 'string')
      note(context, placed(context, 'keys.full'), declared, labels.other)
    return full
  }
  if (declared !== undefined) return keyOf(context, 'keys.full', declared, labels.full)
  const variable = 'CONFORM_API_KEY'
  const fromEnv = context.env[variable] ?? ''
  if (fromEnv === '') return undefined
  return fixedKey(unnamed, `the environment variable ${variable}`, fromEnv, labels.full)
}

function restrictedKeys(
  context: Context,
  declared: NonNullable<NonNullable<TargetFile['keys']>['restricted']>,
): KeySources['restricted'] {
  const read = (value: KeyValue, member: string): KeySource =>
    keyOf(context, member, value, labels.restricted)
  if (isKeyPerOperation(declared)) {
    const each = Object.entries(declared) as [OperationId, KeyValue][]
    return Object.fromEntries(each.map(([id, key]) => [id, read(key, `keys.restricted.${id}`)]))
  }
  const key = read(declared, 'keys.restricted')
  return Object.fromEntries(operations.map(({ id }) => [id, key]))
}

/** Reads a key; one from a command or function is known when it is first needed. */
export function keyOf(context: Context, member: string, value: KeyValue, label: string): KeySource {
  if (typeof value === 'string') return fixedKey(context, member, value, label)
  if (typeof value === 'object' && 'env' in value) {
    const from = `${member} (from the environment variable ${value.env})`
    return fixedKey(context, from, readEnv(context, value.env, member), `$${value.env}`)
  }
  if (typeof value === 'object' && 'file' in value) {
    const text = readNamedFile(context, value.file, member)?.toString('utf8')
    const from = `${member} (from the file ${value.file})`
    return fixedKey(context, from, text?.replace(/\r?\n$/, ''), label)
  }
  const ask = askedKey(context, member, value, label)
  context.asked.push(ask)
  return { label, ask }
}

/** @param value undefined if missing, which was already reported */
function fixedKey(
  context: Context,
  from: string,
  value: string | undefined,
  label: string,
): KeySource {
  if (value === undefined) return { label, value: '' }
  const problem = keyProblem(value)
  if (problem === undefined) note(context, placed(context, from), value, label)
  else refuse(context, `${from} ${problem}`)
  return { label, value }
}

const functionTtlMs = 60_000

/** Gets a key from a command or function and caches it; each one is registered before use. */
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
    const what = isFunction ? 'function' : 'command'
    if (problem !== undefined)
      throw new UserError(`${place}: the key that the ${what} gives ${problem}`)
    note(context, member, value, label)
    return value
  }
  let askedAt = 0
  let known: Promise<string> | undefined
  return () => {
    if (known && performance.now() - askedAt < ttlMs) return known
    askedAt = performance.now()
    const response = ask()
    known = response
    response.catch(() => {
      if (known === response) known = undefined
    })
    return response
  }
}

async function callFunction(place: string, source: KeyFunction): Promise<string> {
  const what = `${place}: the function that gives the key`
  let value: unknown
  try {
    const answer = Promise.resolve(source())
    value = await waitForForeign(answer, `${what} never answers`, { keepsAlive: true })
  } catch (error) {
    if (error instanceof Unjudgeable) throw error
    throw new UserError(`${what} threw ${foreignWords(error)}`)
  }
  if (typeof value !== 'string') throw new UserError(`${what} must return a string`)
  return value
}

function runCommand(place: string, command: readonly string[], cwd: string): Promise<string> {
  const [program = '', ...args] = command
  const options = { cwd, timeout: foreignMs, windowsHide: true }
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout.trim())
      const lastLine = foreignWords(stderr.trim().split('\n').at(-1))
      const why = lastLine === '' ? failure(error) : `${failure(error)}: ${lastLine}`
      reject(new UserError(`${place}: the command "${program}" ${why}`))
    })
  })
}

function failure(error: ExecFileException): string {
  const { code, killed } = error
  if (killed) return `took longer than ${foreignMs / 1000} s`
  if (code === 'ENOENT') return 'was not found'
  return typeof code === 'number' ? `failed with exit code ${code}` : `failed (${code ?? 'signal'})`
}
