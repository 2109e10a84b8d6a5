import { isSecretName } from '../recording/index.ts'
import { shellWord } from '../shell-word.ts'
import { type HeaderValue, type HeaderValues, labels } from '../target-file/index.ts'
import type { GivenOptions } from './run.ts'

/** Requirements and state that a failure needs to show again. */
interface Repeated extends Pick<GivenOptions, 'runs' | 'depth' | 'tpe' | 'readOnly' | 'insecure'> {
  readonly baseUrl?: string | undefined
  readonly target?: string | undefined
  /** Path of a PEM file. */
  readonly ca?: string | undefined
  readonly headers?: HeaderValues
}

/** The command that shows a failure again; the ids and the seed are put behind it. It holds no key. */
export function rerunCommand(repeated: Repeated): string {
  const { baseUrl, target, runs, depth, tpe, readOnly, insecure, ca, headers = {} } = repeated
  const words = ['conform', ...(baseUrl === undefined ? [] : [baseUrl])]
  if (target !== undefined) words.push('--target', target)
  if (runs !== undefined) words.push('--runs', String(runs))
  if (depth === 'quick') words.push('--depth', depth)
  if (tpe === 'family') words.push('--tpe', tpe)
  if (readOnly) words.push('--read-only')
  if (insecure) words.push('--insecure')
  if (ca !== undefined) words.push('--ca', ca)
  for (const [name, value] of Object.entries(headers))
    words.push('--header', `${name}: ${shownValue(name, value)}`)
  return words.map(shellWord).join(' ')
}

function shownValue(name: string, value: HeaderValue): string {
  if (typeof value === 'object') return `env:${value.env}`
  return isSecretName(name) ? labels.other : value
}
