import { expect, test } from 'vitest'
import { judgingOf } from '../../suites/plan.ts'
import type { Judge } from '../../harness/run/index.ts'
import type { Judged } from '../matrix/judge-reference.ts'
import { judge } from './networks.ts'

const broken = 'translate.run/400-empty-text'

const only = ['translate.run/4*', 'files.list/*']

function expectLoud({ of, results, verdict }: Judged, reason: string): void {
  expect(of(broken)).toMatchObject({
    outcome: 'not-exercised',
    reason: `a mistake of the suite: ${reason}`,
    failures: [],
  })
  expect(verdict).toBe('passing')
  const others = results.filter(
    ({ id }) => id !== broken && /^(translate\.run\/4|files\.list\/)/.test(id),
  )
  expect(new Set(others.map(({ outcome }) => outcome))).toEqual(new Set(['passed']))
}

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
      await judgingOf(broken)?.judge(context)
      throw new Error('afterwards')
    },
    'afterwards',
  ],
  ['a requirement without a check', undefined, 'the requirement has no check'],
])('%s is loud, and takes nothing else with it', async (_, check, reason) => {
  const own = check && { judge: check }
  const judged = await judge(only, {
    depth: 'quick',
    judgingOf: (id) => (id === broken ? own : judgingOf(id)),
  })
  expectLoud(judged, reason)
})

test('so is a mistake while what failed is sent once more', async () => {
  const judged = await judge(only, {
    reference: { defects: [broken] },
    way(_request, send, { purpose }) {
      if (purpose?.requirement !== broken || !purpose.skipPassive) return send()
      throw new TypeError('nothing.at is not a function')
    },
  })
  expectLoud(judged, 'nothing.at is not a function')
})

test('a run that ends during its last preparations is no mistake', async () => {
  const why = 'keys.full: the command failed'
  const { facts, of } = await judge(['files.list/2xx-accepted'], {
    prepare: (run) =>
      Object.assign(run, {
        hooks: {
          ...run.hooks,
          async finish() {
            run.client.life.end('key', why)
            run.client.life.signal.throwIfAborted()
          },
        },
      }),
  })
  expect(facts.ended).toMatchObject({ cause: 'key', reason: why })
  expect(of('files.list/2xx-accepted').outcome).toBe('passed')
})
