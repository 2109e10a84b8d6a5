import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Sent } from '../../cli/explain/requests.ts'
import { suiteVersion } from '../../harness/report/assemble-report.ts'
import { pagesAsHtml, sitePages } from './pages.ts'
import { searchIndex } from './search.ts'

const beside = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** What every page loads, and nothing from another place. */
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
