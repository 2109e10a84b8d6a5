import { type OperationId, operations } from '../../catalogue/operations.ts'
import { conditionOf } from '../../catalogue/requirement.ts'
import { groupBy } from '../../harness/group-by.ts'
import { count, type Report, type RequirementResult } from '../../harness/report/index.ts'
import { selectedResults } from './groups.ts'
import { type Mark, outcomes } from './writing.ts'

export type State =
  | 'working'
  | 'failing'
  | 'only authentication tested'
  | 'not tested'
  | 'not built'
  | 'not served'

/** How states are shown: with sign and colour of the corresponding outcome. */
export const states = {
  failing: outcomes.failed,
  working: outcomes.passed,
  'only authentication tested': outcomes['not-exercised'],
  'not tested': outcomes['not-exercised'],
  'not built': outcomes['not-applicable'],
  'not served': outcomes['not-applicable'],
} as const satisfies Record<State, Mark>

export interface Place {
  readonly operation: OperationId
  readonly state: State
  /** `7 of 8` applicable requirements passed, or the number of failures. May be empty. */
  readonly detail: string
}

/** Conditions that a gateway answers too, so they do not show that the operation exists. */
const ofKeys = /^(401|403)-|^429-/

type Facts = Pick<Report, 'exit' | 'requirements' | 'run'>

/** The operations in catalogue order with their states. */
export function operationMap(report: Facts): Place[] {
  const found = absentOperations(report)
  const byOperation = groupBy(report.requirements, (one) => one.operation)
  return operations.map((operation) => {
    const own = byOperation.get(operation.id) ?? []
    const state = found.has(operation.id) ? 'not built' : stateOf(own)
    return { operation: operation.id, state, detail: detailOf(state, own) }
  })
}

function stateOf(own: readonly RequirementResult[]): State {
  if (own.some((one) => one.level === 'must' && one.outcome === 'failed')) return 'failing'
  if (own.length > 0 && own.every((one) => one.outcome === 'not-applicable')) return 'not served'
  const passed = own.filter((one) => one.outcome === 'passed')
  if (passed.some((one) => !ofKeys.test(conditionOf(one.id)))) return 'working'
  return passed.length > 0 ? 'only authentication tested' : 'not tested'
}

function detailOf(state: State, own: readonly RequirementResult[]): string {
  const number = (...some: string[]): number =>
    own.filter((one) => some.includes(one.outcome)).length
  if (state === 'failing') return `${number('failed')} failed`
  return state === 'working'
    ? `${number('passed')} of ${own.length - number('not-applicable')}`
    : ''
}

export function absentOperations(options: {
  readonly run: Pick<Report['run'], 'absent'>
}): ReadonlySet<string> {
  return new Set(options.run.absent?.map((one) => one.operation))
}

/** The map, if the run covered more than one operation and learned anything. */
export function shownMap(report: Facts): Place[] | undefined {
  const selected = new Set(selectedResults(report).map((one) => one.operation))
  if (selected.size < 2) return undefined
  const places = operationMap(report).filter((one) => selected.has(one.operation))
  return places.length > 1 &&
    places.some((place) => place.state !== 'not tested' && place.state !== 'not served')
    ? places
    : undefined
}

/** For example `17 operations: 2 working, 13 not built`; empty states are omitted. */
export function mapSentence(places: readonly Place[]): string {
  const parts = byState(places).map(([state, own]) => `${own.length} ${state}`)
  return `${count(places.length, 'operation')}: ${parts.join(', ')}`
}

/** Places by state, the most urgent first. */
export function byState(places: readonly Place[]): (readonly [State, readonly Place[]])[] {
  return (Object.keys(states) as State[]).flatMap((state) => {
    const own = places.filter((place) => place.state === state)
    return own.length === 0 ? [] : [[state, own] as const]
  })
}

/**
 * Operations that a server does not have, although nothing says so, with one of the answers that show it, and the part
 * of a target file that declares them.
 */
export function notBuilt(report: Pick<Report, 'run'>) {
  const [first] = report.run.absent ?? []
  if (first === undefined) return undefined
  const all = absentOperations(report)
  const named = operations.map((operation) => operation.id).filter((id) => all.has(id))
  const part = { operations: Object.fromEntries(named.map((id) => [id, 'not-served'])) }
  return { operations: named, answer: first.answered, part }
}

/** Statuses by which a server says that it lacks an operation. */
const ofNone = ['404', '405', '501', 'no answer']

/** Operations that are declared not served, and answer: `vision.analyze (200)`. */
export function answering(report: Pick<Report, 'run'>): string[] {
  return report.run.notServed
    .filter((one) => !ofNone.includes(one.answered))
    .map((one) => `${one.operation} (${one.answered})`)
}
