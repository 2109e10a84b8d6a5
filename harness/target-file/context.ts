import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { shortestKey, Redactor } from '../recording/redactor.ts'
import { UserError, whyUnreadable } from '../user-error.ts'
import type { DynamicKeyBook } from './dynamic-keys.ts'
import type { Secret, KeySource, Target } from './model.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The context in which the parts of a target file are resolved, and the secrets among them noted. */
export interface Context {
  readonly dir: string
  /** How the file is called in a message; absent if it needs no name. */
  readonly source?: string | undefined
  readonly env: Environment
  /** In normal form. */
  readonly baseUrl: string
  readonly dynamic: DynamicKeyBook
  /** How the keys of commands and functions are written, by the path of their member. */
  readonly labels: Map<string, string>
  readonly secrets: Secret[]
  /** Header values of environment variables: hidden as well, if the file itself does not show them. */
  readonly hidden: Secret[]
  /** Sentences for the user. */
  readonly warnings: string[]
}

/** The member as a message names it: with the file that has it. */
export function placed({ source }: Pick<Context, 'source'>, member: string): string {
  return source === undefined ? member : `${source}: ${member}`
}

/** Notes a secret that `member` holds. */
export function note({ secrets, warnings }: Context, member: string, secret: Secret): void {
  secrets.push(secret)
  if (secret.value.length >= shortestKey) return
  warnings.push(`${member} is shorter than ${shortestKey} characters: reports can hide it only where it stands alone`)
}

/** The value of an environment variable that `place` names; throws a `UserError` if it is not set or empty. */
export function readEnv({ env }: Pick<Context, 'env'>, name: string, place: string): string {
  const value = env[name]
  if (value === undefined) throw new UserError(`${place}: the environment variable ${name} is not set`)
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

/**
 * The key as it is now; the redactor learns it before it is used.
 * @param readDynamic asks the thread that resolved the target: `dynamicKeys.read`, over whatever channel leads there
 */
export async function readKey(
  source: KeySource,
  redactor: Redactor,
  readDynamic: (path: string) => Promise<string>,
): Promise<string> {
  if ('value' in source) return source.value
  const value = await readDynamic(source.dynamic)
  redactor.add(value, source.label)
  return value
}
