import fc from 'fast-check'
import type { Pairs } from '../../harness/expect/pairs.ts'
import { type JsonKind, nameOfKind, ofKinds, sample, shown } from '../../harness/generate/values.ts'
import { getAt, setAt } from '../../harness/json/pointer.ts'
import { any, type Fault, withBody } from '../../harness/words/conditions.ts'
import type { Condition } from '../../harness/words/refusals.ts'
import { jsonOf, type Probe } from '../../harness/request/probe.ts'

/** A fault in an item, or in the body itself, may also be told as a fault of the input parameters (§7.2). */
const either: Pairs = [[400, 'BadRequest', 'InvalidInputParameters']]

/** Where a value of another type is put, and which types are another there. */
interface Place {
  readonly pointer: string
  readonly name: string
  readonly kinds: readonly JsonKind[]
  readonly gives?: Pairs
}

const places: readonly Place[] = [
  { pointer: '', name: 'the body', kinds: ['null', 'boolean', 'number', 'string', 'array'], gives: either },
  { pointer: '/inputs', name: 'inputs', kinds: ['boolean', 'number', 'string', 'object'] },
  { pointer: '/inputs', name: 'inputs', kinds: ['null'], gives: either },
  {
    pointer: '/inputs/0',
    name: 'an item of inputs',
    kinds: ['null', 'boolean', 'number', 'string', 'array'],
    gives: either,
  },
  {
    pointer: '/inputs/0/id',
    name: 'the id of an item',
    kinds: ['null', 'boolean', 'number', 'array', 'object'],
    gives: either,
  },
  {
    pointer: '/inputs/0/value',
    name: 'the value of an item',
    kinds: ['null', 'boolean', 'number', 'string', 'object'],
    gives: either,
  },
  {
    pointer: '/inputs/0/value/0',
    name: 'an item of a value',
    kinds: ['null', 'boolean', 'number', 'array', 'object'],
    gives: either,
  },
]

interface Misfit {
  readonly pointer: string
  readonly value: unknown
}

function fault({ pointer, name, gives }: Place, kind: string, value: unknown): Fault<Misfit> {
  const what = `with a valid body, but ${name} is ${kind}: ${shown(value)}`
  return { what, value: { pointer, value }, ...(gives ? { gives } : {}) }
}

const named = places.flatMap((place) => place.kinds.map((kind) => fault(place, nameOfKind(kind), sample[kind])))

const generated = fc
  .constantFrom(...places)
  .chain((place) => ofKinds(...place.kinds).map((value) => fault(place, 'of another type', value)))

function misfit(probe: Probe, { pointer, value }: Misfit): Probe {
  const body: unknown = jsonOf(probe)
  // Where the declared inputs hold no value to replace, the nearest thing that they do hold is.
  const place = pointer === '' || getAt(body, pointer) !== undefined ? pointer : '/inputs'
  return withBody(probe, setAt(body, place, place === pointer ? value : 42))
}

/** The body, `inputs`, its items, their `id` and `value`, and the items of a value, each of another JSON type. */
export const malformedInputs: Condition = any(named, generated, misfit)
