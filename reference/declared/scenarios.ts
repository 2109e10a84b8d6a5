import { readFileSync } from 'node:fs'

/** The folder of the package: packed files lie one folder deep, this one two. */
const root = /\/reference\/declared\/scenarios\.[jt]s$/.test(import.meta.url) ? '../../' : '../'

/** A file of `fixtures/`, which knows nothing of who uses it. */
export function fixture(path: string): Buffer {
  return readFileSync(new URL(`${root}fixtures/${path}`, import.meta.url))
}

interface Scenario {
  readonly headers?: Readonly<Record<string, string>>
}

/** The target file that declares everything that the reference has, as it stands in `fixtures/`. */
export const targetFile = JSON.parse(fixture('reference.target.json').toString('utf8')) as Readonly<
  Record<string, unknown>
> & {
  readonly keys: Readonly<Record<'full' | 'expired' | 'restricted', string>>
  readonly scenarios: Readonly<Record<string, Scenario>>
}

/** Answer to an error: `<status>-<tpe>`, as the names of variants spell it. */
export type Pair = `${number}-${string}`

/** The form of the header `x-simulate`: `<condition> <pair>`. */
interface Simulation {
  /** `<status>-<condition>` of the request's operation, or a whole requirement id. */
  readonly condition: string
  readonly usual: Pair
}

function parsed(header: string): Simulation {
  const [condition, usual] = header.split(' ') as [string, Pair]
  return { condition, usual }
}

/** Ids of the requirements that want a request refused and for which the target file has a scenario. */
export const refusedByScenario: readonly string[] = Object.keys(targetFile.scenarios).filter(
  (id) => !/\/2(?:\d\d|xx)-/.test(id),
)

/** By requirement id, for scenarios that only ask by `x-simulate`. */
export const simulations: ReadonlyMap<string, Simulation> = new Map(
  Object.entries(targetFile.scenarios).flatMap(([id, { headers }]) => {
    const asked = headers?.['x-simulate']
    return asked === undefined ? [] : [[id, parsed(asked)] as const]
  }),
)

/** Reads what a header `x-simulate` asks this operation for; undefined if no scenario asks for it. */
export function simulationOf(operation: string, header: string): Simulation | undefined {
  const asked = parsed(header)
  const id = asked.condition.includes('/') ? asked.condition : `${operation}/${asked.condition}`
  return simulations.has(id) ? asked : undefined
}
