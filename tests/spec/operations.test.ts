import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import {
  type Member,
  type Operation,
  otherKinds,
  placeOf,
  isOperationId,
  operationOf,
  operations,
} from '../../catalogue/operations.ts'
import { getAt } from '../../schemas/json.ts'
import { pointersAt } from './pointers.ts'
import { operationTable } from './tables.ts'

test('each operation of the text has a record', () => {
  expect(operations.map(({ id }) => id).toSorted()).toEqual(Object.keys(operationTable).toSorted())
})

const ids = new Set<string>(catalogue.map(({ id }) => id))
const all: readonly Operation[] = operations

describe.each(all.map((one) => [one.id, one] as const))(
  '%s',
  (id, { members, effect, creates, path, ...more }) => {
    test('has the method, the path and the errors of the tables of the text', () => {
      const [route, errors = ''] = operationTable[id] ?? []
      expect(`${more.method} ${path}`).toBe(route)
      const listed = (more.errors ?? []).flatMap(([status, ...types]) =>
        types.map((tpe) => `${tpe} ${status}`),
      )
      expect(listed.toSorted()).toEqual([...new Set(errors.split('; ').filter(Boolean))].toSorted())
    })

    test('names conditions that it has', () => {
      for (const { at, judgedBy } of members) {
        for (const condition of Object.values(judgedBy ?? {}))
          expect(ids, at).toContain(`${id}/${condition}`)
      }
    })

    test('states the parameters of its path', () => {
      expect(Object.keys(more.params ?? {})).toEqual(
        [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      )
    })

    test('names a place and a schema that there are', () => {
      for (const use of creates?.usedBy ?? []) {
        if (!isOperationId(use.operation)) throw new Error(use.operation)
        const { params = {}, members: used } = operationOf(use.operation)
        expect('param' in use ? Object.keys(params) : used.map((one) => one.role)).toContain(
          'param' in use ? use.param : use.role,
        )
      }
      if (more.response !== undefined) {
        expect(
          existsSync(new URL(`../../schemas/${more.response}.schema.json`, import.meta.url)),
        ).toBe(true)
      }
    })

    test('has an example of the types that its members show', () => {
      for (const member of members) {
        const place = placeOf(members, member, {}) ?? member.exampleAt
        for (const pointer of place === undefined ? [] : pointersAt(more.example, place)) {
          expect(otherKinds(member), pointer).not.toContain(kindOf(getAt(more.example, pointer)))
        }
      }
    })
  },
)

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value
}

test('what is below a role moves with it', () => {
  const { members } = operationOf('chat.create')
  const at = (pattern: string): Member => members.find((member) => member.at === pattern) as Member
  expect(placeOf(members, at('/messages/*/role'), {})).toBe('/messages/*/role')
  expect(placeOf(members, at('/messages/*/role'), { messages: '/talk' })).toBe('/talk/*/role')
  expect(placeOf(members, at('{query_config}/max_tokens'), {})).toBeUndefined()
  expect(placeOf(members, at('{query_config}/max_tokens'), { query_config: '/q' })).toBe(
    '/q/max_tokens',
  )
})
