// npm run accusation-score [-- <number of seeds> [--from <seed>]]: how often the suite fails a server that conforms.
import { parseArgs } from 'node:util'
import { compile } from '../compiled.js'
import { wholeNumber } from '../whole-number.js'

const usage = 'npm run accusation-score [-- <number of seeds> [--from <seed>]]'
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { from: { type: 'string', default: '1' } },
})
const count = wholeNumber(positionals[0] ?? '200', usage)
const [address] = await compile(['bench/accusation-score/print-score.ts'])
const { printAccusations } = await import(address)
await printAccusations({ from: wholeNumber(values.from, usage), count })
