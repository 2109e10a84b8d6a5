import { expect, test } from 'vitest'
import { judgeOf } from '../../suites/suites.ts'
import type { Judge } from '../../harness/engine/index.ts'
import { judge } from './networks.ts'

const broken = 'translate.run/400-empty-text'

test.each<[string, Judge | undefined, string]>([
  [
    'a check that throws what it should not',
    async () => {
      throw new TypeError('nothing.at is not a function')
    },
    'nothing.at is not a function',
  ],
  [
    'a check that throws before it can be awaited',
    () => {
      throw new Error('at once')
    },
    'at once',
  ],
  [
    'a check that had judged an answer before it threw',
    async (context) => {
      await judgeOf(broken)?.(context)
      throw new Error('afterwards')
    },
    'afterwards',
  ],
  ['a requirement without a check', undefined, 'the requirement has no check'],
])('%s is loud, and takes nothing else with it', async (_, check, reason) => {
  const { of, results, verdicts } = await judge(['translate.run/4*', 'files.list/*'], {
    judgeOf: (id) => (id === broken ? check : judgeOf(id)),
  })
  expect(of(broken)).toMatchObject({
    outcome: 'not-exercised',
    reason: `a mistake of the suite: ${reason}`,
    failures: [],
  })
  expect(verdicts).toEqual({ exact: 'passing', family: 'passing' })
  const others = results.filter(
    ({ id }) => id !== broken && /^(translate\.run\/4|files\.list\/)/.test(id),
  )
  expect(new Set(others.map(({ outcome }) => outcome))).toEqual(new Set(['passed']))
})
