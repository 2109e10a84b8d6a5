import { execFile, type ExecFileException } from 'node:child_process'
import { foreignMs, waitForForeign } from '../foreign-code.ts'
import { foreignWords, printed, redacted, Redactor, shortestKey } from '../recording/index.ts'
import { Unjudgeable, UserError } from '../user-error.ts'
import { keyProblem } from './http-values.ts'
import type { Secret, Target } from './model.ts'
import type { FromCommand, KeyFunction } from './target-file.ts'

export type Environment = Readonly<Record<string, string | undefined>>

interface Noted {
  readonly secrets: Secret[]
  readonly warnings: string[]
}

export const labels = {
  full: '$CONFORM_API_KEY',
  expired: '$CONFORM_KEY_EXPIRED',
  restricted: '$CONFORM_KEY_RESTRICTED',
  other: redacted,
} as const

export function note(noted: Noted, place: string, value: string, label: string): void {
  noted.secrets.push({ value, label })
  printed.add(value, label)
  if (value.length < shortestKey)
    noted.warnings.push(
      `${place} is shorter than ${shortestKey} characters: reports can only hide it where it appears alone`,
    )
}

export function redactorFor(target: Pick<Target, 'secrets' | 'kept'>): Redactor {
  const redactor = new Redactor()
  for (const { value, label } of target.secrets) redactor.add(value, label)
  for (const text of target.kept) redactor.keep(text)
  return redactor
}

const functionTtlMs = 60_000

/** Gets a key from a command or function and caches it; each one is registered before use. */
export function askedKey(
  context: Noted & { readonly dir: string; readonly source?: string | undefined },
  member: string,
  source: FromCommand | KeyFunction,
  label: string,
): () => Promise<string> {
  const place = context.source === undefined ? member : `${context.source}: ${member}`
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
