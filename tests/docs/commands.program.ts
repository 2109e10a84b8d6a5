import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { parse } from 'jsonc-parser'
import { expect, test } from 'vitest'
import { commands } from '../../cli/index.ts'
import { addArguments } from '../../cli/run/arguments.ts'
import { checkTargetFile } from '../../harness/target/check.ts'
import { blocksOf, documents, missing, root } from './blocks.ts'
import { workplace } from './workplace.ts'

const pages = ['README.md', ...documents]
const blocks = pages.flatMap(blocksOf)

test.each(pages.filter((page) => blocks.some((block) => block.page === page && block.run)))(
  'the commands of %s print what the page shows',
  async (page) => {
    const run = await workplace()
    for (const block of blocks.filter((one) => one.page === page && one.run)) {
      const { code, printed } = await run(block)
      expect(printed, block.text).not.toMatch(/\n\s+at |a bug in the suite/)
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
  const all = await Promise.all(Object.values(commands).map((load) => load()))
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
