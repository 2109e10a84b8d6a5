// npm run test:loaded [-- [--runs 3] [--project tests]... [<part of a file's path>...]]: the tests beside as many busy loops as there are cores, and
// beside twice as many. What fails here and not on an idle machine is right by the clock alone.
import { spawn, spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Command, Option } from 'commander'
import { repeatable, whole } from '../cli/run/arguments.ts'

const command = new Command('loaded')
  .argument('[path...]', "part of a test file's path")
  .addOption(new Option('--runs <n>', 'how often the tests run beside each load').argParser(whole(1, 1_000)).default(3))
  .addOption(repeatable('--project <name>', 'of the tests; default: all three'))
  .parse()
const { project, runs } = command.opts<{ project: readonly string[]; runs: number }>()
const names = project.length > 0 ? project : ['tests', 'programs', 'servers']

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const projects = names.flatMap((name) => ['--project', name])
const args = [vitest, 'run', ...projects, '--reporter', 'dot', ...command.args]

/** Ends with whoever began it, however that ended. */
const busy = 'const parent = process.ppid; while (process.ppid === parent);'

const cores = availableParallelism()
const lines: string[] = []
for (const load of [cores, 2 * cores]) {
  const loops = Array.from({ length: load }, () => spawn(process.execPath, ['-e', busy], { stdio: 'ignore' }))
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
