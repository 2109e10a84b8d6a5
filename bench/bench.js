// npm run bench [-- <runs>]: time and memory of the whole command line, request rate, and what each report costs.
import { createJiti } from 'jiti'
import { wholeNumber } from './whole-number.js'

const runs = wholeNumber(process.argv[2] ?? '5', 'npm run bench [-- <runs>]')
const jiti = createJiti(import.meta.url)
const { printBench } = await jiti.import('./print-bench.ts')
await printBench(runs)
