import { Marked } from 'marked'
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { catalogue, isRequirementId } from '../../catalogue/catalogue.ts'
import { groupBy } from '../../harness/group-by.ts'
import { htmlAttribute, htmlText } from '../../reporters/escape/html.ts'
import { anchor, operationIndex, requirementText } from './requirement-text.ts'
import { createRequire } from 'node:module'
import { suiteVersion } from '../../harness/report/index.ts'
import MiniSearch from 'minisearch'
import type { Sent } from '../../cli/explain/explanation.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A page of the site, in Markdown. Its links lead to files of the repository, or to other pages by their `file`. */
interface Page {
  /** `docs/ci.md`; the page has the same path, and ends in `.html`. */
  readonly file: string
  readonly title: string
  readonly text: string
  /** Its heading in the navigation, or the operation of a requirement. */
  readonly group: string
}

/** Pages of people, by what they are for; the order is that of the navigation. */
const guide: Readonly<Record<string, readonly string[]>> = {
  Start: ['README.md', 'docs/for-implementers.md', 'docs/for-client-developers.md', 'docs/for-vendors.md'],
  Judging: ['docs/command-line.md', 'docs/target-file.md', 'docs/recipes.md', 'docs/reports.md', 'docs/gateways.md'],
  'While you work': ['docs/watch.md', 'docs/ui.md', 'docs/check.md', 'docs/record.md'],
  'In programs': ['docs/library.md', 'docs/vitest.md', 'docs/standalone.md'],
  Pipelines: ['docs/ci.md', 'docs/github-actions.md', 'docs/gitlab.md'],
  Trust: ['docs/proof.md', 'catalogue/readings.md', 'docs/certificates.md', 'SECURITY.md', 'docs/fault-matrix.md'],
  Project: [
    'docs/versioning.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'docs/performance.md',
    'docs/contributing/mutation-score.md',
  ],
}
/** Found by the search below all others: long, or of use to few. */
const minor = ['Project', 'Requirements']

/** The home page of a site is called `index.html`. */
function htmlPath(file: string): string {
  return file === 'README.md' ? 'index.html' : file.replace(/\.md$/, '.html')
}

function guidePage(file: string, group: string): Page {
  const text = readFileSync(`${root}${file}`, 'utf8')
  const [, title = file] = /^# (.*)$/m.exec(text) ?? []
  return { file, title: file === 'README.md' ? 'Overview' : title, text, group }
}

function requirementFile(id: string): string {
  return `requirements/${id}.md`
}

/** The list of all requirements. */
const index: Page = {
  file: 'requirements/index.md',
  title: 'All requirements',
  text: operationIndex(catalogue, requirementFile),
  group: 'Requirements',
}

function allPages(sent: ReadonlyMap<string, Sent>): Page[] {
  const requirements = catalogue.map((requirement): Page => {
    const { id, operation: group } = requirement
    return { file: requirementFile(id), title: id, text: requirementText(requirement, sent.get(id)), group }
  })
  const pages = Object.entries(guide).flatMap(([group, files]) => files.map((file) => guidePage(file, group)))
  return [...pages, index, ...requirements]
}

