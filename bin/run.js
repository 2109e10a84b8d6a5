import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { listenForInterrupts } from './interrupts.js'
import { listenForOutputErrors } from './output-errors.js'

/** Runs the command line of this process. */
export async function conform() {
  listenForOutputErrors()
  const [first = '', ...more] = process.argv.slice(2)
  if (/^(-V|--version)$/.test(first) && more.length === 0) return sayVersion()
  // Before anything else: loading takes a moment, and a signal must not go unheard for so long.
  const interrupts = listenForInterrupts()
  // A run is short: much of what V8 of Node.js 20 optimizes never pays for itself (docs/performance.md). Later ones wait longer.
  if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=500000')
  const { main } = await import('../dist/conform.js')
  await main(process.argv, interrupts)
}

/** Says it without loading anything: to load the command line takes as long as Node.js itself. */
function sayVersion() {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  process.stdout.write(`${version}\n`)
}
