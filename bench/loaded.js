// npm run test:loaded [-- [--runs 3] [<part of a file's path>...]]: the tests beside as many busy loops as there are cores, and
// beside twice as many. Says which tests failed. What fails here and not on an idle machine is right by the clock alone.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { wholeNumber } from './whole-number.js'

const usage = "npm run test:loaded [-- [--runs <n>] [<part of a file's path>...]]"
const options = { runs: { type: 'string', default: '3' } }
const { values, positionals } = parseArgs({ options, allowPositionals: true })
const runs = wholeNumber(values.runs, usage)

const root = fileURLToPath(new URL('..', import.meta.url))
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const folder = mkdtempSync(join(tmpdir(), 'conform-loaded-'))
const started = new Set()

/** Starts Node in a process that ends with this one at the latest. */
function startNode(args, stdio) {
  const child = spawn(process.execPath, args, { cwd: root, stdio })
  started.add(child)
  child.once('exit', () => started.delete(child))
  return child
}

function endAll() {
  for (const child of started) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
process.once('exit', endAll)
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
])
  process.once(signal, () => process.exit(code))

/** Each failed test of a report with the first line of what it says, and each file that could not be run. */
function failuresOf({ testResults }) {
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed')
    const told = failed.map(({ fullName, failureMessages: [first = ''] }) => [fullName, first])
    if (failed.length === 0 && message) told.push(['the file', message])
    return told.map(([what, why]) => `  ${relative(root, name)} > ${what}\n    ${why.split('\n')[0]}`)
  })
}

/** Runs the tests once; gives what came of it in words, and whether all is well. */
async function runOnce() {
  const outputFile = join(folder, 'report.json')
  rmSync(outputFile, { force: true })
  const began = performance.now()
  const projects = ['tests', 'programs', 'servers'].flatMap((name) => ['--project', name])
  const args = [vitest, 'run', ...projects, '--reporter', 'json', '--outputFile', outputFile, ...positionals]
  const child = startNode(args, ['ignore', 'ignore', 'pipe'])
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  const [code] = await once(child, 'close')
  const took = `${Math.round((performance.now() - began) / 1000)} s`
  let report
  try {
    report = JSON.parse(readFileSync(outputFile, 'utf8'))
  } catch {
    return { ok: false, text: `FAILED without a report, exit code ${code}, ${took}\n${stderr}` }
  }
  const { numPassedTests, numPendingTests } = report
  const count = `${numPassedTests} passed, ${numPendingTests} skipped, ${took}`
  if (code === 0) return { ok: true, text: count }
  const failures = failuresOf(report)
  const told = failures.length > 0 ? failures.join('\n') : stderr
  return { ok: false, text: `FAILED: ${failures.length} failed, ${count}\n${told}` }
}

const cores = availableParallelism()
let failedRuns = 0
for (const load of [cores, 2 * cores]) {
  const loops = Array.from({ length: load }, () => startNode(['-e', 'for (;;);'], 'ignore'))
  for (let run = 1; run <= runs; run++) {
    const { ok, text } = await runOnce()
    if (!ok) failedRuns += 1
    console.log(`beside ${load} busy loops, run ${run} of ${runs}: ${text}`)
  }
  for (const loop of loops) loop.kill('SIGKILL')
}
console.log(failedRuns === 0 ? 'no run failed' : `${failedRuns} of ${2 * runs} runs failed`)
process.exitCode = failedRuns === 0 ? 0 : 1
