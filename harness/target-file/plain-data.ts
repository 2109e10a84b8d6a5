import { escapeToken } from '../../schemas/json.ts'

/** Where a module may have functions: in place of a key. */
const keyPlace = /^\/keys\/[^/]+(\/[^/]+)?$|^\/scenarios\/[^/]+\/key$/

/**
 * The value as JSON would hold it, functions in place of keys written as a word; `problem` is called with the pointer of
 * whatever JSON cannot hold.
 */
export function plainData(
  value: unknown,
  problem: (pointer: string, what: string) => void,
  pointer = '',
  around: readonly object[] = [],
): unknown {
  if (typeof value === 'function' && keyPlace.test(pointer)) return 'function'
  if (typeof value === 'number' && !Number.isFinite(value)) problem(pointer, `${value} is not a JSON number`)
  if (['function', 'symbol', 'bigint'].includes(typeof value)) problem(pointer, `a ${typeof value} is not allowed here`)
  if (typeof value !== 'object' || value === null) return value
  if (around.includes(value)) return problem(pointer, 'holds itself')
  const inside = [...around, value]
  if (Array.isArray(value)) return value.map((item, index) => plainData(item, problem, `${pointer}/${index}`, inside))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) problem(pointer, 'must be a plain object')
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(
    members.map(([name, member]) => [name, plainData(member, problem, `${pointer}/${escapeToken(name)}`, inside)]),
  )
}
