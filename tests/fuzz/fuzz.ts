// npm run fuzz [-- <servers> [<seed>]]: the judge against generated servers, changed responses and servers that conform, and the
// redactor against generated keys, with a seed that is printed: as in the tests, but longer.
import { randomInt } from 'node:crypto'
import { startVitest } from 'vitest/node'
import { wholeNumber } from '../../bench/whole-number.ts'

const usage = 'npm run fuzz [-- <servers> [<seed>]]'
const servers = wholeNumber(process.argv[2] ?? '1000', usage)
const seed = wholeNumber(process.argv[3] ?? String(randomInt(1, 2 ** 31)), usage)
process.stdout.write(`${servers} servers; to repeat: npm run fuzz -- ${servers} ${seed}\n`)
Object.assign(process.env, { FUZZ_RUNS: String(servers), FUZZ_SEED: String(seed) })
const vitest = await startVitest('test', ['tests/fuzz', 'tests/redact'], { watch: false })
await vitest.close()
