import fc from 'fast-check'
import type { JsonKind } from '../../catalogue/operation.ts'

export function kindOf(value: unknown): JsonKind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as JsonKind
}

const word = fc.stringMatching(/^[a-z]{1,12}$/)

/** Small values of each kind: they shrink in a few steps. Strings are words, never empty; arrays and objects are never empty. */
const ofKind: Readonly<Record<JsonKind, fc.Arbitrary<unknown>>> = {
  null: fc.constant(null),
  boolean: fc.boolean(),
  number: fc.oneof(
    fc.integer({ min: -1000, max: 1000 }),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
  ),
  string: word,
  array: fc.array(fc.oneof(word, fc.integer({ min: 0, max: 99 })), { minLength: 1, maxLength: 3 }),
  object: fc.dictionary(word, fc.oneof(word, fc.integer({ min: 0, max: 99 })), { minKeys: 1, maxKeys: 2 }),
}

export function ofKindsAny(...kinds: JsonKind[]): fc.Arbitrary<unknown> {
  return fc.oneof(...kinds.map((kind) => ofKind[kind]))
}

/** Fixed value of each kind, for faults that have a name. */
export const sample: Readonly<Record<JsonKind, unknown>> = {
  null: null,
  boolean: true,
  number: 42,
  string: 'text',
  array: ['text'],
  object: { key: 'text' },
}

/** Values that `if (!value)` takes for absent, for optional members; the number, if the member tolerates a boolean. */
export const falsy = { boolean: false, number: 0 } as const

/** Stands for an object that has the items of an array by their indices. */
export const byIndex: unknown = { 0: 'text' }

/**
 * Value in place of a member's own for the sample of another type: its own value, as a lenient server would take
 * it. That is the value in an array; of an array its first item, or an object of its items; of a text an object that has it by the
 * names under which one may look for it.
 */
export function inPlaceOf(own: unknown, value: unknown): unknown {
  const isSample = value === byIndex || value === sample[kindOf(value)]
  if (own === undefined || own === null || !isSample) return value
  if (typeof own === 'string' && value === sample.object) return { text: own, value: own, id: own, name: own }
  if (!Array.isArray(own)) return value === sample.array ? [own] : value
  const items = own as readonly unknown[]
  if (items.length === 0) return value
  if (value !== byIndex && kindOf(items[0]) === kindOf(value)) return items[0]
  return value === byIndex || value === sample.object ? { ...items } : value
}

/** `an array`, `null`, `a number` */
export function nameOfKind(kind: JsonKind): string {
  if (kind === 'null') return 'null'
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`
}

/** A value as a sentence shows it, at most 60 characters. */
export function shown(value: unknown): string {
  const text = (JSON.stringify(value) as string | undefined) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
