import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { catalogue, type CatalogueRow } from '../../catalogue/catalogue.ts'
import type { Sent } from '../../cli/explain/requests.ts'
import { operationIndex, requirementText } from './requirement-text.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A page of the site, in Markdown. Its links lead to files of the repository, or to other pages by their `file`. */
export interface Page {
  /** `docs/ci.md`; the page has the same path, and ends in `.html`. */
  readonly file: string
  readonly title: string
  readonly text: string
  /** Found by the search below all others: long, or of use to few. */
  readonly isMinor?: true
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

/** The home page of a site is called `index.html`. */
export function htmlPath(file: string): string {
  return file === 'README.md' ? 'index.html' : file.replace(/\.md$/, '.html')
}

const minor = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'docs/fault-matrix.md',
  'docs/performance.md',
  'docs/contributing/mutation-score.md',
]

function guidePage(file: string): Page {
  const text = readFileSync(`${root}${file}`, 'utf8')
  const [, title = file] = /^# (.*)$/m.exec(text) ?? []
  return {
    file,
    title: file === 'README.md' ? 'Overview' : title,
    text,
    ...(minor.includes(file) && { isMinor: true }),
  }
}

/** Pages of the repository that no heading of the navigation has; none, if nobody forgot one. */
export function forgottenPages(): string[] {
  const all = readdirSync(`${root}docs`, { encoding: 'utf8', recursive: true }).filter((name) => name.endsWith('.md'))
  const known = Object.values(guide).flat()
  return all.map((name) => `docs/${name.replaceAll('\\', '/')}`).filter((file) => !known.includes(file))
}

export interface Site {
  /** By the heading of the navigation. */
  readonly guide: ReadonlyMap<string, readonly Page[]>
  /** By operation. */
  readonly requirements: ReadonlyMap<string, readonly Page[]>
  /** The list of all requirements. */
  readonly index: Page
}

export function requirementFile(id: string): string {
  return `requirements/${id}.md`
}

/** @param sent what is sent for each requirement, by id; what is not known is left out */
export function sitePages(sent: ReadonlyMap<string, Sent>): Site {
  const requirements = new Map<string, Page[]>()
  for (const row of catalogue)
    requirements.set(row.operation, [...(requirements.get(row.operation) ?? []), pageOf(row, sent)])
  return {
    guide: new Map(Object.entries(guide).map(([heading, files]) => [heading, files.map(guidePage)])),
    requirements,
    index: {
      file: 'requirements/index.md',
      title: 'All requirements',
      text: operationIndex(catalogue, requirementFile),
      isMinor: true,
    },
  }
}

function pageOf(row: CatalogueRow, sent: ReadonlyMap<string, Sent>): Page {
  return { file: requirementFile(row.id), title: row.id, text: requirementText(row, sent.get(row.id)) }
}

export function allPages({ guide: pages, index, requirements }: Site): Page[] {
  return [...[...pages.values()].flat(), index, ...[...requirements.values()].flat()]
}
