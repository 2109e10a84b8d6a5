import { type RequirementId, catalogue } from '../catalogue/catalogue.ts'
import type { RunEvent } from '../harness/engine/index.ts'
import { type Depth, matchesId, patternProblem, type TpeMode } from '../harness/report/index.ts'
import type { Limits, OperationValue, ScenarioValue, TargetFile } from '../harness/target/index.ts'
import { checkTargetFile, didYouMean, idMeant } from '../harness/target/index.ts'
import { UserError } from '../harness/user-error.ts'

/** A requirement id, or a pattern of them: `*` is any characters. */
export type IdPattern = RequirementId | (string & Record<never, never>)

/** Options of a run; what is left out is as on the command line. */
export interface ConformanceOptions {
  /** Ends the run: the report says `interrupted`. */
  readonly signal?: AbortSignal
  /** Stands before the target's own `baseUrl`. */
  readonly baseUrl?: string
  /** Folder that relative paths in a target object are relative to; default: the current one. */
  readonly dir?: string
  /** Key with full rights; else `keys.full` of the target, else the environment variable `CONFORM_API_KEY`. */
  readonly key?: string
  /** Requirements to run. */
  readonly only?: readonly IdPattern[]
  /** Requirements to leave out, after `only`. */
  readonly skip?: readonly IdPattern[]
  /** Seed of the generated inputs, a 32-bit integer; drawn if not given, and in the report. */
  readonly seed?: number
  /** Cases of each generated requirement; default 25 for refusals, 5 for granted requests. */
  readonly runs?: number
  /** `quick`: one case of each kind for each requirement, about 500 requests; default `full`. */
  readonly depth?: Depth
  /** A failed `should` counts like a failed `must`. */
  readonly strict?: boolean
  /** Sends nothing that a conforming target would answer by creating or generating. */
  readonly readOnly?: boolean
  /** Which code names pass: the exact ones, or any of the status's row of §7.2; default `exact`. */
  readonly tpe?: TpeMode
  /** Stops at the first `must` that fails, or when so many have failed. */
  readonly bail?: boolean | number
  /** Accepts certificates that do not verify. */
  readonly insecure?: boolean
  /** Stand before the target's own limits. */
  readonly limits?: Partial<Limits>
  /** File that gets each exchange as a line of JSON, keys removed; without it none is kept beyond those of failures. */
  readonly exchangeLog?: string
}

/** A sentence for the author of the target file: nothing is wrong, but something may be meant differently. Comes before `planned`. */
export interface WarnedEvent {
  readonly kind: 'warned'
  readonly warning: string
}

/** Event of a run that goes on. */
export type ConformanceEvent = RunEvent | WarnedEvent

export type Check = (value: unknown) => string | undefined

const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'give true or false')
const text: Check = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'give a text that is not empty'

/** A whole number in that range. */
export function whole(least: number, most: number): Check {
  return (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
      ? undefined
      : `give a whole number from ${least} to ${most}`
}

/** Why a pattern selects nothing; undefined if there is a requirement that it matches. */
export function patternMistake(pattern: string): string | undefined {
  const problem = patternProblem(pattern)
  if (problem !== undefined || catalogue.some(({ id }) => matchesId(id, pattern))) return problem
  return `no requirement is called ${pattern}${idMeant(pattern)}`
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
  seed: whole(-(2 ** 31), 2 ** 31 - 1),
  runs: whole(1, 100_000),
  depth: (value) => (value === 'full' || value === 'quick' ? undefined : 'give full or quick'),
  strict: flag,
  readOnly: flag,
  tpe: (value) => (value === 'exact' || value === 'family' ? undefined : 'give exact or family'),
  bail: (value) => (typeof value === 'boolean' ? undefined : whole(1, 100_000)(value)),
  insecure: flag,
  limits: () => undefined,
  exchangeLog: text,
}

/** @throws UserError for an option that none of these checks is about, or a value that its check does not take. */
export function checkNamed(options: object, by: Readonly<Record<string, Check>>): void {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value === undefined) continue
    const check = Object.hasOwn(by, name) ? by[name] : undefined
    if (!check)
      throw new UserError(`no option is called ${name}${didYouMean(name, Object.keys(by))}`)
    const problem = check(value)
    if (problem !== undefined) throw new UserError(`the option ${name}: ${problem}`)
  }
}

/** Throws UserError for an option that does not exist, or a value that it cannot have. */
export function checkOptions(options: ConformanceOptions): void {
  checkNamed(options, checks)
  // The limits of a target file have a schema.
  if (options.limits !== undefined) checkTargetFile({ limits: options.limits }, 'the options')
}

/** Target: what is judged, and what the suite may use there; ids are literal types, so that a mistyped one does not compile. */
export interface Target extends Omit<TargetFile, 'scenarios'> {
  /** How to bring about a condition that no client can cause by itself, by requirement id. */
  readonly scenarios?: Readonly<Partial<Record<RequirementId, ScenarioValue>>>
}

/** A scenario as TypeScript sees it in JSON. */
interface ScenarioJson extends Omit<ScenarioValue, 'operation'> {
  readonly operation?: string
}

/**
 * A target as `import target from './target.json'` gives it: TypeScript takes each text of a JSON file for any text. Its ids are
 * looked at when a run begins.
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

/** Gives the target as it is: what it adds is the type, in an editor and in TypeScript. */
export function defineTarget(target: Target): Target {
  return target
}
