/**
 * Most tests of the command line run its sources in this process. What is compiled, in a process of its own, says and decides
 * the same: for each exit code, and for the commands that no page shows. `docs/commands` runs the others, and `serve` and
 * `watch` what goes on until it is ended.
 */
import { hasTerminals, onTerminal } from './terminal.ts'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import {
  bin,
  conformProcess,
  type Ended,
  folder,
  readReport,
  start,
  targetFile,
} from './conform.ts'
import { conform } from './in-process.ts'
import { reference } from './reference.ts'

/** The output without how long it took. */
const timeless = (text: string): string => text.replaceAll(/(\d+ requests?) in [^;]+;/g, '$1;')

/** Runs it both ways. */
async function proveSame(
  args: readonly string[],
  wanted: Pick<Ended, 'code'>,
  cwd = folder(),
): Promise<void> {
  const { code, signal, stdout, stderr } = await conformProcess(args, { cwd })
  expect({ code, signal }).toEqual({ ...wanted, signal: null })
  const here = await conform(args, { cwd })
  expect({ code, stdout: timeless(stdout), stderr: timeless(stderr) }).toEqual({
    code: here.code,
    stdout: timeless(here.stdout),
    stderr: timeless(here.stderr),
  })
}

test.each<[args: string[], code: number]>([
  [['--help'], 0],
  // The process says it before it loads the command line.
  [['--version'], 0],
  // More than a pipe takes at once.
  [['list', '--json'], 0],
  [['--seeed', '4'], 2],
])('%j ends with %i', (args, code) => proveSame(args, { code }))

test('a run that fails ends with 1', async () => {
  const known = 'files.retrieve/404-unknown-file'
  const { url } = await reference({ defects: [known] })
  const cwd = folder()
  const args = ['-t', targetFile(cwd, url), '--only', known, '--seed', '4']
  await proveSame([...args, '--report', 'json=part.json'], { code: 1 }, cwd)
})

test('a run without a target ends with 3', async () => {
  const closed = await reference()
  await closed.close()
  await proveSame([closed.url, '--seed', '1'], { code: 3 })
})

/** Lists the catalogue, its output going where these words of the shell say. */
function listTo(where: string) {
  const line = `set -o pipefail; "$0" "$1" list --json ${where}`
  const { status, stderr } = spawnSync('bash', ['-c', line, process.execPath, bin], {
    encoding: 'utf8',
  })
  return { status, stderr }
}

test.skipIf(!existsSync('/dev/full'))(
  'output that cannot be written: exit 2 and one sentence',
  () => {
    expect(listTo('>/dev/full')).toEqual({
      status: 2,
      stderr: 'conform: cannot write output (ENOSPC)\n',
    })
  },
)

test('a reader that has read enough is no mistake', () => {
  expect(listTo('| head -c 1 >/dev/null')).toEqual({ status: 0, stderr: '' })
})

test.skipIf(!hasTerminals)(
  'of a dead server the keys are shown once, and none for what failed',
  async () => {
    const watch = onTerminal(['watch', 'http://127.0.0.1:1', '-k', 'a-key-of-nobody'], folder())
    await watch.shows('The target does not answer.')
    await watch.shows('q quit')
    watch.types('q')
    const { shown } = await watch.ended
    expect(shown.match(/a run all/g)).toHaveLength(1)
    expect(shown).not.toMatch(/f run/)
  },
)

test('a server that is judged twice is judged the same', async () => {
  const server = start('serve')
  onTestFinished(() => void server.child.kill('SIGKILL'))
  const { target } = JSON.parse(await server.firstLine) as { target: string }
  const cwd = folder()
  const judged = async () => {
    const args = `-t ${target} --depth quick --report json`
    expect((await conform(args, { cwd })).code).toBe(0)
    const { requirements, verdict } = readReport(cwd)
    expect(verdict).toBe('conformant')
    return requirements.map(({ control, id, outcome }) => [id, outcome, control])
  }
  expect(await judged()).toEqual(await judged())
})
