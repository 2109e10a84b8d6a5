/**
 * Most tests of the command line run its sources in this process. What is compiled, in a process of its own, says and decides
 * the same: for each exit code, and for the commands that no page shows. `docs/commands` runs the others, and `serve`, `watch`
 * and `ui/server` what goes on until it is ended.
 */
import { expect, test } from 'vitest'
import { conformProcess, type Ended, folder, targetFile } from './conform.ts'
import { conform } from './in-process.ts'
import { reference } from './reference.ts'

/** What was said, but for how long it took. */
const timeless = (text: string): string => text.replaceAll(/(\d+ requests?) in [^;]+;/g, '$1;')

/** Runs it both ways. */
async function proveSame(args: readonly string[], wanted: Pick<Ended, 'code'>, cwd = folder()): Promise<void> {
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
  [['completion', 'fish'], 0],
  [['--seeed', '4'], 2],
])('%j ends with %i', (args, code) => proveSame(args, { code }))

test('a run that fails ends with 1, and so does its report when it is merged', async () => {
  const known = 'files.retrieve/404-unknown-file'
  const { url } = await reference({ defects: [known] })
  const cwd = folder()
  const args = ['-t', targetFile(cwd, url), '--only', known, '--seed', '4', '--shard', '1/1']
  await proveSame([...args, '--report', 'json=part.json'], { code: 1 }, cwd)
  await proveSame(['merge', 'part.json', '--report', 'json=-'], { code: 1 }, cwd)
})

test('a run without a target ends with 3', async () => {
  const closed = await reference()
  await closed.close()
  await proveSame([closed.url, '--seed', '1'], { code: 3 })
})
