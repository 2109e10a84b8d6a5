import { expect, test } from 'vitest'
import { defineTarget, type Target } from '../../library/index.ts'

test('defineTarget gives the very object, functions and all', () => {
  const target: Target = { baseUrl: 'https://example.com', keys: { full: async () => 'a key' } }
  expect(defineTarget(target)).toBe(target)
})

test('what no target file may hold does not compile', () => {
  // @ts-expect-error no such resource
  defineTarget({ resources: { aplication: { id: 'a', inputs: [] } } })
  // @ts-expect-error only operations whose removal is announced can be removed
  defineTarget({ operations: { 'chat.create': 'removed' } })
  // @ts-expect-error no such operation
  defineTarget({ operations: { 'chat.creat': 'not-served' } })
  expect(
    defineTarget({ operations: { 'pdf.parse': 'removed', guardrails: 'not-served' } }),
  ).toBeDefined()
})
