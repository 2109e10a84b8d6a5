import { isObject } from '../../schemas/json-object.ts'
import { textOf, withBody } from './answer.ts'
import type { Change, Kind } from './change.ts'

type Json = Record<string, unknown> | unknown[]

/** A value of another JSON type. */
function retyped(value: unknown): unknown {
  if (typeof value === 'string') return 7
  if (typeof value === 'number' || typeof value === 'boolean') return 'tea'
  return Array.isArray(value) ? { 0: 'tea' } : ['tea']
}

const renamed = (key: string): string => `${key}_`

/** What can be done to a member or item, whatever stands there. */
const ofEach: Partial<Record<Kind, (holder: Json, key: string) => void>> = {
  dropped: (holder, key) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1)
    else Reflect.deleteProperty(holder, key)
  },
  nulled: (holder, key) => Object.assign(holder, { [key]: null }),
  retyped: (holder, key) => Object.assign(holder, { [key]: retyped(Reflect.get(holder, key)) }),
}

/** What can be done to a value by its type: gives the new value. */
const ofStrings: Partial<Record<Kind, (value: string) => unknown>> = {
  cut: (value) => value.slice(0, -2),
  emptied: () => '',
  replaced: () => 'tea',
}
const ofArrays: Partial<Record<Kind, (value: unknown[]) => unknown>> = {
  emptied: () => [],
  repeated: (value) => [...value, ...value],
}
const ofObjects: Partial<Record<Kind, (value: Record<string, unknown>) => unknown>> = {
  added: (value) => ({ ...value, tea: { leaves: [1] } }),
  reordered: (value) => Object.fromEntries(Object.entries(value).reverse()),
}

function changeOf(path: readonly string[], kind: Kind, change: (holder: Json, key: string) => void): Change {
  return {
    at: path.join('/'),
    kind,
    apply(answer) {
      const root = { '': JSON.parse(textOf(answer)) as unknown }
      const keys = ['', ...path]
      const last = keys.pop() as string
      change(
        keys.reduce<Json>((holder, key) => Reflect.get(holder, key) as Json, root),
        last,
      )
      return withBody(answer, JSON.stringify(root['']))
    },
  }
}

function* ofValue(path: readonly string[], value: unknown): Generator<Change> {
  const by = (
    typeof value === 'string' ? ofStrings : Array.isArray(value) ? ofArrays : isObject(value) ? ofObjects : {}
  ) as Partial<Record<Kind, (value: unknown) => unknown>>
  for (const [kind, make] of Object.entries(by)) {
    yield changeOf(path, kind as Kind, (holder, key) =>
      Object.assign(holder, { [key]: make(Reflect.get(holder, key)) }),
    )
  }
}

/** Every change to a JSON value and all that it holds; of a longer array the first and the last item stand for all. */
export function* jsonChanges(value: unknown, path: readonly string[] = []): Generator<Change> {
  yield* ofValue(path, value)
  if (typeof value !== 'object' || value === null) return
  const keys = Object.keys(value)
  const some = Array.isArray(value) ? new Set([keys.at(0), keys.at(-1)]) : keys
  for (const key of some) {
    if (key === undefined) continue
    const inner = [...path, key]
    for (const [kind, change] of Object.entries(ofEach)) yield changeOf(inner, kind as Kind, change)
    if (isObject(value)) {
      yield changeOf(inner, 'renamed', (holder, name) => {
        const entries = Object.entries(holder).map(([other, held]) => [other === name ? renamed(name) : other, held])
        for (const other of Object.keys(holder)) Reflect.deleteProperty(holder, other)
        Object.assign(holder, Object.fromEntries(entries))
      })
    }
    yield* jsonChanges(Reflect.get(value, key), inner)
  }
}
