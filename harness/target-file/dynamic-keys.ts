import { execFile } from 'node:child_process'
import { UserError } from '../user-error.ts'
import { keyProblem } from './headers.ts'
import type { FromCommand, KeyFunction } from './target-file.ts'

/** A function is asked again when its answer is older than this, in ms. */
const functionTtlMs = 60_000
/** Longest time that a command may take, in ms. */
const commandMs = 30_000

/** Keys that commands and functions give: asked by the path of their member, answered from memory while they are fresh. */
export interface DynamicKeys {
  /** Throws a `UserError` if the command or function gives no key. */
  read(path: string): Promise<string>
}

export interface DynamicKeyBook extends DynamicKeys {
  /** @param place how errors name the member; its path, if not given */
  add(path: string, source: FromCommand | KeyFunction, place?: string): void
}

interface Entry {
  readonly ask: () => Promise<string>
  readonly ttlMs: number
  askedAt: number
  response?: Promise<string>
}

/**
 * @param dir folder in which commands run
 * @param learned called with each value before anybody uses it
 */
export function createDynamicKeys(
  dir: string,
  learned: (path: string, value: string) => void,
  now: () => number = () => performance.now(),
): DynamicKeyBook {
  const entries = new Map<string, Entry>()
  const ask = async (source: FromCommand | KeyFunction, place: string): Promise<string> => {
    const value =
      typeof source === 'function' ? await callFunction(place, source) : await runCommand(place, source.command, dir)
    const problem = keyProblem(value)
    if (problem !== undefined) throw new UserError(`${place}: the key that the ${kindOf(source)} gives ${problem}`)
    return value
  }
  return {
    add(path, source, place = path) {
      const ttlMs = typeof source === 'function' ? functionTtlMs : (source.ttlSeconds ?? Infinity) * 1000
      const askAndLearn = async (): Promise<string> => {
        const value = await ask(source, place)
        learned(path, value)
        return value
      }
      entries.set(path, { ask: askAndLearn, ttlMs, askedAt: 0 })
    },
    async read(path) {
      const entry = entries.get(path)
      if (!entry) throw new Error(`no dynamic key ${path}`)
      if (entry.response === undefined || now() - entry.askedAt >= entry.ttlMs) {
        entry.askedAt = now()
        const response = entry.ask()
        entry.response = response
        // A failed answer is not remembered: the next request asks again.
        response.catch(() => {
          if (entry.response === response) delete entry.response
        })
      }
      return entry.response
    },
  }
}

function kindOf(source: FromCommand | KeyFunction): string {
  return typeof source === 'function' ? 'function' : 'command'
}

async function callFunction(path: string, source: KeyFunction): Promise<string> {
  let value: unknown
  try {
    value = await source()
  } catch {
    // What it threw may hold the key.
    throw new UserError(`${path}: the function that gives the key threw an error`)
  }
  if (typeof value !== 'string') throw new UserError(`${path}: the function that gives the key must return a string`)
  return value
}

/** Runs the program without a shell; what it prints is never part of an error. */
function runCommand(path: string, [program = '', ...args]: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd, timeout: commandMs, windowsHide: true }, (error, stdout) => {
      if (error) reject(new UserError(`${path}: the command "${program}" ${failure(error)}`))
      else resolve(stdout.trim())
    })
  })
}

function failure(error: Error & { code?: unknown; killed?: boolean | undefined }): string {
  if (error.killed) return `took longer than ${commandMs / 1000} s`
  if (error.code === 'ENOENT') return 'was not found'
  return typeof error.code === 'number'
    ? `failed with exit code ${error.code}`
    : `failed (${typeof error.code === 'string' ? error.code : 'signal'})`
}
