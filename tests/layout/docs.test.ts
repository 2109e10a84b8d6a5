import { commands } from '../../cli/index.ts'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { documents } from '../docs/blocks.ts'
import { formats } from '../../reporters/index.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  '.github/CODE_OF_CONDUCT.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...documents,
]
const about = JSON.parse(read('package.json')) as {
  name: string
  files: string[]
  version: string
  scripts: Record<string, string>
}

/** The anchor that a heading gets where these pages are shown. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s/g, '-')

test.each(pages)('every link of %s leads somewhere', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
  for (const [link, path = '', heading] of links) {
    const file = path === '' ? join(root, page) : resolve(join(root, dirname(page)), path)
    expect(existsSync(file), link).toBe(true)
    if (heading === undefined) continue
    const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, text]) =>
      anchor(text!),
    )
    expect(headings, link).toContain(heading)
  }
})

test('no link of a page that is in the package leads to what is not', () => {
  const packed = [...about.files, 'README.md', 'LICENSE', 'package.json']
  const isPacked = (path: string): boolean =>
    packed.some(
      (one) =>
        path === one ||
        path.startsWith(`${one}/`) ||
        (one.endsWith('*.json') && path.endsWith('.json')),
    )
  const inPackage = [...pages, 'catalogue/readings.md'].filter(isPacked)
  expect(inPackage.length).toBeGreaterThan(15)
  for (const page of inPackage) {
    // A picture that is not there shows its words.
    const links = [...read(page).matchAll(/(?<!!\[[^\]]*)\]\((?!https?:)([^)#\s]+)/g)].map(
      ([, path = '']) => path,
    )
    const dead = links.filter(
      (link) => !isPacked(relative(root, resolve(join(root, dirname(page)), link))),
    )
    expect(dead, page).toEqual([])
  }
})

/** Pages to look something up in, and what is made of measurements. */
const references = [
  'CHANGELOG.md',
  'docs/target-file.md',
  'docs/performance.md',
  'docs/contributing/mutation-score.md',
]

test.each(pages.filter((page) => !references.includes(page)))(
  '%s has 1,200 words at most',
  (page) => {
    const told = read(page)
      .replaceAll(/<!--.*?-->/gs, '')
      .replaceAll(/^```[\s\S]*?^```$/gm, '')
      .split(/\s+/)
      .filter((word) => /\w/.test(word))
    expect(told.length).toBeLessThanOrEqual(page === 'README.md' ? 900 : 1200)
  },
)

test('the README begins with what a user of the package types', () => {
  const [first = ''] = /```sh\n([\s\S]*?)```/.exec(read('README.md')) ?? []
  expect(first).toContain(`npm install --save-dev ${about.name}\n`)
})

test('the first commands of the README are scripts', () => {
  const readme = read('README.md')
  expect(readme).toMatch(/^npm ci && npm run conform /m)
  expect(readme).toMatch(/^npm cit /m)
  expect(about.scripts).toMatchObject({
    conform: 'npm run --silent build && node cli/bin/conform.js',
    test: 'vitest run --project tests',
  })
  expect(read('CHANGELOG.md')).toContain(`## ${about.version}`)
})

test('every file that CONTRIBUTING names is there, and every test that a page names', () => {
  const ofUs = read('CONTRIBUTING.md') + read('docs/contributing/requirement.md')
  const named = [...ofUs.matchAll(/`((?:[\w-]+\/)+[\w.-]+\.\w+)`/g)].map(([, path]) => path!)
  expect(named.length).toBeGreaterThan(40)
  const tests = pages.flatMap((page) =>
    [...read(page).matchAll(/`(tests\/[\w./-]+)`/g)].map(([, path]) => path!),
  )
  expect(tests.length).toBeGreaterThan(5)
  expect([...named, ...tests].filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('what CONTRIBUTING shows of a file stands in it', () => {
  const page = read('CONTRIBUTING.md')
  const shown = [...page.matchAll(/^\/\/ ([\w/.-]+)\n([\s\S]*?)(?=^\n|^```)/gm)]
  expect(shown).toHaveLength(2)
  const missing = shown.flatMap(([, path, code]) => {
    const file = read(path!)
    const lines = code!.split('\n').map((line) => line.trim())
    return lines.filter((line) => !file.includes(line))
  })
  expect(missing).toEqual([])
})

test('every option of a run and every command is documented', () => {
  const page = read('docs/command-line.md')
  const help = execFileSync(process.execPath, [join(root, 'cli/bin/conform.js'), '--help'], {
    encoding: 'utf8',
  })
  const options = [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, name]) => name!)
  expect(options.length).toBeGreaterThan(15)
  for (const name of options.filter((option) => !/--(help|version)/.test(option)))
    expect(page).toContain(name)
  for (const name of Object.keys(commands)) {
    expect(page).toContain(`conform ${name}`)
    expect(help).toMatch(new RegExp(`^ {2}${name} `, 'm'))
  }
  for (const [name, { file }] of Object.entries(formats))
    expect(read('docs/reports.md')).toMatch(new RegExp(`^\\| \`${name}\` +\\| \`${file}\` `, 'm'))
})
