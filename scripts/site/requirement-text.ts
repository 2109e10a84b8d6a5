import { catalogue, type CatalogueRequirement } from '../../catalogue/catalogue.ts'
import { isOperationId, operation as operationOf } from '../../catalogue/operations.ts'
import { explained, type ExplainedPart, type Reading } from '../../cli/explain/explanation.ts'
import type { Sent } from '../../cli/explain/sent.ts'
import pc from 'picocolors'
import { storyLines } from '../../reporters/view/evidence.ts'
import type { Examples } from './exchanges.ts'
import { type FailureExchange, sections } from '../../harness/report/index.ts'
import { parsedJson } from '../../schemas/json.ts'

const levels = { must: 'required (must)', should: 'recommended (should)' } as const

/** Our own words, in which no mark of Markdown means anything. */
function plain(text: string): string {
  // Braces in pairs would be an expression of the site's library.
  return text.replaceAll(/[\\`*_<>[\]#|]/g, '\\$&').replaceAll('{{', '&#123;&#123;')
}

/** A page: what it asks for, what is sent, how it is read, a right and a wrong exchange, and what stands beside it. */
export function requirementText(
  requirement: CatalogueRequirement,
  sent: Sent | undefined,
  { right, wrong }: Examples = {},
): string {
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
    ...(right ? ['## An exchange that passes', exchangeText(right)] : []),
    ...(wrong
      ? [
          '## An exchange that fails',
          `Expected: ${plain(wrong.expected)}. Received: ${plain(wrong.received)}.`,
          exchangeText(wrong.exchange),
          ...(wrong.story
            ? ['### What happened', `\`\`\`text\n${storyLines(wrong.story).join('\n')}\n\`\`\``]
            : []),
        ]
      : []),
    '## Beside it',
    siblings(requirement),
    '',
  ].join('\n\n')
}

/** Longest body that an example shows, in characters. */
const mostBody = 1200

function exchangeText({ request, response }: FailureExchange): string {
  const { pathname, search } = new URL(request.url)
  const asked = messageText(`${request.method} ${pathname}${search}`, request)
  const answered = response && messageText(`HTTP/1.1 ${response.status}`, response)
  return [asked, answered].map(codeOf).join('\n\n')
}

const codeOf = (text: string | undefined): string =>
  text === undefined ? 'No answer came.' : `\`\`\`http\n${text}\n\`\`\``

const shownHeaders = /^(authorization|content-type|content-disposition|retry-after|x-simulate)$/i

function messageText(
  first: string,
  { headers, body }: { readonly headers: object; readonly body: string },
): string {
  const lines = Object.entries(headers)
    .filter(([name]) => shownHeaders.test(name))
    .map(([name, value]) => `${name}: ${String(value)}`)
  return [first, ...lines, ...(body === '' ? [] : ['', bodyText(body)])].join('\n')
}

function bodyText(body: string): string {
  const value = parsedJson(body)
  const text = value === undefined ? body : JSON.stringify(value, null, 2)
  const shown = text.length > mostBody ? `${text.slice(0, mostBody)}…` : text
  return shown.replaceAll(/^```/gm, ' ```')
}

/** The other requirements of the operation, and those of the same condition elsewhere. */
function siblings({ id, operation }: CatalogueRequirement): string {
  const condition = id.slice(operation.length + 1)
  const links = (isOne: (other: CatalogueRequirement) => boolean): string[] =>
    catalogue
      .filter((other) => other.id !== id && isOne(other))
      .map((other) => `[${other.id}](../${other.id}.md)`)
  const same = links((other) => other.id.endsWith(`/${condition}`))
  const others = links((other) => other.operation === operation)
  return [
    ...(same.length > 0 ? [`- the same elsewhere: ${same.join(', ')}`] : []),
    ...(others.length > 0 ? [`- of ${operation}: ${others.join(', ')}`] : []),
    '- [all requirements](../index.md)',
  ].join('\n')
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
          const link = `[${id.slice(area.length + 1)}](${fileOf(id)})`
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
