// npm run fuzz [-- <servers> [<seed>]]: the judge against generated servers, changed responses and servers that conform, and the
// redactor against generated keys, with a seed that is printed: as in the tests, but longer.
import { randomInt } from 'node:crypto'
import { startVitest } from 'vitest/node'

const [servers, seed] = [process.argv[2] ?? '1000', process.argv[3] ?? String(randomInt(1, 2 ** 31))].map(Number)
if (![servers, seed].every((number) => Number.isSafeInteger(number) && number > 0)) {
  console.error('npm run fuzz [-- <servers> [<seed>]]: give whole numbers, at least 1')
  process.exit(2)
}
console.log(`${servers} servers; to repeat: npm run fuzz -- ${servers} ${seed}`)
Object.assign(process.env, { FUZZ_RUNS: String(servers), FUZZ_SEED: String(seed) })
const vitest = await startVitest('test', ['tests/fuzz', 'tests/redact'], { watch: false })
await vitest.close()