function bodyOf({ file, text }: Page, files: ReadonlySet<string>): string {
  const folder = dirname(file)
  const linkTo = (target: string): string => relative(dirname(htmlPath(file)), htmlPath(target))
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: heading }) {
        const id = anchor(plainHeading(heading))
        return `<h${depth} id="${htmlAttribute(id)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens)
        if (/^(https?:|#)/.test(href)) return `<a href="${htmlAttribute(href)}">${inner}</a>`
        const [path = '', hash] = href.split('#')
        const target = join(folder, path)
        // What the site does not have (a license, an example) is in the repository.
        if (!files.has(target)) return inner
        return `<a href="${htmlAttribute(linkTo(target) + (hash === undefined ? '' : `#${hash}`))}">${inner}</a>`
      },
      codespan({ text: code }) {
        const shown = `<code>${htmlText(code)}</code>`
        if (!isRequirementId(code) || requirementFile(code) === file) return shown
        return `<a href="${htmlAttribute(linkTo(requirementFile(code)))}">${shown}</a>`
      },
      table(token) {
        const row = (cells: typeof token.header, tag: string): string =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`
        return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead>${row(token.header, 'th')}</thead><tbody>${token.rows.map((cells) => row(cells, 'td')).join('\n')}</tbody></table></div>\n`
      },
      code({ text: code, lang = '' }) {
        return `<pre tabindex="0" aria-label="${htmlAttribute(lang === '' ? 'Example' : `Example, ${lang}`)}" role="group"><code>${lang === 'diff' ? difference(code) : htmlText(code)}</code></pre>\n`
      },
      image({ href, text: alternative }) {
        return `<img src="${htmlAttribute(relative(dirname(htmlPath(file)), join(folder, href)))}" alt="${htmlAttribute(alternative)}">`
      },
    },
  })
  return marked.parse(text.replaceAll(/<!--.*?-->/gs, ''), { async: false })
}

function difference(code: string): string {
  const tags: Readonly<Record<string, string>> = { '+': 'ins', '-': 'del' }
  return code
    .split('\n')
    .map((line) => {
      const tag = tags[line.charAt(0)]
      return tag ? `<${tag}>${htmlText(line)}</${tag}>` : htmlText(line)
    })
    .join('\n')
}

function plainHeading(heading: string): string {
  return heading.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
}

function navigation(groups: ReadonlyMap<string, readonly Page[]>, page: Page, to: (path: string) => string): string {
  const link = ({ file, title }: Page, shown = title): string =>
    `<li><a href="${htmlAttribute(to(htmlPath(file)))}"${file === page.file ? ' aria-current="page"' : ''}>${htmlText(shown)}</a></li>`
  const listOf = (pages: readonly Page[]): string => `<ul>${pages.map((one) => link(one)).join('')}</ul>`
  const people = Object.keys(guide).map((name) => `<h2>${htmlText(name)}</h2>${listOf(groups.get(name)!)}`)
  // Of the requirements only those of one operation: with all 338 on each page the site would be ten times as large.
  const areas = [...groupBy(catalogue, ({ operation }) => operation).keys()].map((area) => {
    if (area !== page.group)
      return `<li><a href="${htmlAttribute(to(htmlPath(index.file)))}#${htmlAttribute(anchor(area))}">${htmlText(area)}</a></li>`
    const pages = groups.get(area)!
    return `<li><b>${htmlText(area)}</b><ul>${pages.map((one) => link(one, one.title.slice(area.length + 1))).join('')}</ul></li>`
  })
  return `${people.join('')}<h2>Requirements</h2><ul>${link(index)}${areas.join('')}</ul>`
}

interface Laid {
  readonly page: Page
  readonly body: string
  readonly nav: string
  /** The path from this page to a file of the site. */
  readonly to: (path: string) => string
  readonly version: string
}

function layout({ body, nav, page, to, version }: Laid): string {
  const at = (path: string): string => htmlAttribute(to(path))
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${htmlText(page.title)} · ai-content-conformance</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="${at('site.css')}"><script src="${at('site.js')}" data-root="${at('.')}" defer></script></head>
<body><a class="skip" href="#main">Skip to the text</a>
<header><a class="home" href="${at('index.html')}">ai-content-conformance <small>${htmlText(version)}</small></a>
<div id="search" role="search" hidden><input type="search" id="find" placeholder="Search ( / )" aria-label="Search all pages" autocomplete="off" aria-controls="found"><div id="found" hidden><p role="status"></p><ol></ol></div></div></header>
<div class="columns"><nav aria-label="Pages"><details id="menu" open><summary>All pages</summary>${nav}</details></nav>
<main id="main" tabindex="-1">${body}</main></div></body></html>
`
}

const beside = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** Files that every page loads, none from another place. */
function shared(): [path: string, text: string][] {
  const minisearch = join(dirname(createRequire(import.meta.url).resolve('minisearch')), '../umd/index.js')
  return [
    ['site.css', beside('../../reporters/html/style/base.css') + beside('site.css')],
    ['site.js', beside('site.js')],
    ['minisearch.js', readFileSync(minisearch, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')],
  ]
}

/**
 * The files of the site, by path.
 * @param sent what is sent for each requirement, by id; what is not known is left out
 */
export function siteFiles(sent: ReadonlyMap<string, Sent>): Map<string, string> {
  const pages = allPages(sent)
  const groups = groupBy(pages, ({ group }) => group)
  const files = new Set(pages.map(({ file }) => file))
  const version = suiteVersion()
  const html = pages.map((page): [path: string, text: string] => {
    const path = htmlPath(page.file)
    const to = (target: string): string => relative(dirname(path), target) || '.'
    return [path, layout({ page, body: bodyOf(page, files), nav: navigation(groups, page, to), to, version })]
  })
  return new Map([...html, ...shared(), ['search-index.js', searchIndex(pages)]])
}

/** How a page is found; the page in the browser reads the index with the same. */
export const searchOptions = {
  fields: ['title', 'words', 'text'],
  storeFields: ['title', 'about'],
  searchOptions: { boost: { title: 4, words: 4 }, prefix: true, fuzzy: 0.2, combineWith: 'AND' as const },
}

/** Index of the search, as a script: pages from a folder can load no data. */
function searchIndex(pages: readonly Page[]): string {
  const search = new MiniSearch(searchOptions)
  search.addAll(pages.map(entryOf))
  const options = JSON.stringify(searchOptions)
  return `globalThis.conformSearch = MiniSearch.loadJSON(${JSON.stringify(JSON.stringify(search))}, ${options})\n`
}

function entryOf({ file, group, text, title }: Page) {
  const plain = text
    .replaceAll(/<!--.*?-->/gs, '')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/[#*`|>[\]-]+/g, ' ')
  const paragraph = text.split('\n\n').find((part) => /^[A-Z]/.test(part)) ?? ''
  const about = paragraph.replaceAll(/[*`[\]]|\([^)]*\.md[^)]*\)/g, '').slice(0, 160)
  // An id by its parts: `jobs.create/404-unknown-application` is found by "unknown application".
  const words = minor.includes(group) ? '' : title.replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
  return { id: htmlPath(file), title, words, text: plain, about }
}
