// npm run test:loaded [-- [--runs 3] [--project tests]... [<part of a file's path>...]]: the tests beside as many busy loops as there are cores, and
// beside twice as many. What fails here and not on an idle machine is right by the clock alone.
import { spawn, spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { wholeNumber } from './whole-number.ts'

const { values, positionals } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    project: { type: 'string', multiple: true, default: ['tests', 'programs', 'servers'] },
  },
  allowPositionals: true,
})
const runs = wholeNumber(values.runs, '--runs says how often the tests run beside each load')

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const projects = values.project.flatMap((name) => ['--project', name])
const args = [vitest, 'run', ...projects, '--reporter', 'dot', ...positionals]

const cores = availableParallelism()
const lines: string[] = []
for (const load of [cores, 2 * cores]) {
  const loops = Array.from({ length: load }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
  process.once('exit', () => loops.forEach((loop) => loop.kill('SIGKILL')))
  for (let run = 1; run <= runs; run++) {
    // Which tests failed is the last that vitest says.
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
    if (status === null) process.exit(130)
    lines.push(`beside ${load} busy loops, run ${run} of ${runs}: ${status === 0 ? 'passed' : 'FAILED'}`)
    if (status !== 0) process.exitCode = 1
  }
  for (const loop of loops) loop.kill('SIGKILL')
}
process.stdout.write(`${lines.join('\n')}\n`)
