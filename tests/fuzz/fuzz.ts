// npm run fuzz [-- <servers> [<seed>]]: the judge against generated servers and servers that conform, and the redactor against
// generated keys, with a seed that is printed: as in the tests, but longer.
import { randomInt } from 'node:crypto'
import { startVitest } from 'vitest/node'
import { Command } from 'commander'
import { whole } from '../../cli/run/arguments.ts'

const drawn = randomInt(1, 2 ** 31)
const [servers, seed] = new Command('fuzz')
  .argument('[servers]', 'how many', whole(1, 1_000_000), 1000)
  .argument('[seed]', 'what is drawn', whole(1, 2 ** 31), drawn)
  .parse().processedArgs as [number, number]
process.stdout.write(`${servers} servers; to repeat: npm run fuzz -- ${servers} ${seed}\n`)
Object.assign(process.env, { FUZZ_RUNS: String(servers), FUZZ_SEED: String(seed) })
for (const [mode, folder] of [
  ['test', 'tests/redact'],
  ['servers', 'tests/fuzz'],
] as const) {
  const options = { watch: false, mode, project: 'tests', passWithNoTests: false }
  const vitest = await startVitest('test', [folder], options)
  await vitest.close()
}
