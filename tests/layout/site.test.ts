import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { examplesOf } from '../../scripts/site/exchanges.ts'
import { anchor } from '../../scripts/site/requirement-text.ts'
import { siteSources } from '../../scripts/site/sources.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { renderHtml } from '../../reporters/html.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { requirementPage } from '../../reporters/view/writing.ts'
import { validate } from '../../schemas/validate.ts'
import { failed, report } from '../gates/results.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = siteSources(new Map(), new Map())
const pages = [...files].filter(([path]) => path.endsWith('.md'))

test('each requirement and each document has a page, and the navigation leads to it', () => {
  for (const { id, statement } of catalogue) {
    const text = files.get(`requirements/${id}.md`)!
    expect(text, id).toContain(`# ${id}\n`)
    expect(text.replaceAll('\\', ''), id).toContain(statement)
  }
  const documents = readdirSync(`${root}docs`).filter((name) => name.endsWith('.md'))
  expect(documents.filter((name) => !files.has(`docs/${name}`))).toEqual([])
  const links = [...files.get('navigation.json')!.matchAll(/"link": "\/([^"#]*)/g)]
  const shown = new Set(links.map(([, link = '']) => link.replace(/(^|\/)$/, '$1index.md')))
  expect(pages.map(([path]) => path).filter((path) => !shown.has(path))).toEqual([])
})

test('the page of a requirement says why it passes what it does, what to declare, and what stands beside it', () => {
  const text = files.get('requirements/jobs.create/404-unknown-application.md')!
  expect(text).toContain('404 ResourceNotFound')
  expect(text).toContain('](../../catalogue/readings.md#creating-jobs)')
  expect(text).toContain('```json\n{\n  "resources": {\n    "application": {')
  expect(text).toContain('--only jobs.create/404-unknown-application')
  expect(text).toContain('](409-atomic.md)')
})

test('a requirement has an exchange that passes, as the reference shows it, and one that fails', async () => {
  const id = 'translate.run/400-empty-text'
  const examples = await examplesOf([id])
  const text = siteSources(new Map(), examples).get(`requirements/${id}.md`)!
  const [, right = '', wrong = ''] = text.split(/^## An exchange that (?:passes|fails)$/m)
  for (const one of [right, wrong])
    expect(one).toMatch(/```http\nPOST \/v1\/translate\n[^`]*"text": ""/)
  expect(right).toContain('```http\nHTTP/1.1 400\n')
  expect(wrong).toContain('Expected: 400 InvalidInputParameters')
  expect(wrong).toContain('```http\nHTTP/1.1 200\n')
})

test('of a requirement about jobs the exchange that fails has its story', async () => {
  const id = 'jobs.create/409-job-in-progress'
  const text = siteSources(new Map(), await examplesOf([id])).get(`requirements/${id}.md`)!
  const [, story = ''] = /^### What happened$([\s\S]*?)^## /m.exec(text) ?? []
  expect(story).toMatch(/→ 20\d job B .*✗ this one$/m)
})

test('no link within the site leads nowhere, nor to a heading that is not there', () => {
  const anchors = new Map(
    pages.map(([path, text]) => [
      path,
      new Set(
        [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
          anchor(heading.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')),
        ),
      ),
    ]),
  )
  const links = pages.flatMap(([path, text]) =>
    [
      ...text
        .replaceAll(/^```[\s\S]*?^```$/gm, '')
        .matchAll(/(?<!!\[[^\]]*)\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g),
    ].map(([, link = '', hash]) => ({
      path,
      target: link === '' ? path : join(dirname(path), link),
      hash,
    })),
  )
  expect(links.length).toBeGreaterThan(10_000)
  const dead = links.filter(
    ({ hash, target }) =>
      !files.has(target) || (hash !== undefined && !anchors.get(target)?.has(hash)),
  )
  expect(dead).toEqual([])
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
  expect(files.has('requirements/jobs.create/409-atomic.md')).toBe(true)
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
  for (const name of ['terminal.svg', 'flow.svg', 'report.png', 'watch.svg'])
    expect(readFileSync(join(root, 'docs/pictures', name)).length, name).toBeLessThan(200_000)
})
