import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { operations } from '../../catalogue/operations.ts'
import { commands } from '../../cli/index.ts'
import { addArguments } from '../../cli/run/arguments.ts'
import { runOptionsOf } from '../../harness/client/index.ts'
import { resolveTarget } from '../../harness/target/index.ts'
import { formats } from '../../reporters/index.ts'
import { planRun } from '../../suites/plan.ts'
import { documents, root } from '../docs/blocks.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const others = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md']
const pages = [...others, 'catalogue/readings.md', ...documents]

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

/** What each page shows of the numbers of operations and of required checks. */
async function numbers(): Promise<Readonly<Record<string, readonly string[]>>> {
  const known = { dir: root, env: { CONFORM_API_KEY: 'a key' }, baseUrl: 'http://localhost' }
  const { target } = await resolveTarget({}, known)
  const plan = planRun(target, runOptionsOf({}, 'conform'))
  const required = catalogue.filter(({ level, onlyIf }) => level === 'must' && !onlyIf)
  const tested = required.filter(({ id }) => plan.get(id)?.run).length
  const all = operations.length
  const untested = `${required.length - tested} not tested`
  const passed = `Conformant: ${required.length} required checks passed`
  const started = [
    `${all} operations: 1 working, ${all - 1} only authentication tested`,
    `Incomplete: ${tested} required checks passed, ${untested}`,
    `no required check failed, ${untested}`,
  ]
  return {
    'README.md': [passed, ...started],
    'docs/for-implementers.md': started,
    'docs/for-vendors.md': [
      passed,
      `--require-operations ${all}`,
      `operations judged: ${all} of ${all}`,
      `declares ${all - 1} of ${all} operations`,
    ],
  }
}

test('the pages show as many operations and required checks as the catalogue has; -u writes the numbers', async () => {
  for (const [page, lines] of Object.entries(await numbers())) {
    let text = read(page)
    for (const line of lines) {
      const shown = new RegExp(line.replaceAll(/\d+/g, '\\d+'), 'g')
      expect(text).toMatch(shown)
      text = text.replaceAll(shown, line)
    }
    await expect(text).toMatchFileSnapshot(join(root, page))
  }
})
