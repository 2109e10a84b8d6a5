import { readFileSync } from 'node:fs'

/** The package folder: packed files are one folder deep, this one two. */
const root = /\/reference\/declared\/scenarios\.[jt]s$/.test(import.meta.url) ? '../../' : '../'

export function fixture(path: string): Buffer {
  return readFileSync(new URL(`${root}fixtures/${path}`, import.meta.url))
}

interface Scenario {
  readonly headers?: Readonly<Record<string, string>>
}

/** The target file of `fixtures/`, which declares everything that the reference has. */
export const targetFile = JSON.parse(fixture('reference.target.json').toString('utf8')) as Readonly<
  Record<string, unknown>
> & {
  readonly keys: Readonly<Record<'full' | 'expired' | 'restricted', string>>
  readonly scenarios: Readonly<Record<string, Scenario>>
}

/** `<status>-<tpe>`, as in the names of variants. */
export type Pair = `${number}-${string}`

/** The header `x-simulate`: `<condition> <pair>`. */
interface Simulation {
  /** `<status>-<condition>` of the request's operation, or a whole requirement id. */
  readonly condition: string
  readonly usual: Pair
}

function parsed(header: string): Simulation {
  const [condition, usual] = header.split(' ') as [string, Pair]
  return { condition, usual }
}

export const refusedByScenario: readonly string[] = Object.keys(targetFile.scenarios).filter(
  (id) => !/\/2(?:\d\d|xx)-/.test(id),
)

export const simulations: ReadonlyMap<string, Simulation> = new Map(
  Object.entries(targetFile.scenarios).flatMap(([id, { headers }]) => {
    const asked = headers?.['x-simulate']
    return asked === undefined ? [] : [[id, parsed(asked)] as const]
  }),
)

/** The simulation that a header `x-simulate` requests from this operation, if a scenario has it. */
export function simulationOf(operation: string, header: string): Simulation | undefined {
  const asked = parsed(header)
  const id = asked.condition.includes('/') ? asked.condition : `${operation}/${asked.condition}`
  return simulations.has(id) ? asked : undefined
}
