import type { Area, Effect, Level, Need, Requirement } from '../requirement.ts'

/** A requirement whose id and level are literal types, so that a mistyped one does not compile. */
export interface Row<I extends string = string, L extends Level = Level> extends Requirement {
  readonly id: I
  readonly level: L
}

function areaOf(id: string): Area {
  return id.slice(0, id.indexOf('/')) as Area
}

export function must<const I extends string>(
  id: I,
  section: string,
  statement: string,
  needs: readonly Need[] = [],
  effect: Effect = 'none',
): Row<I, 'must'> {
  return { id, operation: areaOf(id), level: 'must', section, statement, needs, effect }
}

export function should<const I extends string>(
  id: I,
  section: string,
  statement: string,
  needs: readonly Need[] = [],
  effect: Effect = 'none',
): Row<I, 'should'> {
  return { id, operation: areaOf(id), level: 'should', section, statement, needs, effect }
}

/** The pointer of a scenario: what a row needs that nothing else can bring about. */
export function scenarioFor(id: string): string {
  return `/scenarios/${id.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** A row that only a scenario of the target file can bring about. */
export function staged<const I extends string>(id: I, section: string, statement: string): Row<I, 'must'> {
  return must(id, section, statement, [scenarioFor(id)])
}
