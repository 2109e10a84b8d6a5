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
  /** In the last item, and the last text, instead of the first. */
  readonly last: boolean
}

function fault({ pointer, name, gives }: Place, kind: string, value: unknown, last = false): Fault<Misfit> {
  const what = `with a valid body, but ${name}${last ? ' (the last)' : ''} is ${kind}: ${shown(value)}`
  return { what, value: { pointer, value, last }, ...(gives ? { gives } : {}) }
}

const first = places.flatMap((place) => place.kinds.map((kind) => fault(place, nameOfKind(kind), sample[kind])))
const last = places
  .filter(({ pointer }) => pointer.startsWith('/inputs/0'))
  .map((place) => fault(place, 'a number', sample.number, true))
const named = [...first, ...last]

const generated = fc
  .constantFrom(...places)
  .chain((place) =>
    fc
      .tuple(ofKinds(...place.kinds), fc.boolean())
      .map(([value, last]) => fault(place, 'of another type', value, last)),
  )

/** The pointer with the last item, and the last text, in place of the first. */
function atLast(body: unknown, pointer: string): string {
  const items = getAt(body, '/inputs')
  const item = Array.isArray(items) ? items.length - 1 : 0
  const texts = getAt(body, `/inputs/${item}/value`)
  const text = Array.isArray(texts) ? texts.length - 1 : 0
  return pointer.replace(/^\/inputs\/0/, `/inputs/${item}`).replace(/\/value\/0$/, `/value/${text}`)
}

/** A server may look at the first item only, or at the last. */
function misfit(probe: Probe, { pointer: atFirst, value, last }: Misfit): Probe {
  const body: unknown = jsonOf(probe)
  const pointer = last ? atLast(body, atFirst) : atFirst
  // Where the declared inputs hold no value to replace, the nearest thing that they do hold is.
  const place = pointer === '' || getAt(body, pointer) !== undefined ? pointer : '/inputs'
  return withBody(probe, setAt(body, place, place === pointer ? value : 42))
}

/** The body, `inputs`, its items, their `id` and `value`, and the items of a value, each of another JSON type. */
export const malformedInputs: Condition = any(named, generated, misfit)
