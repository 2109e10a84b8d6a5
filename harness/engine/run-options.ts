import { randomBytes, randomInt } from 'node:crypto'
import { shellWord } from '../recording/curl.ts'
import { isSecretName } from '../target/map-keys.ts'
import { labels } from '../target/resolve-key.ts'
import type { HeaderValue, HeaderValues } from '../target/target-file.ts'
import type { RunOptions } from './run.ts'

/** What does not follow from the others. */
type Told = Omit<RunOptions, 'refusalRuns' | 'grantedRuns' | 'nonce' | 'rerun' | 'backoffMs'>

/** What somebody says of a run; whatever is left out is as usual. */
export interface GivenOptions extends Partial<Told> {
  /** Cases of each generated requirement: 25 of a refusal and 5 of a granted request if it is not given, 1 of a quick run. */
  readonly runs?: number
}

/** The options of a run. A seed that is not given is drawn, and always in the report. */
export function runOptionsOf(given: GivenOptions, rerun: string): RunOptions {
  const { seed = randomInt(0, 2 ** 31), runs, tpe = 'exact', strict = false, readOnly = false, bail = false } = given
  const {
    depth = 'full',
    insecure = false,
    only = [],
    skip = [],
    shard = null,
    expected = [],
    exchangeLog,
    maxFailures = null,
  } = given
  return {
    ...{ seed, tpe, strict, readOnly, bail, insecure, only, skip, shard, expected, rerun },
    ...{ depth, maxFailures, refusalRuns: runs ?? (depth === 'quick' ? 1 : 25) },
    ...{ grantedRuns: runs ?? (depth === 'quick' ? 1 : 5), backoffMs: 250 },
    nonce: [...randomBytes(4)].map((byte) => (byte % 36).toString(36)).join(''),
    ...(exchangeLog === undefined ? {} : { exchangeLog }),
  }
}

/** What a failure needs to show again. */
interface Repeated extends Pick<GivenOptions, 'runs' | 'depth' | 'tpe' | 'readOnly' | 'insecure'> {
  readonly baseUrl?: string | undefined
  /** Path of the target file. */
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
  for (const [name, value] of Object.entries(headers)) words.push('--header', `${name}: ${shownValue(name, value)}`)
  return words.map(shellWord).join(' ')
}

/** A value as somebody gives it again, but for a secret. */
function shownValue(name: string, value: HeaderValue): string {
  if (typeof value === 'object') return `env:${value.env}`
  return isSecretName(name) ? labels.other : value
}
