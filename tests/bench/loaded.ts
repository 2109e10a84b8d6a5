// npm run test:loaded [-- [--runs 3] [--mode servers]... [<part of a file's path>...]]: the tests beside as many busy loops as there are cores, and
// beside twice as many. What fails here and not on an idle machine is right by the clock alone.
import { spawn, spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '3' },
    mode: { type: 'string', multiple: true, default: ['test', 'program', 'servers'] },
  },
})
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--reporter', 'dot', '--project', 'tests']

/** Ends when its parent ends, however that happens. */
const busy = 'const parent = process.ppid; while (process.ppid === parent);'

const cores = availableParallelism()
for (const load of [cores, 2 * cores]) {
  const loops = Array.from({ length: load }, () =>
    spawn(process.execPath, ['-e', busy], { stdio: 'ignore' }),
  )
  for (let run = 1; run <= Number(values.runs); run++) {
    for (const mode of values.mode) {
      const args = [...vitest, '--mode', mode, ...positionals]
      // Which tests failed is the last that vitest says.
      const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
      if (status === null) process.exit(130)
      const outcome = status === 0 ? 'passed' : 'FAILED'
      console.log(`${mode}, beside ${load} busy loops, run ${run} of ${values.runs}: ${outcome}`)
      if (status !== 0) process.exitCode = 1
    }
  }
  for (const loop of loops) loop.kill('SIGKILL')
}
