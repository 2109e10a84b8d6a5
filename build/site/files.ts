import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Sent } from '../../cli/explain/requests.ts'
import { suiteVersion } from '../../harness/report/assemble-report.ts'
import { pagesAsHtml, sitePages, allPages, htmlPath, type Page, type Site } from './pages.ts'
import MiniSearch from 'minisearch'

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
 * @param sent what is sent for each requirement, by id
 */
export function siteFiles(sent: ReadonlyMap<string, Sent>): Map<string, string> {
  const site = sitePages(sent)
  return new Map([...pagesAsHtml(site, suiteVersion()), ...shared(), ['search-index.js', searchIndex(site)]])
}

/** How a page is found; the page in the browser reads the index with the same. */
export const searchOptions = {
  fields: ['title', 'words', 'text'],
  storeFields: ['title', 'about'],
  searchOptions: { boost: { title: 4, words: 4 }, prefix: true, fuzzy: 0.2, combineWith: 'AND' as const },
}

/** Index of the search, as a script: pages from a folder can load no data. */
function searchIndex(site: Site): string {
  const index = new MiniSearch(searchOptions)
  index.addAll(allPages(site).map(entryOf))
  const options = JSON.stringify(searchOptions)
  return `globalThis.conformSearch = MiniSearch.loadJSON(${JSON.stringify(JSON.stringify(index))}, ${options})\n`
}

function entryOf({ file, isMinor, text, title }: Page) {
  const plain = text
    .replaceAll(/<!--.*?-->/gs, '')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/[#*`|>[\]-]+/g, ' ')
  const paragraph = text.split('\n\n').find((part) => /^[A-Z]/.test(part)) ?? ''
  const about = paragraph.replaceAll(/[*`[\]]|\([^)]*\.md[^)]*\)/g, '').slice(0, 160)
  // An id by its parts: `jobs.create/404-unknown-application` is found by "unknown application".
  const words = title.replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
  return { id: htmlPath(file), title, words: isMinor ? '' : words, text: plain, about }
}
