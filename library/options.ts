import { type RequirementId, catalogue } from '../catalogue/catalogue.ts'
import type { RunEvent } from '../harness/run/index.ts'
import { type Depth, matchesId, type TpeMode } from '../harness/report/index.ts'
import {
  type HeaderValues,
  type Limits,
  type OperationValue,
  type ScenarioValue,
  type TargetFile,
  checkTargetFile,
  didYouMean,
  idMeant,
  labels,
} from '../harness/target/index.ts'
import { isSecretName } from '../harness/recording/redactor.ts'
import { shellWord } from '../harness/shell-word.ts'
import { UserError } from '../harness/user-error.ts'

/** A requirement id or a pattern; `*` matches any characters. */
export type IdPattern = RequirementId | (string & Record<never, never>)

/** Options of a run; the defaults are those of the command line. */
export interface ConformanceOptions {
  /** Ends the run: the report says `interrupted`. */
  readonly signal?: AbortSignal
  /** Overrides the target's `baseUrl`. */
  readonly baseUrl?: string
  /** Base folder for relative paths in a target object; default: the current one. */
  readonly dir?: string
  /** Key with full rights; default: `keys.full` of the target, then the environment variable `CONFORM_API_KEY`. */
  readonly key?: string
  readonly only?: readonly IdPattern[]
  /** Requirements to leave out; applied after `only`. */
  readonly skip?: readonly IdPattern[]
  /** Seed of the generated inputs, a 32-bit integer; default: a random one, which the report contains. */
  readonly seed?: number
  /** Cases per generated requirement; default: 25 for invalid requests, 5 for valid ones. */
  readonly runs?: number
  /** `quick`: one case of each kind per requirement, about 500 requests; default `full`. */
  readonly depth?: Depth
  /** A failed recommendation counts like a failed required check. */
  readonly strict?: boolean
  /** Sends only requests that create and generate nothing. */
  readonly readOnly?: boolean
  /** Accepted code names: the exact ones, or any of the status's row of §7.2; default `exact`. */
  readonly tpe?: TpeMode
  /** Stops after the first failed required check, or after that many. */
  readonly bail?: boolean | number
  /** Accepts invalid TLS certificates. */
  readonly insecure?: boolean
  /** Override the target's limits. */
  readonly limits?: Partial<Limits>
  /**
   * File that receives each exchange as a line of JSON, without keys; default: only exchanges of failures are kept, in
   * the report.
   */
  readonly exchangeLog?: string
}

/** A possible mistake in the target file, in one sentence. Comes before `planned`. */
export interface WarnedEvent {
  readonly kind: 'warned'
  readonly warning: string
}

export type ConformanceEvent = RunEvent | WarnedEvent

type Check = (value: unknown) => string | undefined

const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'give true or false')
const text: Check = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'give a non-empty string'

function whole(value: unknown, least: number, most: number): string | undefined {
  const isIn = Number.isInteger(value) && (value as number) >= least && (value as number) <= most
  return isIn ? undefined : `give a whole number from ${least} to ${most}`
}

/** Why a pattern selects nothing; undefined if it matches a requirement. */
export function patternMistake(pattern: string): string | undefined {
  if (catalogue.some((one) => matchesId(one.id, pattern))) return undefined
  return `no requirement matches ${pattern}${idMeant(pattern, true)}`
}

const patterns: Check = (value) =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string')
    ? value.map(patternMistake).find((mistake) => mistake !== undefined)
    : 'give a list of requirement ids'

const checks: Readonly<Record<keyof ConformanceOptions, Check>> = {
  signal: (value) => (value instanceof AbortSignal ? undefined : 'give an AbortSignal'),
  baseUrl: text,
  dir: text,
  key: text,
  only: patterns,
  skip: patterns,
  seed: (value) => whole(value, -(2 ** 31), 2 ** 31 - 1),
  runs: (value) => whole(value, 1, 100_000),
  depth: (value) => (value === 'full' || value === 'quick' ? undefined : 'give full or quick'),
  strict: flag,
  readOnly: flag,
  tpe: (value) => (value === 'exact' || value === 'family' ? undefined : 'give exact or family'),
  bail: (value) => (typeof value === 'boolean' ? undefined : whole(value, 1, 100_000)),
  insecure: flag,
  limits: () => undefined,
  exchangeLog: text,
}

/** Throws UserError for an unknown option or a wrong value. */
export function checkOptions(options: ConformanceOptions): void {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value === undefined) continue
    const check = Object.hasOwn(checks, name) ? checks[name as keyof typeof checks] : undefined
    if (!check)
      throw new UserError(`there is no option ${name}${didYouMean(name, Object.keys(checks))}`)
    const problem = check(value)
    if (problem !== undefined) throw new UserError(`the option ${name}: ${problem}`)
  }
  if (options.limits !== undefined) checkTargetFile({ limits: options.limits }, 'the options')
}

type Repeated = 'baseUrl' | 'runs' | 'depth' | 'tpe' | 'readOnly' | 'insecure'

/** The command line with the options that a failure may depend on, without ids and seed. */
export function rerunCommand(
  repeated: Pick<ConformanceOptions, Repeated> & {
    readonly program?: readonly string[]
    readonly target?: string | undefined
    readonly headers?: HeaderValues
  },
): string {
  const { baseUrl, target, runs, depth, tpe, readOnly, insecure, headers = {} } = repeated
  const words = [...(repeated.program ?? ['conform']), ...(baseUrl === undefined ? [] : [baseUrl])]
  if (target !== undefined) words.push('--target', target)
  if (runs !== undefined) words.push('--runs', String(runs))
  if (depth === 'quick') words.push('--depth', depth)
  if (tpe === 'family') words.push('--tpe', tpe)
  if (readOnly) words.push('--read-only')
  if (insecure) words.push('--insecure')
  for (const [name, value] of Object.entries(headers)) {
    const written = typeof value === 'object' ? `env:${value.env}` : value
    const shown = typeof value === 'string' && isSecretName(name) ? labels.other : written
    words.push('--header', `${name}: ${shown}`)
  }
  return words.map(shellWord).join(' ')
}

/**
 * The target: what is judged, and what the suite may use there. Ids are literal types, so that a mistyped one does not
 * compile.
 */
export interface Target extends Omit<TargetFile, 'scenarios'> {
  /** How to trigger a condition that no client can cause by itself, by requirement id. */
  readonly scenarios?: Readonly<Partial<Record<RequirementId, ScenarioValue>>>
}

interface ScenarioJson extends Omit<ScenarioValue, 'operation'> {
  readonly operation?: string
}

/**
 * A target imported from JSON (`import target from './target.json'`): TypeScript widens its strings, so ids are checked
 * when a run begins.
 */
export interface TargetJson extends Omit<
  TargetFile,
  'operations' | 'scenarios' | 'limits' | 'keys'
> {
  readonly keys?: Readonly<Record<string, unknown>>
  readonly operations?: {
    readonly [Id in keyof NonNullable<TargetFile['operations']>]?: OperationValue | string
  }
  readonly scenarios?: Readonly<Partial<Record<RequirementId, ScenarioJson>>>
  readonly limits?: Readonly<Record<string, number | string>>
}
