import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { expect, test } from 'vitest'
import { commands } from '../../cli/index.ts'
import { addArguments } from '../../cli/run/arguments.ts'
import { formats } from '../../reporters/index.ts'
import { documents, root } from '../docs/blocks.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...documents]

/** The anchor that GitHub gives a heading. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s/g, '-')

test.each(pages)('the links of %s, and the files that it names, exist', (page) => {
  const text = read(page)
  for (const [link, path = '', heading] of text.matchAll(
    /\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g,
  )) {
    const file = path === '' ? join(root, page) : resolve(root, dirname(page), path)
    expect(existsSync(file), link).toBe(true)
    if (heading === undefined) continue
    const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)]
    expect(
      headings.map(([, title]) => anchor(title!)),
      link,
    ).toContain(heading)
  }
  if (page === 'CHANGELOG.md') return
  for (const [, path] of text.matchAll(/`((?:tests|harness|suites|catalogue)\/[\w./-]+\.\w+)`/g))
    expect(existsSync(join(root, path!)), path).toBe(true)
})

test('every option of a run, every command and every report format is documented', () => {
  const page = read('docs/command-line.md')
  for (const { long } of addArguments(new Command()).options) expect(page).toContain(long)
  for (const name of Object.keys(commands)) expect(page).toContain(`conform ${name}`)
  for (const [name, { file }] of Object.entries(formats))
    expect(read('docs/reports.md')).toMatch(new RegExp(`^\\| \`${name}\` +\\| \`${file}\` `, 'm'))
})
