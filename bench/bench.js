// npm run bench [-- --runs 5] [--side <part of a name>] [--json figures.json] [--check] [--accept]: what the suite costs, all sides in one run.
import { parseArgs } from 'node:util'
import { createJiti } from 'jiti'
import { wholeNumber } from './whole-number.js'

const usage = 'npm run bench [-- --runs <n>] [--json <file>] [--check] [--accept]'
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    side: { type: 'string' },
    json: { type: 'string' },
    check: { type: 'boolean', default: false },
    accept: { type: 'boolean', default: false },
  },
})
const jiti = createJiti(import.meta.url, { fsCache: false })
const { printBench } = await jiti.import('./print-bench.ts')
await printBench({ ...values, runs: wholeNumber(values.runs, usage) })
