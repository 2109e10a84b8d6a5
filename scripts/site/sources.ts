import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path/posix'
import { catalogue, isRequirementId } from '../../catalogue/catalogue.ts'
import { operations } from '../../catalogue/operations.ts'
import type { Sent } from '../../cli/explain/sent.ts'
import { suiteVersion } from '../../harness/report/index.ts'
import { packageFile } from '../../schemas/package-file.ts'
import { cellsOf, type Part } from '../../tests/spec/fault-matrix.ts'
import type { Examples } from './exchanges.ts'
import { anchor, operationIndex, requirementText } from './requirement-text.ts'

/** Pages of people, by what they are for; the order is that of the navigation. */
const guide: Readonly<Record<string, readonly string[]>> = {
  Start: ['README.md', 'docs/for-implementers.md', 'docs/for-vendors.md', 'docs/questions.md'],
  Judging: [
    'docs/command-line.md',
    'docs/target-file.md',
    'docs/recipes.md',
    'docs/reports.md',
    'docs/failures.md',
    'docs/gateways.md',
  ],
  'While you work': ['docs/watch.md', 'docs/check.md'],
  'In programs': ['docs/library.md', 'docs/vitest.md', 'docs/standalone.md'],
  Pipelines: ['docs/ci.md', 'docs/github-actions.md', 'docs/gitlab.md'],
  Certificates: [
    'docs/certificates.md',
    'docs/sign.md',
    'docs/verify.md',
    'docs/certificate-format.md',
  ],
  Trust: [
    'docs/proof.md',
    'docs/strangers.md',
    'catalogue/readings.md',
    'SECURITY.md',
    'docs/fault-matrix.md',
  ],
  Project: [
    'docs/versioning.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'docs/contributing/requirement.md',
    'docs/performance.md',
    'docs/contributing/mutation-score.md',
  ],
}

const requirementFile = (id: string): string => `requirements/${id}.md`
const index = 'requirements/index.md'

/** Where a page of the repository stands on the site: README.md is its first page. */
const placeOf = (file: string): string => (file === 'README.md' ? 'index.md' : file)

interface Link {
  readonly text: string
  readonly link?: string
  readonly items?: readonly Link[]
}

/**
 * The files that the site is made of, by path.
 * @param sent what is sent for each requirement, by id
 * @param examples exchanges for each requirement, by id; what is not known of either is left out
 */
export function siteSources(
  sent: ReadonlyMap<string, Sent>,
  examples: ReadonlyMap<string, Examples>,
): Map<string, string> {
  const people = Object.values(guide).flat()
  const files = new Set([...people, index, ...catalogue.map(({ id }) => requirementFile(id))])
  const texts = new Map(
    people.map((file) => [
      file,
      file === 'docs/fault-matrix.md'
        ? faultMatrixPage
        : readFileSync(packageFile(file), 'utf8').replaceAll(/<!--.*?-->\n*/gs, ''),
    ]),
  )
  return new Map([
    ...[...texts].map(([file, text]) => [placeOf(file), linked(file, text, files)] as const),
    [index, operationIndex(catalogue, (id) => relative('requirements', requirementFile(id)))],
    ...catalogue.map((requirement) => {
      const { id } = requirement
      const text = requirementText(requirement, sent.get(id), examples.get(id))
      return [
        requirementFile(id),
        `---\nkind: requirement\n---\n\n${linked(requirementFile(id), text, files)}`,
      ] as const
    }),
    ['navigation.json', JSON.stringify(navigation(texts), null, 2)],
    ['fault-matrix.json', JSON.stringify(faultMatrixCells())],
  ])
}

/** Outside of code: links as the site needs them, and the page of each requirement that is named. */
function linked(file: string, text: string, files: ReadonlySet<string>): string {
  const to = (page: string): string => relative(dirname(placeOf(file)), placeOf(page))
  const link = (whole: string, words = '', path = '', hash = ''): string => {
    const page = join(dirname(file), path)
    if (path === '') return whole
    // What the site does not have (a licence, an example) is in the repository.
    return files.has(page) ? `[${words}](${to(page)}${hash})` : words
  }
  const named = (whole: string, id = ''): string =>
    isRequirementId(id) && requirementFile(id) !== file
      ? `[${whole}](${to(requirementFile(id))})`
      : whole
  return text
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part) =>
      part.startsWith('```') ? part : part.replaceAll(aLink, link).replaceAll(anId, named),
    )
    .join('')
}

/** A link to a place of ours, and no picture: its words, the path, the heading. */
const aLink = /(?<!!)\[((?:[^[\]]|\[[^\]]*\])*)\]\((?!https?:)([^)\s#]*)(#[^)\s]*)?\)/g
/** What may be the id of a requirement, and is no words of a link. */
const anId = /(?<!\[)`([a-z*-]+(?:\.[a-z-]+)?\/[0-9a-z*-]+)`(?!\])/g

/** What stands beside the pages, and beside those of the requirements. */
function navigation(texts: ReadonlyMap<string, string>) {
  const page = (file: string): Link => {
    const [, title = file] = /^# (.*)$/m.exec(texts.get(file) ?? '') ?? []
    return {
      text: file === 'README.md' ? 'Overview' : title,
      link: `/${placeOf(file).replace(/(^|\/)index\.md$/, '$1')}`,
    }
  }
  const people: Link[] = Object.entries(guide).map(([text, own]) => ({
    text,
    items: own.map(page),
  }))
  const areas = [...new Set(catalogue.map(({ operation }) => operation))]
  const of = (operation: string): Link[] =>
    catalogue
      .filter((one) => one.operation === operation)
      .map(({ id }) => ({ text: id.slice(operation.length + 1), link: `/${requirementFile(id)}` }))
  const all: Link = { text: 'All requirements', link: '/requirements/' }
  const links = areas.map((text) => ({ text, link: `/requirements/#${anchor(text)}` }))
  return {
    version: suiteVersion(),
    /** By the path that they stand beside; the longest that fits is taken. */
    sidebar: {
      '/': [...people, { text: 'Requirements', items: [all, ...links] }],
      ...Object.fromEntries(
        areas.map((operation) => [
          `/requirements/${operation}/`,
          [all, { text: operation, items: of(operation) }],
        ]),
      ),
    },
  }
}

const headings: Readonly<Record<Part, string>> = {
  keys: 'a key',
  bodies: 'a body as a whole',
  members: 'a member',
  ids: 'an id',
}

/** Every cell: what is wrong, and the requirement, or the reason why it is never sent. */
export function faultMatrixCells() {
  return operations.flatMap(({ id }) =>
    (Object.keys(headings) as Part[]).flatMap((part) =>
      cellsOf(id)[part].map((cell) => ({ ...cell, kind: headings[part] })),
    ),
  )
}

/** A page on which a component of the site shows and filters the cells. */
const faultMatrixPage = `# The fault matrix

Every kind of fault of a request, and at every place where it can be, is a case of a requirement or has a reason why it is never sent. A test holds this page against what a run sends.

<FaultMatrix />
`
