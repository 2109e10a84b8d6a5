import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { searchOptions, siteFiles } from '../../build/site/pages.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { renderHtml } from '../../reporters/html.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { requirementPage } from '../../reporters/view/writing.ts'
import { validate } from '../../schemas/validate.ts'
import { failed, report } from '../gates/results.ts'

import MiniSearch from 'minisearch'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = siteFiles(new Map())
const pages = [...files].filter(([path]) => path.endsWith('.html'))

test('each requirement and each document has a page', () => {
  for (const { id, statement } of catalogue) {
    const text = files.get(`requirements/${id}.html`)!
    expect(text, id).toContain(`<h1 id=`)
    expect(text.replaceAll(/&#?\w+;/g, ''), id).toContain(statement.replaceAll(/[&<>"']/g, ''))
  }
  const documents = readdirSync(`${root}docs`, { encoding: 'utf8', recursive: true }).filter(
    (name) => /\.md$/.test(name),
  )
  expect(documents.filter((name) => !files.has(`docs/${name.replace(/md$/, 'html')}`))).toEqual([])
})

test('the page of a requirement says why it passes what it does, and what to declare', () => {
  const text = files.get('requirements/jobs.create/404-unknown-application.html')!
  expect(text).toContain('404 ResourceNotFound')
  expect(text).toMatch(/From <a href="catalogue\/readings\.html#creating-jobs">/)
  expect(text).toContain(
    '<pre tabindex="0" aria-label="Example, json" role="group"><code>{\n  "resources": {\n    "application": {',
  )
  expect(text).toContain('--only jobs.create/404-unknown-application')
})

test('no link within the site leads nowhere', () => {
  const anchors = new Map(
    pages.map(([path, text]) => [
      path,
      new Set([...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)),
    ]),
  )
  const links = pages.flatMap(([path, text]) => {
    const [, base = ''] = /<base href="([^"]*)">/.exec(text) ?? []
    expect(join(dirname(path), base), path).toBe('./')
    return [
      ...text.matchAll(/<(?!base)[^>]* (?:href|src)="(?!https?:|data:)([^"#]*)(?:#([^"]*))?"/g),
    ].map(([, target = '', hash]) => ({ path, target, hash }))
  })
  expect(links.length).toBeGreaterThan(10_000)
  const dead = links.filter(({ hash, target }) => {
    if (target.startsWith('docs/pictures/')) return !existsSync(join(root, target))
    return !files.has(target) || (hash !== undefined && !anchors.get(target)?.has(hash))
  })
  expect(dead).toEqual([])
})

test('nothing is loaded from another place', () => {
  for (const [path, text] of files) {
    expect(text, path).not.toMatch(/<(?:script|img|iframe)[^>]* src="(?:https?:)?\/\//)
    expect(text, path).not.toMatch(/<link[^>]* href="(?:https?:)?\/\//)
    if (path.endsWith('.css')) expect(text, path).not.toMatch(/url\(|@import/)
  }
})

test.each([
  ['unknown application', 'requirements/jobs.create/404-unknown-application.html'],
  ['409-job-in', 'requirements/jobs.create/409-job-in-progress.html'],
  ['baseline update', 'docs/ci.html'],
  ['certifcate bundl', 'docs/certificates.html'],
])('who looks for %s finds %s', (words, path) => {
  // The script gives the index to the browser: as the argument of loadJSON.
  const [, json = ''] = /loadJSON\((".*"), \{/.exec(files.get('search-index.js')!)!
  const index = MiniSearch.loadJSON(JSON.parse(json) as string, searchOptions)
  expect(
    index
      .search(words)
      .slice(0, 5)
      .map(({ id }) => id as string),
  ).toContain(path)
})

test.each([
  [
    'https://docs.example.com/conform/',
    'https://docs.example.com/conform/requirements/jobs.create/409-atomic.html',
  ],
  ['http://127.0.0.1:8000', 'http://127.0.0.1:8000/requirements/jobs.create/409-atomic.html'],
  // A report may be somebody else's.
  ['javascript:alert(1)', undefined],
  ['https://', undefined],
  [
    'https://a.example/"><b>(c) d',
    'https://a.example/%22%3E%3Cb%3E%28c%29%20d/requirements/jobs.create/409-atomic.html',
  ],
  [undefined, undefined],
])('the site %s has the page %s', (site, page) => {
  expect(requirementPage(site, 'jobs.create/409-atomic')).toBe(page)
  // The page is where the address says.
  expect(files.has('requirements/jobs.create/409-atomic.html')).toBe(true)
})

test('reports link to the page of a requirement if the package names its site, and only then', async () => {
  const plain = report([failed('jobs.create/409-atomic')])
  const linked = { ...plain, suite: { ...plain.suite, site: 'https://docs.example.com' } }
  const page = 'https://docs.example.com/requirements/jobs.create/409-atomic.html'
  const html = async (of: typeof plain): Promise<string> => {
    let text = ''
    for await (const part of renderHtml(of, [])) text += part
    return text
  }
  expect(await html(linked)).toContain(`<a href="${page}">About this requirement</a>`)
  expect(renderMarkdown(linked)).toContain(`[About this requirement](${page})`)
  expect(validate('report', linked)).toEqual({ valid: true })
  expect(`${await html(plain)}${renderMarkdown(plain)}`).not.toContain('About this requirement')
})

test('pictures are no part of the package, and small', () => {
  const { files: packed } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    files: string[]
  }
  expect(packed).toContain('!docs/pictures')
  for (const name of ['terminal.svg', 'flow.svg', 'report.png'])
    expect(readFileSync(join(root, 'docs/pictures', name)).length, name).toBeLessThan(200_000)
})
