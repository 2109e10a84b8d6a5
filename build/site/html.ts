import { dirname, join, relative } from 'node:path/posix'
import { Marked } from 'marked'
import { isRequirementId } from '../../catalogue/catalogue.ts'
import { htmlAttribute, htmlText } from '../../reporters/escape/html.ts'
import { allPages, htmlPath, type Page, requirementFile, type Site } from './pages.ts'
import { anchor } from './requirement-text.ts'

/** Each page of the site as HTML, by its path. */
export function pagesAsHtml(site: Site, version: string): Map<string, string> {
  const files = new Set(allPages(site).map(({ file }) => file))
  return new Map(
    allPages(site).map((page) => {
      const path = htmlPath(page.file)
      const to = (target: string): string => relative(dirname(path), target) || '.'
      return [path, layout({ page, body: bodyOf(page, files), nav: navigation(site, page, to), to, version })]
    }),
  )
}

/** What stands in the page, its links turned to pages of the site. */
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

/** A heading without the marks of Markdown. */
function plainHeading(heading: string): string {
  return heading.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
}

function navigation({ guide, index, requirements }: Site, page: Page, to: (path: string) => string): string {
  const link = ({ file, title }: Page, shown = title): string =>
    `<li><a href="${htmlAttribute(to(htmlPath(file)))}"${file === page.file ? ' aria-current="page"' : ''}>${htmlText(shown)}</a></li>`
  const groups = [...guide].map(
    ([heading, pages]) => `<h2>${htmlText(heading)}</h2><ul>${pages.map((one) => link(one)).join('')}</ul>`,
  )
  // Of the requirements only those of one operation: with all 338 on each page the site would be ten times as large.
  const areas = [...requirements].map(([area, pages]) => {
    const isOpen = pages.some(({ file }) => file === page.file)
    if (!isOpen)
      return `<li><a href="${htmlAttribute(to(htmlPath(index.file)))}#${htmlAttribute(anchor(area))}">${htmlText(area)}</a></li>`
    return `<li><b>${htmlText(area)}</b><ul>${pages.map((one) => link(one, one.title.slice(area.length + 1))).join('')}</ul></li>`
  })
  return `${groups.join('')}<h2>Requirements</h2><ul>${link(index)}${areas.join('')}</ul>`
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
