/** What does not compile: ids of operations and requirements are literal types, in a target in the call too. */
import { expectTypeOf, test } from 'vitest'
import type { describeConformance } from '../../library/vitest/index.ts'
import type { runConformance, TargetJson } from '../../library/index.ts'

type Described = Extract<Parameters<typeof describeConformance>[0], { baseUrl?: unknown }>

test('a mistyped operation in the target of a call does not compile', () => {
  const right = {
    baseUrl: 'http://x',
    operations: { 'files.upload': { contentType: 'text/plain' } },
  }
  expectTypeOf(right).toExtend<Described>()
  // @ts-expect-error -- there is no files.uploads
  const mistyped: Described = { operations: { 'files.uploads': { contentType: 'text/plain' } } }
  // @ts-expect-error -- there is no files.lists
  const scenario: Parameters<typeof runConformance>[0] = { scenarios: { 'files.lists/x': {} } }
  expectTypeOf([mistyped, scenario]).toBeArray()
  // A file of JSON has whatever it has: its ids are looked at when a run begins.
  const read = { operations: { 'files.uploads': 'not-served' }, limits: { concurrency: 1 } }
  expectTypeOf(read).toExtend<Pick<TargetJson, 'limits'>>()
})
