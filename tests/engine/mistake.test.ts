import { expect, test } from 'vitest'
import { judgeOf } from '../../suites/suites.ts'
import type { Judge } from '../../harness/engine/index.ts'
import { type Judged, judgeReference } from '../matrix/judge-reference.ts'

const broken = 'translate.run/400-empty-text'
const only = ['translate.*', 'files.list/*']

/** Judges a conforming server, one requirement by that check. */
const judgedBy = (check: Judge | undefined): Promise<Judged> =>
  judgeReference({}, { options: { only }, judgeOf: (id) => (id === broken ? check : judgeOf(id)) })

function expectLoud({ results, verdicts }: Judged, reason: string): void {
  const found = results.find(({ id }) => id === broken)
  expect(found).toMatchObject({
    outcome: 'not-exercised',
    reason: `a mistake of the suite: ${reason}`,
    failures: [],
  })
  expect(verdicts).toEqual({ exact: 'passing', family: 'passing' })
  const others = results.filter(
    ({ id }) => id !== broken && /^(translate\.run|files\.list)\//.test(id),
  )
  expect(new Set(others.map(({ outcome }) => outcome))).toEqual(new Set(['passed']))
}

test('a check that throws what it should not is loud, and takes nothing else with it', async () => {
  const throwing = async (): Promise<never> => {
    throw new TypeError('nothing.at is not a function')
  }
  expectLoud(await judgedBy(throwing), 'nothing.at is not a function')
})

test('a check that throws before it can be awaited is as loud', async () => {
  expectLoud(
    await judgedBy(() => {
      throw new Error('at once')
    }),
    'at once',
  )
})

test('a check that had judged an answer before it threw says nothing of the target', async () => {
  const late: Judge = async (context) => {
    await judgeOf(broken)?.(context)
    throw new Error('afterwards')
  }
  expectLoud(await judgedBy(late), 'afterwards')
})

test('a requirement without a check is as loud', async () => {
  expectLoud(await judgedBy(undefined), 'the requirement has no check')
})
