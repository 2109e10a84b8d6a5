import { readFileSync } from 'node:fs'

/** The package folder: packed files are one folder deep, this one two. */
const root = /\/reference\/declared\/scenarios\.[jt]s$/.test(import.meta.url) ? '../../' : '../'

export function fixture(path: string): Buffer {
  return readFileSync(new URL(`${root}fixtures/${path}`, import.meta.url))
}

/** The target file of `fixtures/`, which declares everything that the reference has. */
export const targetFile = JSON.parse(fixture('reference.target.json').toString('utf8')) as Readonly<
  Record<string, unknown>
> & {
  readonly keys: Readonly<Record<'full' | 'expired' | 'restricted', string>>
  readonly scenarios: Readonly<
    Record<string, { readonly headers?: Readonly<Record<string, string>> }>
  >
}

/** `<status>-<tpe>`, as in the names of variants. */
export type Pair = `${number}-${string}`

export const refusedByScenario: readonly string[] = Object.keys(targetFile.scenarios).filter(
  (id) => !/\/2(?:\d\d|xx)-/.test(id),
)

/** The header `x-simulate`: `<condition> <pair>`. */
interface Simulation {
  /** `<status>-<condition>` of the request's operation, or a whole requirement id. */
  readonly condition: string
  readonly usual: Pair
}

/** The simulation that a header `x-simulate` requests from this operation, if a scenario has it. */
export function simulationOf(operation: string, header: string): Simulation | undefined {
  const [condition = '', usual] = header.split(' ')
  const id = condition.includes('/') ? condition : `${operation}/${condition}`
  const declared = targetFile.scenarios[id]?.headers?.['x-simulate']
  return declared === undefined ? undefined : { condition, usual: usual as Pair }
}
