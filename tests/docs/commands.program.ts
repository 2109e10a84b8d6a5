import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { parse } from 'jsonc-parser'
import { expect, test } from 'vitest'
import { commands } from '../../cli/index.ts'
import { addArguments } from '../../cli/run/arguments.ts'
import { readBaseline } from '../../harness/report/baseline.ts'
import { checkTargetFile } from '../../harness/target/check.ts'
import { folder } from '../cli/conform.ts'
import { blocksOf, commandsOf, documents, missing, root } from './blocks.ts'
import { workplace } from './workplace.ts'

const pages = ['README.md', ...documents]
const blocks = pages.flatMap(blocksOf)

test.each(pages.filter((page) => blocks.some((block) => block.page === page && block.run)))(
  'what %s shows is what comes',
  async (page) => {
    const run = await workplace()
    for (const block of blocks.filter((one) => one.page === page && one.run)) {
      const { code, printed } = await run(block)
      expect(printed, block.text).not.toMatch(/\n\s+at |a mistake of the suite/)
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

test('what is shown without a command is what a test expects', () => {
  for (const { page, language, text, by } of blocks.filter(({ by }) => by !== undefined)) {
    if (language !== 'text') continue
    for (const line of text.trimEnd().split('\n'))
      expect(readFileSync(join(root, by!), 'utf8'), page).toContain(line)
  }
})

const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  )

/** Each `conform ...` of a page or a workflow, in a block or within a sentence. */
const workflows = readdirSync(join(root, 'docs/workflows')).map((name) => `docs/workflows/${name}`)
const ofConform = [...pages, ...workflows].flatMap((page) => {
  const text = readFileSync(join(root, page), 'utf8')
  const inline = [...text.matchAll(/`((?:npx )?conform [^`]+)`/g)].map(([, line]) => line!)
  const inBlocks = page.endsWith('.md') ? blocksOf(page).flatMap(commandsOf) : text.split('\n')
  return [...inline, ...inBlocks].flatMap((line) => {
    const [, rest] = /(?:^|[\s(/])conform((?:\s[^|>&)#]*)?)/.exec(line) ?? []
    return rest === undefined || line.includes('npm run conform')
      ? []
      : [[page, rest.trim()] as const]
  })
})

test('each command of the pages has the options that it is shown with', async () => {
  expect(ofConform.length).toBeGreaterThan(60)
  for (const [page, line] of ofConform) {
    const [first = '', ...all] = words(line)
    // What comes after -- is somebody else's.
    const others = all.slice(0, [...all, '--'].indexOf('--'))
    const isCommand = Object.hasOwn(commands, first)
    if (!isCommand && /^[a-z]+$/.test(first)) expect(first, `${page}: conform ${line}`).toBe('help')
    const command = isCommand ? await commands[first]!() : addArguments(new Command())
    const known = new Set(command.options.flatMap(({ short, long }) => [short, long]))
    for (const word of isCommand ? others : [first, ...others]) {
      if (
        word.startsWith('-') &&
        word !== '-' &&
        !/^--(help|version)$/.test(word) &&
        !/^-\d/.test(word)
      )
        expect([...known], `${page}: conform ${line}`).toContain(word.split('=')[0])
    }
  }
})

test('each target file of the pages, and each part of one, is valid', () => {
  const ofTargets = ['docs/recipes.md', 'docs/target-file.md']
  const files = blocks.filter(
    ({ page, language }) => ofTargets.includes(page) && language.startsWith('json'),
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

test('each baseline of the pages is one', () => {
  const files = blocks.filter(({ page, language }) => page === 'docs/ci.md' && language === 'json')
  expect(files).toHaveLength(1)
  const path = join(folder(), 'baseline.json')
  writeFileSync(path, files[0]!.text)
  expect(readBaseline(path, 'exact')).toMatchObject({ entries: [{ reason: 'ticket 231' }, {}] })
})

test('what a page shows is compared loosely, in its order', () => {
  expect(missing('a\n…\nc 1…\n', 'x\na\nb\nc 12 3\n')).toBeUndefined()
  expect(missing('c\na\n', 'a\nc\n')).toBe('a')
  expect(missing('exit 0: …', 'exit 1: no')).toBe('exit 0: …')
  expect(missing('605 requests in 5.1 s, +23', '7 requests in 12 s, +24')).toBeUndefined()
  expect(missing('605 requests in 3.1 s; seed 1', '7 requests in 896 ms; seed 2')).toBeUndefined()
  expect(missing('605 requests in 3.1 s', '605 requests in 3 hops')).toBe('605 requests in 3.1 s')
  for (const exact of ['404 ResourceNotFound', '§4.2', '/404-unknown', 'expected 404 NotFound'])
    expect(missing(exact, exact.replace('4', '5'))).toBe(exact)
})
