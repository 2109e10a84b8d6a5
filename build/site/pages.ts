import { Marked, type Token } from 'marked'
import MiniSearch from 'minisearch'
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { catalogue, isRequirementId } from '../../catalogue/catalogue.ts'
import type { Sent } from '../../cli/explain/explanation.ts'
import { groupBy } from '../../harness/group-by.ts'
import { suiteVersion } from '../../harness/report/index.ts'
import { htmlAttribute, htmlText } from '../../reporters/escape/html.ts'
import { packageFile } from '../../schemas/package-file.ts'
import { faultMatrixPage } from './fault-matrix-page.ts'
import { anchor, operationIndex, requirementText } from './requirement-text.ts'

/** A page of the site, in Markdown. Its links lead to files of the repository, or to other pages by their `file`. */
interface Page {
  /** `docs/ci.md`; the page has the same path, and ends in `.html`. */
  readonly file: string
  readonly title: string
  readonly text: string
}

/** Pages of people, by what they are for; the order is that of the navigation. */
const guide: Readonly<Record<string, readonly string[]>> = {
  Start: [
    'README.md',
    'docs/for-implementers.md',
    'docs/for-client-developers.md',
    'docs/for-vendors.md',
  ],
  Judging: [
    'docs/command-line.md',
    'docs/target-file.md',
    'docs/recipes.md',
    'docs/reports.md',
    'docs/gateways.md',
  ],
  'While you work': ['docs/watch.md', 'docs/ui.md', 'docs/check.md', 'docs/record.md'],
  'In programs': ['docs/library.md', 'docs/vitest.md', 'docs/standalone.md'],
  Pipelines: ['docs/ci.md', 'docs/github-actions.md', 'docs/gitlab.md'],
  Trust: [
    'docs/proof.md',
    'catalogue/readings.md',
    'docs/certificates.md',
    'SECURITY.md',
    'docs/fault-matrix.md',
  ],
  Project: [
    'docs/versioning.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'docs/performance.md',
    'docs/contributing/mutation-score.md',
  ],
}

/** The home page of a site is called `index.html`. */
function htmlPath(file: string): string {
  return file === 'README.md' ? 'index.html' : file.replace(/\.md$/, '.html')
}

/** Pages that are made for the site alone. */
const made: Readonly<Record<string, () => string>> = { 'docs/fault-matrix.md': faultMatrixPage }

function guidePage(file: string): Page {
  const whole = made[file]?.() ?? readFileSync(packageFile(file), 'utf8')
  const text = whole.replaceAll(/<!--.*?-->/gs, '')
  const [, title = file] = /^# (.*)$/m.exec(text) ?? []
  return { file, title: file === 'README.md' ? 'Overview' : title, text }
}

const requirementFile = (id: string): string => `requirements/${id}.md`

/** The list of all requirements. */
const index: Page = {
  file: 'requirements/index.md',
  title: 'All requirements',
  text: operationIndex(catalogue, requirementFile),
}

