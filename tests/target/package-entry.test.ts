import { expect, test } from 'vitest'
import type { Target } from '../../index.js'
import { defineTarget } from '../../index.js'
import type { OperationId, operations } from '../../catalogue/operations.ts'
import type { TargetFile } from '../../harness/target/target-file.ts'

/** Does not compile unless each type fits the other. */
function agree<A, B>(_: [A] extends [B] ? ([B] extends [A] ? true : never) : never): void {}

test('the type of the package entry says the same as the target file that is read', () => {
  agree<Target['resources'], TargetFile['resources']>(true)
  agree<Target['keys'], TargetFile['keys']>(true)
  agree<Target['scenarios'], TargetFile['scenarios']>(true)
  agree<Target['limits'], TargetFile['limits']>(true)
  agree<Target['headers'], TargetFile['headers']>(true)
  agree<keyof Target, keyof TargetFile>(true)
  agree<keyof NonNullable<Target['operations']>, keyof NonNullable<TargetFile['operations']>>(true)
  agree<(typeof operations)[number]['id'], OperationId>(true)
  const file: TargetFile = defineTarget({ name: 'a' })
  expect(file).toEqual({ name: 'a' })
})

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
  expect(defineTarget({ operations: { 'pdf.parse': 'removed', guardrails: 'not-served' } })).toBeDefined()
})
