import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import { isOperationId, operation as operationOf } from '../../catalogue/operations.ts'
import {
  explained,
  type ExplainedPart,
  type Reading,
  type Sent,
} from '../../cli/explain/explanation.ts'
import pc from 'picocolors'
import { sections } from '../../harness/report/index.ts'

const levels = { must: 'required (must)', should: 'recommended (should)' } as const

/** Our own words, in which no mark of Markdown means anything. */
function plain(text: string): string {
  return text.replaceAll(/[\\`*_<>[\]#|]/g, '\\$&')
}

export function requirementText(requirement: CatalogueRequirement, sent: Sent | undefined): string {
  const { id, level, section, statement } = requirement
  const [requests, ...parts] = explained(
    requirement,
    sent ?? { lines: [], difference: [] },
    pc.createColors(false),
  )
  return [
    `# ${id}`,
    plain(statement),
    `**${levels[level]}** · ${sections(section)} of the interface · ${placeOf(requirement)}`,
    ...(sent ? [partText(requests!, true)] : []),
    ...parts.map((part) => partText(part)),
    '',
  ].join('\n\n')
}

function placeOf({ operation }: CatalogueRequirement): string {
  if (!isOperationId(operation)) return operation
  const { method, path } = operationOf(operation)
  return `\`${method} ${path}\``
}

/** @param isList several lines are items of a list, and not sentences one after the other */
function partText({ title, lines }: ExplainedPart, isList = false): string {
  const isItem = isList && lines.length > 1
  const texts = lines.map((line) => {
    if (typeof line === 'string') return isItem ? `- ${plain(line)}` : plain(line)
    if ('text' in line) return readingText(line)
    const code =
      line.language === 'json' ? JSON.stringify(JSON.parse(line.code), null, 2) : line.code
    return `\`\`\`${line.language}\n${code}\n\`\`\``
  })
  return [`## ${title}`, '', texts.join(isItem ? '\n' : '\n\n')].join('\n')
}

/** A reading; links within it lead to its own page. */
function readingText({ heading, text }: Reading): string {
  const file = '../../catalogue/readings.md'
  const linked = text
    .replaceAll(/\]\((#[^)]*)\)/g, `](${file}$1)`)
    .replaceAll(/\]\((?!\.\.\/\.\.\/|https?:)([\w./-]+\.md)/g, `](../../catalogue/$1`)
  return `${linked}\n\nFrom [Readings: ${heading}](${file}#${anchor(heading)}).`
}

/** The id of a heading, as the hosts of repositories make it. */
export function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s/g, '-')
}

/** A table of all requirements for each operation. */
export function operationIndex(
  requirements: readonly CatalogueRequirement[],
  fileOf: (id: string) => string,
): string {
  const areas = [...new Set(requirements.map(({ operation }) => operation))]
  const tables = areas.flatMap((area) => [
    `## ${area}`,
    [
      '| requirement | level | section | what it asks for |',
      '| --- | --- | --- | --- |',
      ...requirements
        .filter(({ operation }) => operation === area)
        .map(({ id, level, section, statement }) => {
          const link = `[${id.slice(area.length + 1)}](../${fileOf(id)})`
          return `| ${link} | ${level} | ${sections(section)} | ${plain(statement)} |`
        }),
    ].join('\n'),
  ])
  return [
    '# All requirements',
    `${requirements.length} requirements. A must is required, a should is recommended.`,
    ...tables,
    '',
  ].join('\n\n')
}