/** The text as HTML. All links begin at the root of the site, which the page names as their base. */
function bodyOf({ file, text }: Page, files: ReadonlySet<string>): string {
  const walkTokens = (token: Token): void => {
    if (token.type === 'image') token.href = join(dirname(file), token.href as string)
    if (token.type !== 'link' || /^https?:/.test(token.href as string)) return
    const [path = '', hash] = (token.href as string).split('#')
    const target = path === '' ? file : join(dirname(file), path)
    // What the site does not have (a license, an example) is in the repository.
    token.href = files.has(target) ? htmlPath(target) + (hash === undefined ? '' : `#${hash}`) : ''
  }
  const marked = new Marked({
    walkTokens,
    renderer: {
      heading({ tokens, depth, text: heading }) {
        const id = anchor(heading.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1'))
        return `<h${depth} id="${htmlAttribute(id)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens)
        return href === '' ? inner : `<a href="${htmlAttribute(href)}">${inner}</a>`
      },
      codespan({ text: code }) {
        const shown = `<code>${htmlText(code)}</code>`
        if (!isRequirementId(code) || requirementFile(code) === file) return shown
        return `<a href="${htmlPath(requirementFile(code))}">${shown}</a>`
      },
      code({ text: code, lang = '' }) {
        const lines =
          lang === 'diff' ? code.split('\n').map(differenceLine).join('\n') : htmlText(code)
        return `<pre tabindex="0" aria-label="${lang === '' ? 'Example' : `Example, ${lang}`}" role="group"><code>${lines}</code></pre>\n`
      },
    },
  })
  // What is too wide is moved by keys, too.
  const scrolled = '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>'
  return marked
    .parse(text, { async: false })
    .replaceAll('<table>', scrolled)
    .replaceAll('</table>', '</table></div>')
}

function differenceLine(line: string): string {
  const tag = { '+': 'ins', '-': 'del' }[line.charAt(0)]
  return tag ? `<${tag}>${htmlText(line)}</${tag}>` : htmlText(line)
}

const listOf = (links: readonly (readonly [path: string, title: string])[]): string =>
  `<ul>${links.map(([path, title]) => `<li><a href="${htmlAttribute(path)}">${htmlText(title)}</a></li>`).join('')}</ul>`

function navigation(pages: readonly Page[]): string {
  const people = Object.entries(guide).map(([name, files]) => {
    const own = pages.filter(({ file }) => files.includes(file))
    return `<h2>${name}</h2>${listOf(own.map(({ file, title }) => [htmlPath(file), title]))}`
  })
  const all = htmlPath(index.file)
  const areas = [...groupBy(catalogue, ({ operation }) => operation).keys()]
  const requirements = [
    [all, index.title],
    ...areas.map((area) => [`${all}#${anchor(area)}`, area] as const),
  ] as const
  return `${people.join('')}<h2>Requirements</h2>${listOf(requirements)}`
}

/** @param nav the navigation, which is the same for all pages but for the mark of the one that is shown */
function layout({ file, title }: Page, body: string, nav: string): string {
  const path = htmlPath(file)
  const link = `<a href="${path}"`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<base href="${relative(dirname(path), '.') || '.'}/">
<title>${htmlText(title)} · ai-content-conformance</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="site.css"><script src="site.js" defer></script></head>
<body><a class="skip" href="${path}#main">Skip to the text</a>
<header><a class="home" href="index.html">ai-content-conformance <small>${htmlText(suiteVersion())}</small></a>
<div id="search" role="search" hidden><input type="search" id="find" placeholder="Search ( / )" aria-label="Search all pages" autocomplete="off" aria-controls="found"><div id="found" hidden><p role="status"></p><ol></ol></div></div></header>
<div class="columns"><nav aria-label="Pages"><details id="menu" open><summary>All pages</summary>${nav.replace(`${link}>`, `${link} aria-current="page">`)}</details></nav>
<main id="main" tabindex="-1">${body}</main></div></body></html>
`
}

/**
 * The files of the site, by path; none loads anything from another place.
 * @param sent what is sent for each requirement, by id; what is not known is left out
 */
export function siteFiles(sent: ReadonlyMap<string, Sent>): Map<string, string> {
  const people = Object.values(guide).flat().map(guidePage)
  const requirements = catalogue.map((requirement): Page => {
    const { id } = requirement
    return {
      file: requirementFile(id),
      title: id,
      text: requirementText(requirement, sent.get(id)),
    }
  })
  const pages = [...people, index, ...requirements]
  const files = new Set(pages.map(({ file }) => file))
  const nav = navigation(people)
  const beside = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')
  const minisearch = fileURLToPath(new URL('../umd/index.js', import.meta.resolve('minisearch')))
  return new Map([
    ...pages.map((page) => [htmlPath(page.file), layout(page, bodyOf(page, files), nav)] as const),
    ['site.css', beside('../../reporters/html/style/base.css') + beside('site.css')],
    ['site.js', beside('site.js')],
    [
      'minisearch.js',
      readFileSync(minisearch, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'),
    ],
    ['search-index.js', searchIndex(pages)],
  ])
}

/** How a page is found; the page in the browser reads the index with the same. */
export const searchOptions = {
  fields: ['title', 'words', 'text'],
  storeFields: ['title', 'about'],
  searchOptions: {
    boost: { title: 4, words: 4 },
    prefix: true,
    fuzzy: 0.2,
    combineWith: 'AND' as const,
  },
}

/** Index of the search, as a script: pages from a folder can load no data. */
function searchIndex(pages: readonly Page[]): string {
  const search = new MiniSearch(searchOptions)
  search.addAll(pages.map(entryOf))
  const options = JSON.stringify(searchOptions)
  return `globalThis.conformSearch = MiniSearch.loadJSON(${JSON.stringify(JSON.stringify(search))}, ${options})\n`
}

function entryOf({ file, text, title }: Page) {
  const plain = text.replaceAll(/\]\([^)]*\)/g, ']').replaceAll(/[#*`|>[\]-]+/g, ' ')
  const paragraph = text.split('\n\n').find((part) => /^[A-Z]/.test(part)) ?? ''
  const about = paragraph.replaceAll(/[*`[\]]|\([^)]*\.md[^)]*\)/g, '').slice(0, 160)
  // Found below all others: long, or of use to few. An id is found by its parts: "unknown application".
  const isMinor = guide.Project!.includes(file) || file === index.file
  const words = isMinor ? '' : title.replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
  return { id: htmlPath(file), title, words, text: plain, about }
}
