import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from './conform.ts'
import { conform } from './in-process.ts'

const columns = 60
/** Lines that are copied, and never broken: JSON, requests, commands; and a table, which is narrower than any terminal of today. */
const copied =
  /^ *(?:[{}"[\]+-]|conform |startReference|(?:GET|POST) )|^[\w.-]+( +\d+){4}$|^operation +typical/

const at = folder()
writeFileSync(
  join(at, 'small.json'),
  '{"baseUrl": "http://localhost:9", "name": "small", "limits": {"maxGenerations": 1}}',
)

test.each([
  ['list', ['list', 'translate.run']],
  ['explain', ['explain', 'files.upload/507-storage-full']],
  ['explain, with a difference', ['explain', 'translate.run/400-empty-text']],
  ['--dry-run', ['--target', 'small.json', '--dry-run', '--seed', '1', '--rate', '60/min']],
  ['an error', ['list', 'translate.run/no-such-requirement']],
  ['an error of the command line', ['--report', 'jsno', '--target', 'small.json']],
])(
  '%s: its text is broken between words for a terminal, and stays as it is in a pipe',
  async (_, args) => {
    const settings = { cwd: at, env: { NO_COLOR: '1' } }
    const shown = await conform(args, { ...settings, columns })
    const lines = (shown.stdout + shown.stderr).split('\n')
    const text = lines.filter((line) => !copied.test(line))
    expect(text.length).toBeGreaterThan(1)
    expect(text.filter((line) => line.length > columns)).toEqual([])
    const piped = await conform(args, settings)
    const words = (of: string) =>
      of
        .replaceAll(/[\s§]+/g, ' ')
        .trim()
        .split(' ')
        .toSorted()
    expect((piped.stdout + piped.stderr).split('\n').length).toBeLessThan(lines.length)
    expect(words(piped.stdout + piped.stderr)).toEqual(words(shown.stdout + shown.stderr))
  },
)

test('on a terminal the signs of an error and of a warning are red and yellow', async () => {
  const settings = { cwd: at, columns, env: { NO_COLOR: '', FORCE_COLOR: '1' } }
  const wrong = await conform('list nope', settings)
  expect(wrong.stderr).toMatch(/^\u001b\[31mconform:\u001b\[39m list: no requirement/)
  const warned = await conform('--target small.json --dry-run --key abcdefghijklmnop', settings)
  expect(warned.stderr).toMatch(/^\u001b\[33mconform: warning:\u001b\[39m --key /)
})
