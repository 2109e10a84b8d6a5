import { isRefusal, type Pairs } from '../../catalogue/expected.ts'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import { codeNames } from '../../catalogue/errors.ts'
import { describePairs } from '../../harness/engine/index.ts'
import { sayNeeds, sections } from '../../harness/report/index.ts'
import { missingReason } from '../../harness/target/index.ts'
import { defects } from '../../reference/server.ts'
import { terminalPieces } from '../../reporters/escape.ts'
import type { LinePair } from '../../reporters/view/difference.ts'
import { compactJson, firstOf } from '../../reporters/view/writing.ts'
import type { Line } from '../../reporters/terminal/lines.ts'
import type { Colors } from 'picocolors/types'
import { readFileSync } from 'node:fs'
import { packageFile } from '../../schemas/package-file.ts'
import type { Sent } from './sent.ts'

const mostLines = 12
const JSON_WIDTH = 78

type ExplainedLine =
  | string
  | Reading
  | { readonly code: string; readonly language: 'diff' | 'js' | 'json' | 'sh' | 'text' }

export interface ExplainedPart {
  readonly title: string
  readonly lines: readonly ExplainedLine[]
}

export function explained(
  requirement: CatalogueRequirement,
  shown: Sent,
  colors: Colors,
): ExplainedPart[] {
  const { id } = requirement
  const part = (title: string, lines: readonly ExplainedLine[]): ExplainedPart => ({ title, lines })
  const changed = differenceLines(shown.difference, colors).join('\n')
  const difference = part('The difference from the request that is granted', [
    { code: changed, language: 'diff' },
  ])
  const readings = readingsOf(id)
  const none = 'The interface says it in one place, and nothing else contradicts it.'
  return [
    part('What is sent', sent(requirement, shown.lines)),
    ...(changed === '' ? [] : [difference]),
    part('What passes', passes(requirement)),
    part('Why', readings.length > 0 ? readings : [none]),
    part('What the target must declare', declared(requirement)),
    part('Judge only this', [
      { code: `conform <base_url> --target <file> --only ${id}`, language: 'sh' },
    ]),
    part('How the reference breaks it', broken(id)),
  ]
}

export function explanationLines(
  requirement: CatalogueRequirement,
  shown: Sent,
  colors: Colors,
): Line[] {
  const { id, level, section, statement } = requirement
  return [
    `${colors.bold(id)}  ${level}  ${colors.dim(sections(section))}`,
    { lead: '', width: 0, text: statement },
    ...explained(requirement, shown, colors).flatMap(({ title, lines }) => [
      '',
      colors.bold(title),
      ...lines.flatMap(terminalLine),
    ]),
  ]
}

function terminalLine(line: ExplainedLine): Line[] {
  if (typeof line === 'string') return [`  ${line}`]
  if ('code' in line)
    return line.code.split('\n').map((one): Line => ({ whole: `  ${one}`.trimEnd() }))
  const text = plainText(line.text).replaceAll('\n', ' ')
  return [`  ${text} (catalogue/readings.md, ${line.heading})`]
}

function differenceLines(pairs: readonly LinePair[], colors: Colors): string[] {
  return pairs.flatMap(({ control, isSame, probe = [] }) => {
    if (isSame) return [`  ${terminalPieces(probe, String)}`.trimEnd()]
    return [
      ...(control ? [`- ${terminalPieces(control, (text) => colors.bold(colors.red(text)))}`] : []),
      ...(probe.length > 0
        ? [`+ ${terminalPieces(probe, (text) => colors.bold(colors.green(text)))}`]
        : []),
    ]
  })
}

const controls = {
  credentials: 'As its control, the same request with the full key.',
  request:
    'As its control, the same request without the fault: it is judged only if that one is granted.',
  state:
    'Nothing in the request is wrong: it is granted first, as its control, and refused once the target is in the state that the statement names.',
}

