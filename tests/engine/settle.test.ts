import { expect, test } from 'vitest'
import type { Client } from '../../harness/client/index.ts'
import { type Ask, Journal, open } from '../../harness/journal/index.ts'
import { settle } from '../../harness/run/index.ts'

const afterTicks = async (ticks: number): Promise<void> => {
  for (let at = 0; at < ticks; at++) await Promise.resolve()
}

test('a bug ends a rule, at whatever moment another of its requests comes back', async () => {
  for (let ticks = 0; ticks < 12; ticks++) {
    const known = { settleMs: 0, madeAt: new Map(), wrongAnywhere: new Set(), spoilers: new Set() }
    const journal = new Journal({ settleMs: 0, jobTimeoutMs: 0 })
    const client = { journal, known, life: { signal: new AbortController().signal } }
    const askOf = (name: string, source: Ask['source']): Ask => ({
      name,
      source,
      purpose: { requirement: null, role: 'probe' },
    })
    const unmade = askOf('unmade', () => afterTicks(5).then(() => open('it cannot be made')))
    const bug = askOf('bug', async () => {
      await afterTicks(ticks)
      throw new TypeError('a bug')
    })
    const isLeft = (one: Ask): boolean => !journal.unsent.has(one.name)
    const rule = () => ({ outcome: 'asks', asks: [unmade, bug].filter(isLeft) }) as const
    const settled = settle(client as unknown as Client, rule)
    const late = new Promise((resolve) => setTimeout(resolve, 200, 'hangs'))
    await expect(Promise.race([settled, late]), `${ticks} ticks`).rejects.toThrow('a bug')
  }
})
