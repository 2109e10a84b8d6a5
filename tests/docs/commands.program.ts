import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { parse } from 'jsonc-parser'
import { expect, onTestFinished, test } from 'vitest'
import { commands } from '../../cli/index.ts'
import { addArguments } from '../../cli/run/arguments.ts'
import { checkTargetFile } from '../../harness/target/load.ts'
import { startReference } from '../../reference/server.ts'
import { folder, referenceKey, targetFile } from '../cli/conform.ts'
import { type Block, blocksOf, commandsOf, documents, missing, root } from './blocks.ts'

interface Ended {
  readonly code: number | null
  /** stdout and stderr, the server's address as the pages write it. */
  readonly printed: string
}

const shownUrl = /http:\/\/(localhost|127\.0\.0\.1):8080/g

/**
 * A folder as a reader has it, in which the blocks of a page run one after the other: the package is installed from this
 * checkout, a server runs, `staging.json` declares all of it, and the key is in the environment.
 */
async function workplace(): Promise<(block: Block) => Promise<Ended>> {
  const dir = folder()
  const bin = join(dir, 'node_modules/.bin')
  mkdirSync(bin, { recursive: true })
  symlinkSync(root, join(dir, 'node_modules/ai-content-conformance'))
  writeFileSync(
    join(bin, 'conform'),
    `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'cli/bin/conform.js')}' "$@"\n`,
  )
  writeFileSync(join(bin, 'npx'), '#!/bin/sh\nexec "$@"\n')
  for (const name of ['conform', 'npx']) chmodSync(join(bin, name), 0o755)
  const server = await startReference()
  onTestFinished(() => server.close())
  renameSync(targetFile(dir, server.url), join(dir, 'staging.json'))
  const PATH = `${bin}:${process.env['PATH']}`
  const env = { PATH, HOME: dir, NO_COLOR: '1', CONFORM_API_KEY: referenceKey }

  return async (block) => {
    const wrong =
      block.defects.length > 0 ? await startReference({ defects: [...block.defects] }) : undefined
    const { url } = wrong ?? server
    const code = block.text.replaceAll(shownUrl, url)
    const name = block.as ?? 'example.mjs'
    if (block.language === 'ts') writeFileSync(join(dir, name), code)
    const started =
      block.as === undefined ? `node ${name}` : `conform ${url} --target ${name} --dry-run`
    const commands = commandsOf({ ...block, text: code }).join('\n')
    // Not at once: the server answers in this process.
    const script = `set -e\n${block.after}\n${block.language === 'ts' ? started : commands}`
    const child = spawn('bash', ['-c', script], { cwd: dir, env })
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (piece: string) => (printed += piece))
    const ended = await new Promise<number | null>((resolve) => child.on('close', resolve))
    await wrong?.close()
    return { code: ended, printed: printed.replaceAll(url, 'http://localhost:8080') }
  }
}

const pages = ['README.md', ...documents]
const blocks = pages.flatMap(blocksOf)

test.each(pages.filter((page) => blocks.some((block) => block.page === page && block.run)))(
  'the commands of %s print what the page shows',
  async (page) => {
    const run = await workplace()
    for (const block of blocks.filter((one) => one.page === page && one.run)) {
      const { code, printed } = await run(block)
      expect(printed, block.text).not.toMatch(/\n\s+at |a (bug in|mistake of) the suite/)
      if (block.output === undefined || block.language === 'console') expect(code, printed).toBe(0)
      if (block.output !== undefined)
        expect(missing(block.output, printed), printed).toBeUndefined()
    }
  },
)

test('every block of commands is run, here or by what its comment names', () => {
  for (const { page, language, text, run, by } of blocks) {
    if (by !== undefined) expect(existsSync(join(root, by)), by).toBe(true)
    if (/^(sh|console|ts)$/.test(language))
      expect(run || by !== undefined, `${page}:\n${text}`).toBe(true)
  }
})

test('each conform command of the pages and workflows exists, with its options', async () => {
  const all = await Promise.all(
    Object.values(commands).map(async (load) => (await load()).command()),
  )
  const known = [addArguments(new Command()), ...all].flatMap(({ options }) =>
    options.flatMap(({ long, short }) => [long, short]),
  )
  const workflows = readdirSync(join(root, 'docs/workflows')).map(
    (name) => `docs/workflows/${name}`,
  )
  for (const page of [...pages, ...workflows]) {
    const text = readFileSync(join(root, page), 'utf8')
    for (const [, line = ''] of text.matchAll(/(?:^|[\s`(/])conform((?: [^\n`|>&#)]+)+)/g)) {
      const [own = ''] = line.split(' -- ')
      for (const [, option] of own.matchAll(/ (--?[a-z][\w-]*)/g))
        expect([...known, '--help', '--version'], `${page}: conform${line}`).toContain(option)
    }
  }
})

test('each target file of the pages, and each part of one, is valid', () => {
  const files = blocks.filter(
    ({ page, language }) => /recipes|target-file/.test(page) && language.startsWith('json'),
  )
  expect(files.length).toBeGreaterThan(10)
  for (const { page, text: shown } of files) {
    const text = shown.replaceAll(/<[^<>]+>/g, 'filled-in')
    const part = parse(text.startsWith('{') ? text : `{${text}}`, [], {
      allowTrailingComma: true,
    }) as object
    checkTargetFile({ baseUrl: 'http://localhost:8080', ...part }, page)
  }
})
