import fc from 'fast-check'
import { expect, test } from 'vitest'
import { validate } from '../../schemas/validate.ts'
import { judgeHostile } from '../hostile/judge-hostile.ts'
import type { JudgeSettings } from '../matrix/judge-reference.ts'
import { proveJunit, proveSound } from '../hostile/proof.ts'
import { type Behaviour, behaviour, startFuzzed } from './fuzzed-server.ts'

/** `npm run fuzz` sets more, and a seed of its own where one is to be looked at again. */
const count = Number(process.env['FUZZ_RUNS'] ?? 24)
const seed = Number(process.env['FUZZ_SEED'] ?? 421)
/** Runs at once. */
const width = 8
/** Runs whose JUnit reports are looked at together. */
const several = 48

/** Operations that take part: all of them in every fourth run, a few in the others. */
const selections = [
  ['*'],
  ['jobs.*', 'envelope/*'],
  ['pdf.parse/*', 'chat.create/*', 'envelope/*'],
  ['files.*', 'graphs.*', 'medical.*'],
]

const settings = (number: number): JudgeSettings => ({
  limits: { timeoutMs: 250, jobTimeoutMs: 400, concurrency: 32 },
  options: {
    only: selections[number % selections.length],
    seed: number,
    depth: number % 8 === 0 ? 'full' : 'quick',
  },
})

async function prove(does: Behaviour, number: number): Promise<void> {
  const server = await startFuzzed(does)
  try {
    const outcome = await judgeHostile(server.url, settings(number))
    expect(outcome.report.requirements.map(({ outcome: found }) => found)).not.toContain(undefined)
    expect(validate('report', outcome.report)).toEqual({ valid: true })
    proveSound(outcome, `behaviour ${number}`)
  } catch (error) {
    throw new Error(`behaviour ${number} of seed ${seed}: ${fc.stringify(does)}`, { cause: error })
  } finally {
    await server.close()
  }
}

test(
  `whatever ${count} servers do, the judge ends with a verdict and a sound report`,
  { timeout: 30_000 * count },
  async () => {
    const behaviours = [...fc.sample(behaviour, { numRuns: count, seed }).entries()]
    for (let at = 0; at < count; at += several) {
      const some = behaviours.slice(at, at + several).values()
      const worker = async (): Promise<void> => {
        for (const [number, does] of some) await prove(does, number)
      }
      await Promise.all(Array.from({ length: width }, worker))
      await proveJunit()
    }
  },
)
