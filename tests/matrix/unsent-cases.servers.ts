import { expect, test } from 'vitest'
import { defaultLimits } from '../../harness/target/model.ts'
import { judgeLenient } from './lenient.ts'

test.each(['all', 'single faults'] as const)(
  'the usual maxGenerations is enough for a target that grants whatever it may: %s',
  async (grants) => {
    const { rows, reasons, generated } = await judgeLenient(grants, defaultLimits.maxGenerations, [
      '*',
    ])
    expect(reasons).toEqual([])
    expect(rows.filter(({ outcome }) => outcome !== 'passed')).toEqual([])
    expect(rows.length).toBeGreaterThan(6)
    expect(generated).toBeGreaterThan(200)
    expect(generated).toBeLessThanOrEqual(defaultLimits.maxGenerations)
  },
)
