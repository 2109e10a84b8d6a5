// npm run fuzz [-- <servers> [<seed>]]: as in `npm test`, but longer and with a seed of its own, which is printed.
import { randomInt } from 'node:crypto'
import { startVitest } from 'vitest/node'

const [servers = '1000', seed = String(randomInt(2 ** 31))] = process.argv.slice(2)
for (const given of [servers, seed]) {
  if (/^\d{1,10}$/.test(given)) continue
  console.error(`fuzz: ${given} is no number; npm run fuzz -- [<servers> [<seed>]]`)
  process.exit(2)
}
console.log(`${servers} servers; to repeat: npm run fuzz -- ${servers} ${seed}`)
Object.assign(process.env, { FUZZ_RUNS: servers, FUZZ_SEED: seed })
const vitest = await startVitest('test', ['tests/fuzz'], { watch: false })
await vitest.close()
