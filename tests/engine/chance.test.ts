import { expect, test } from 'vitest'
import { idsOf, judgeReference, reasons } from '../matrix/judge-reference.ts'
import { randomFrom } from '../support/lossy-network.ts'
import { judgeBehind } from './behind.ts'
import { losing } from './losing.ts'

const only = ['graphs.*', 'files.*', 'translate.run/*', 'applications.*', 'envelope/large-body']

test.each([
  [0.02, 1],
  [0.1, 14],
  [0.1, 17],
  [0.1, 23],
])('a network that loses %d of all answers fails no requirement, seed %i', async (lost, seed) => {
  const options = { only, seed, backoffMs: 250 }
  const { results, facts } = await judgeReference({}, { network: losing({ seed, lost }), options })
  expect(reasons(results.filter(({ outcome }) => outcome === 'failed'))).toBe('')
  expect(facts.retried).toBeGreaterThan(10)
})

test('what is lost each time is told apart from chance', async () => {
  const network = losing({
    seed: 1,
    lost: 0.1,
    always: (body) => body.includes('"text":""'),
  })
  const options = { only: ['translate.run/*'], backoffMs: 250 }
  const { results } = await judgeReference({}, { network, options })
  expect(idsOf(results, 'failed')).toEqual(['translate.run/400-empty-text'])
})

test.each([6, 7, 11])(
  'a request that hangs twice by chance fails no requirement, seed %i',
  async (seed) => {
    const random = randomFrom(seed)
    let sent = 0
    let hung = 0
    const { report } = await judgeBehind(
      (_, answer) => {
        if (random.of(`hangs ${sent++}`) >= 0.08) return answer()
        hung++
        return new Promise(() => undefined)
      },
      { only: ['translate.run/*', 'ai-detect.run/*', 'web-search.run/*'], backoffMs: 250 },
    )
    expect(hung).toBeGreaterThan(10)
    expect(
      report.requirements.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id),
    ).toEqual([])
  },
)
