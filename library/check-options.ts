import { catalogue } from '../catalogue/catalogue.ts'
import { matchesId } from '../harness/report/selection.ts'
import { checkTargetFile } from '../harness/target/check.ts'
import { didYouMean } from '../harness/target/nearest.ts'
import { UserError } from '../harness/user-error.ts'
import type { ConformanceOptions } from './options.ts'

type Check = (value: unknown) => string | undefined

const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'give true or false')
const text: Check = (value) => (typeof value === 'string' && value !== '' ? undefined : 'give a text that is not empty')

function whole(least: number, most: number): Check {
  return (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
      ? undefined
      : `give a whole number from ${least} to ${most}`
}

const patterns: Check = (value) => {
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'string'))
    return 'give a list of requirement ids'
  const ids = catalogue.map(({ id }) => id)
  const unknown = value.find((pattern) => !ids.some((id) => matchesId(id, pattern)))
  return unknown === undefined ? undefined : `no requirement is called ${unknown}${didYouMean(unknown, ids)}`
}

const checks: Readonly<Record<keyof ConformanceOptions, Check>> = {
  signal: (value) => (value instanceof AbortSignal ? undefined : 'give an AbortSignal'),
  baseUrl: text,
  dir: text,
  key: text,
  only: patterns,
  skip: patterns,
  seed: whole(-(2 ** 31), 2 ** 31 - 1),
  runs: whole(1, 100_000),
  strict: flag,
  readOnly: flag,
  tpe: (value) => (value === 'exact' || value === 'family' ? undefined : 'give exact or family'),
  bail: flag,
  insecure: flag,
  limits: () => undefined,
  exchangeLog: text,
}

/** Throws UserError for an option that does not exist, or a value that it cannot have. */
export function checkOptions(options: ConformanceOptions): void {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value === undefined) continue
    if (!Object.hasOwn(checks, name)) {
      throw new UserError(`no option is called ${name}${didYouMean(name, Object.keys(checks))}`)
    }
    const problem = checks[name as keyof ConformanceOptions](value)
    if (problem !== undefined) throw new UserError(`the option ${name}: ${problem}`)
  }
  // The limits of a target file have a schema.
  if (options.limits !== undefined) checkTargetFile({ limits: options.limits }, 'the options')
}
