import MiniSearch from 'minisearch'
import { allPages, htmlPath, type Page, type Site } from './pages.ts'

/** How a page is found; the page in the browser reads the index with the same. */
export const searchOptions = {
  fields: ['title', 'words', 'text'],
  storeFields: ['title', 'about'],
  searchOptions: { boost: { title: 4, words: 4 }, prefix: true, fuzzy: 0.2, combineWith: 'AND' as const },
}

/** What the browser searches in, as a script: pages from a folder can load no data. */
export function searchIndex(site: Site): string {
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
