import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import { isOperationId, operation as operationOf } from '../../catalogue/operations.ts'
import { differenceLines, explained, readingsOf, type Sent } from '../../cli/explain/explanation.ts'
import pc from 'picocolors'
import { sections } from '../../harness/report/index.ts'

const levels = { must: 'required (must)', should: 'recommended (should)' } as const

/** Our own words, in which no mark of Markdown means anything. */
function plain(text: string): string {
  return text.replaceAll(/[\\`*_<>[\]#|]/g, '\\$&')
}

type Part = ReturnType<typeof explained>['sent']

export function requirementText(requirement: CatalogueRequirement, sent: Sent | undefined): string {
  const { id, level, section, statement } = requirement
  const parts = explained(requirement, sent?.lines ?? [])
  const difference = differenceLines(sent?.difference ?? [], pc.createColors(false))
  return [
    `# ${id}`,
    plain(statement),
    `**${levels[level]}** · ${sections(section)} of the interface · ${placeOf(requirement)}`,
    ...(sent ? [partText(parts.sent, true)] : []),
    ...(difference.length > 0
      ? [
          '## What differs from the request that is granted',
          fenced(difference.map((line) => line.slice(2)).join('\n'), 'diff'),
        ]
      : []),
    partText(parts.passes),
    '## Why',
    ...reasons(id),
    partText(parts.declared),
    partText(parts.alone),
    partText(parts.broken),
    '',
  ].join('\n\n')
}

function placeOf({ operation }: CatalogueRequirement): string {
  if (!isOperationId(operation)) return operation
  const { method, path } = operationOf(operation)
  return `\`${method} ${path}\``
}

/** @param isList several lines are items of a list, and not sentences one after the other */
function partText({ title, lines }: Part, isList = false): string {
  const isItem = isList && lines.length > 1
  const texts = lines.map((line) => {
    if (typeof line !== 'string')
      return fenced(line.language === 'json' ? indented(line.code) : line.code, line.language)
    return isItem ? `- ${plain(line)}` : plain(line)
  })
  return [`## ${title}`, '', texts.join(isItem ? '\n' : '\n\n')].join('\n')
}

function indented(json: string): string {
  return JSON.stringify(JSON.parse(json), null, 2)
}

function fenced(code: string, language: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\``
}

/** The readings that name it; links within them lead to their own page. */
function reasons(id: string): string[] {
  const file = '../../catalogue/readings.md'
  const readings = readingsOf(id)
  if (readings.length === 0) return ['The interface says it in one place, and nothing else contradicts it.']
  return readings.flatMap(({ heading, text }) => [
    text
      .replaceAll(/\]\((#[^)]*)\)/g, `](${file}$1)`)
      .replaceAll(/\]\((?!\.\.\/\.\.\/|https?:)([\w./-]+\.md)/g, `](../../catalogue/$1`),
    `From [Readings: ${heading}](${file}#${anchor(heading)}).`,
  ])
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
export function operationIndex(requirements: readonly CatalogueRequirement[], fileOf: (id: string) => string): string {
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