function sent(requirement: CatalogueRequirement, requests: readonly string[]): string[] {
  if (requirement.scenarioOnly) {
    const area = requirement.operation === 'guardrails' || requirement.operation === 'general'
    const whose = area ? 'the operation that the scenario names' : requirement.operation
    return [`The valid request of ${whose}, changed as the scenario of the target file says.`]
  }
  if (requirement.onlyIf === 'removed')
    return [`The request of ${requirement.operation}, with the full key.`]
  if (requests.length === 0)
    return [
      requirement.judgedLast && requirement.effect === 'generates'
        ? 'The jobs that the run makes are read until they have ended, and once more at its end.'
        : 'Nothing of its own: it is judged on what the target answers to the requests of the other requirements.',
    ]
  return [
    ...firstOf(requests, mostLines, 'more of this kind'),
    ...(isRefusal(requirement.expects) && requirement.operation !== 'envelope'
      ? [controls[requirement.fault ?? 'request']]
      : []),
  ]
}

/** Says what passes: only for `2xx-accepted` nothing but the status is judged. */
function successPasses({ id }: CatalogueRequirement, expects: number | '2xx'): string {
  if (id.endsWith('/2xx-accepted')) return 'Any 2xx whose body is not an error envelope.'
  return `${expects === '2xx' ? 'A 2xx' : expects}, and what the statement above asks for besides.`
}

function passes(requirement: CatalogueRequirement): string[] {
  const { expects, expectsByScenario, alsoListed } = requirement
  if (expects === undefined)
    return ['Whatever the statement above asks for: no single status and tpe decide it.']
  if (!isRefusal(expects)) {
    return [successPasses(requirement, expects)]
  }
  return [
    `${describePairs(expects)}.`,
    ...(alsoListed
      ? ["Also a type that §7.3 lists with that status for the scenario's operation."]
      : []),
    ...(expectsByScenario
      ? [`To a scenario of the target file: ${describePairs(expectsByScenario)}.`]
      : []),
    ...family(expects),
  ]
}

function family(pairs: Pairs): string[] {
  const more = pairs.flatMap(([status, ...names]) => {
    if (typeof status !== 'number' || names.length === 0) return []
    const others = codeNames(status)?.filter((name) => !names.includes(name)) ?? []
    return others.length > 0 ? [`${status} ${others.join(' or ')}`] : []
  })
  return more.length > 0 ? [`With --tpe family also ${more.join(', or ')}.`] : []
}

function declared({
  needs,
  onlyIf,
  operation,
  scenarioOnly,
}: CatalogueRequirement): ExplainedLine[] {
  const json = (code: string): ExplainedLine => ({
    code: compactJson(JSON.parse(code), JSON_WIDTH),
    language: 'json',
  })
  if (onlyIf === 'removed')
    return [
      'That it has removed the operation:',
      json(`{"operations": {"${operation}": "removed"}}`),
    ]
  const lacking = missingReason({}, needs, operation)?.why
  if (lacking?.kind !== 'undeclared') return ['Nothing.']
  return [
    `${sayNeeds(lacking.needs)}. For example:`,
    json(lacking.example),
    ...(scenarioOnly ? [] : ['A scenario for the id serves too.']),
  ]
}

function broken(id: string): ExplainedLine[] {
  const names = [id, ...defects.filter((name) => name.startsWith(`${id}#`))].filter((name) =>
    defects.includes(name),
  )
  if (names.length === 0) return ['It cannot.']
  const [first = '', ...others] = names
  const ways = others.map((name) => name.slice(id.length))
  return [
    {
      code: `startReference({ defects: ['${first}'] }), from ai-content-conformance/reference`,
      language: 'js',
    },
    ...(ways.length > 0 ? [`Other ways to break it: ${firstOf(ways, mostLines).join(', ')}`] : []),
  ]
}

/** A paragraph of catalogue/readings.md, in Markdown, and the requirements that it names. */
export interface Reading {
  readonly heading: string
  readonly text: string
  readonly about: readonly string[]
}

let all: readonly Reading[] | undefined

export function readingsOf(id: string): Reading[] {
  all ??= JSON.parse(
    readFileSync(packageFile('catalogue/readings.json'), 'utf8'),
  ) as readonly Reading[]
  return all.filter(({ about }) => about.includes(id))
}

function plainText(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
    .replaceAll(/(?<!\w)_([^_]+)_(?!\w)/g, '$1')
}
