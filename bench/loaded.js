// npm run test:loaded [-- [--runs 3] [<part of a file's path>...]]: the tests beside as many busy loops as there are cores, and
// beside twice as many. What fails here and not on an idle machine is right by the clock alone.
import { spawn, spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const options = { runs: { type: 'string', default: '3' } }
const { values, positionals } = parseArgs({ options, allowPositionals: true })
const runs = Number(values.runs)
if (!Number.isSafeInteger(runs) || runs < 1) {
  console.error(`--runs ${values.runs}: give how often the tests run beside each load, at least once`)
  process.exit(2)
}

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const projects = ['tests', 'programs', 'servers'].flatMap((name) => ['--project', name])
const args = [vitest, 'run', ...projects, '--reporter', 'dot', ...positionals]

const cores = availableParallelism()
const told = []
for (const load of [cores, 2 * cores]) {
  const loops = Array.from({ length: load }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
  process.once('exit', () => loops.forEach((loop) => loop.kill('SIGKILL')))
  for (let run = 1; run <= runs; run++) {
    // Which tests failed is the last that vitest says.
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
    if (status === null) process.exit(130)
    told.push(`beside ${load} busy loops, run ${run} of ${runs}: ${status === 0 ? 'passed' : 'FAILED'}`)
    if (status !== 0) process.exitCode = 1
  }
  for (const loop of loops) loop.kill('SIGKILL')
}
console.log(told.join('\n'))
