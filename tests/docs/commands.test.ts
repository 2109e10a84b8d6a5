import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { checkTargetFile } from '../../harness/target/check.ts'
import { commands } from '../../cli/commands.ts'
import { addArguments } from '../../cli/run/arguments.ts'
import { startReference } from '../../reference/server.ts'
import { folder, referenceKey, targetFile } from '../cli/conform.ts'
import { type Block, blocksOf, commandsOf, missing, root } from './blocks.ts'

const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
const blocks = ['README.md', ...docs.map((name) => `docs/${name}`)].flatMap(blocksOf)
const shown = blocks.filter(({ language }) => language === 'sh')
const run = shown.filter((block) => block.run)

/** A folder in which `conform`, and `npx conform`, are what was built from this checkout. */
function workplace(url: string): { readonly dir: string; readonly path: string } {
  const dir = folder()
  const bin = join(dir, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'conform'), `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin/conform.js')}' "$@"\n`)
  writeFileSync(join(bin, 'npx'), '#!/bin/sh\nexec "$@"\n')
  for (const name of ['conform', 'npx']) chmodSync(join(bin, name), 0o755)
  renameSync(targetFile(dir, url), join(dir, 'staging.json'))
  return { dir, path: `${bin}:${process.env['PATH']}` }
}

/** Runs the block in a shell, against the reference. Not at once: the reference answers in this process. */
async function output({ text, defects }: Block): Promise<string> {
  const { close, url } = await startReference({ defects: [...defects] })
  try {
    const { dir, path } = workplace(url)
    const script = text.replaceAll('http://localhost:8080', url)
    const env = { PATH: path, HOME: dir, NO_COLOR: '1', CONFORM_API_KEY: referenceKey }
    const child = spawn('bash', ['-c', script], { cwd: dir, env })
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (piece: string) => (printed += piece))
    await new Promise((resolve) => child.on('close', resolve))
    return printed.replaceAll(url, 'http://localhost:8080')
  } finally {
    await close()
  }
}

test.each(run.map((block) => [`${block.page}: ${commandsOf(block)[0]}`, block] as const))(
  'it prints what the page shows: %s',
  async (_, block) => {
    const printed = await output(block)
    expect(printed).not.toMatch(/\n\s+at |a mistake of the suite/)
    if (block.output === undefined) expect(printed).toMatch(/^exit 0: /m)
    else expect(missing(block.output, printed), printed).toBeUndefined()
  },
  120_000,
)

const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare ?? '')

/** Each `conform ...` of any page, also those that no test runs. */
const lines = shown.flatMap((block) => commandsOf(block).map((line) => [block.page, line] as const))
const ofConform = lines.flatMap(([page, line]) => {
  const [, rest] = /(?:^|[\s(])(?:npx )?conform((?:\s[^|>&)]*)?)/.exec(line) ?? []
  return rest === undefined || line.includes('npm run conform') ? [] : [[page, rest.trim()] as const]
})

test('each command of the pages has the options that it is shown with', async () => {
  expect(ofConform.length).toBeGreaterThan(15)
  for (const [page, line] of ofConform) {
    const [first = '', ...others] = words(line)
    const isCommand = Object.hasOwn(commands, first)
    if (!isCommand && /^[a-z]+$/.test(first)) expect(first, `${page}: conform ${line}`).toBe('help')
    const command = isCommand ? await commands[first]!() : addArguments(new Command())
    const known = new Set(command.options.flatMap(({ short, long }) => [short, long]))
    for (const word of isCommand ? others : [first, ...others]) {
      if (word.startsWith('-') && word !== '-' && !/^--(help|version)$/.test(word) && !/^-\d/.test(word))
        expect([...known], `${page}: conform ${line}`).toContain(word.split('=')[0])
    }
  }
})

test('each target file of the recipes is one', () => {
  const files = blocks.filter(({ page, language }) => page === 'docs/recipes.md' && language === 'json')
  expect(files.length).toBeGreaterThan(4)
  for (const { text } of files) checkTargetFile(JSON.parse(text), 'the recipe')
})

test('what a page shows is compared loosely, in its order', () => {
  expect(missing('a\n…\nc 1…\n', 'x\na\nb\nc 12 3\n')).toBeUndefined()
  expect(missing('c\na\n', 'a\nc\n')).toBe('a')
  expect(missing('exit 0: …', 'exit 1: no')).toBe('exit 0: …')
})
