import { Command } from '@commander-js/extra-typings'
import { readFileSync } from 'node:fs'
import type { Colors } from 'picocolors/types'
import { type CatalogueRequirement, findRequirement } from '../catalogue/catalogue.ts'
import { isRefusal } from '../catalogue/answers.ts'
import { isOperationId, operationOf } from '../catalogue/operations.ts'
import { runOptionsOf } from '../harness/client/index.ts'
import { describePairs } from '../harness/journal/index.ts'
import { matchesId, sayNeeds, sections } from '../harness/report/index.ts'
import { idMeant, loadTargetFile, missingReason, resolveTarget } from '../harness/target/index.ts'
import { UserError } from '../harness/user-error.ts'
import { colorsFor, tell } from '../library/output.ts'
import type { Line } from '../reporters/terminal.ts'
import { compactJson, firstOf, levels } from '../reporters/text.ts'
import { packageFile, referenceTargetFile } from '../schemas/validate.ts'
import { type PlannedCases, plannedCases } from '../suites/plan.ts'

const mostLines = 12
const jsonWidth = 78

export function command() {
  return new Command('explain')
    .description('explain a requirement: what is sent, which answers pass and why, what to declare')
    .argument('<id>', 'id of the requirement (see conform list)')
    .action(async (id) => {
      const { stdout } = process
      const found = findRequirement(id)
      if (!found)
        throw new UserError(`explain ${id}: no requirement has this id${idMeant(id, false)}`)
      tell(stdout, await explanation(found, colorsFor(stdout)))
    })
}

/** Everything that `conform explain` prints. The cases are those that a run against the embedded reference plans. */
export async function explanation(
  requirement: CatalogueRequirement,
  colors: Colors,
): Promise<Line[]> {
  const { id, level, section, statement } = requirement
  const { file, dir } = await loadTargetFile(referenceTargetFile)
  const { target } = await resolveTarget(file, { dir, env: {}, baseUrl: 'http://localhost' })
  const planned = plannedCases(requirement, target, runOptionsOf({ seed: 1, runs: 1 }, ''))
  const why = readings(id)
  const parts: Record<string, readonly Line[]> = {
    'What passes': passes(requirement),
    Why: why.length > 0 ? why : ['The interface states this directly, and nothing contradicts it.'],
    'What is sent': sentLines(requirement, planned),
    'What the target must declare': declared(requirement),
  }
  return [
    `${colors.bold(id)}  ${levels[level]}  ${colors.dim(sections(section))}`,
    { lead: '', width: 0, text: statement },
    ...Object.entries(parts).flatMap(([title, lines]) => [
      '',
      colors.bold(title),
      ...lines.map((line) => (typeof line === 'string' ? `  ${line}` : line)),
    ]),
  ]
}

const copied = (text: string): Line => ({ whole: `  ${text}`.trimEnd() })

function sentLines(
  requirement: CatalogueRequirement,
  planned: PlannedCases | undefined,
): readonly string[] {
  const { expects, fault = 'request', operation, scenarioOnly } = requirement
  if (scenarioOnly) {
    const whose = isOperationId(operation) ? operation : 'the operation that the scenario names'
    return [`The valid request of ${whose}, changed as the scenario of the target file says.`]
  }
  if (requirement.isObserved)
    return ['Nothing: it is judged on the answers to the requests of other requirements.']
  const { cases = [], draft, generated = 0 } = planned ?? {}
  const lines = draft
    ? cases.map((one) => {
        const { method, path } = one.change(draft)
        return `${method} ${path} ${one.what}`.trim()
      })
    : []
  if (lines.length > 0)
    return [
      ...firstOf([...new Set(lines)], mostLines, 'more of this kind'),
      ...(generated > 0 ? ['And generated ones; --runs sets their number.'] : []),
      ...(isRefusal(expects) && operation !== 'envelope' ? [controls[fault]] : []),
    ]
  const own = isOperationId(operation) ? [operationOf(operation)] : []
  return [
    ...own.map((one) => `${one.method} ${one.path}`),
    'The number of requests, and further reads, depend on the answers.',
  ]
}

const controls = {
  credentials: 'And the same request with the full key, as the control.',
  request: 'And the same request without the fault, as the control.',
  state: 'It is valid: the server accepts it, until the target is in the state of the statement.',
}

function passes({ alsoListed, expects, expectsByScenario, id }: CatalogueRequirement): string[] {
  if (expects === undefined)
    return ['What the statement above says; it is not about a single status and tpe.']
  // Only the status of these is judged.
  if (id.endsWith('/2xx-accepted')) return ['Any 2xx whose body is not an error envelope.']
  if (!isRefusal(expects))
    return [`${expects === '2xx' ? 'A 2xx' : expects}, and what the statement above asks for.`]
  return [
    `${describePairs(expects)}.`,
    ...(alsoListed
      ? ["Also a type that §7.3 lists with that status for the scenario's operation."]
      : []),
    ...(expectsByScenario
      ? [`To a scenario of the target file: ${describePairs(expectsByScenario)}.`]
      : []),
  ]
}

function declared({ needs, onlyIf, operation, scenarioOnly }: CatalogueRequirement): Line[] {
  const json = (value: unknown): Line[] => compactJson(value, jsonWidth).split('\n').map(copied)
  if (onlyIf === 'removed')
    return ['That the operation is removed:', ...json({ operations: { [operation]: 'removed' } })]
  const lacking = missingReason({}, needs, operation)?.why
  if (lacking?.kind !== 'undeclared') return ['Nothing.']
  return [
    `${sayNeeds(lacking.needs)}. For example:`,
    ...json(JSON.parse(lacking.example)),
    ...(scenarioOnly ? [] : ['Or a scenario for this id.']),
  ]
}

/** A line that contains only ids in code marks. */
const isIdLine = /^`[^`]+`(?:, `[^`]+`)*$/
const idPattern = /`((?:\*|[a-z-]+(?:\.[a-z-]+)?)\/[0-9a-z*-]+)`/g

/** The questions of catalogue/readings.md that name the requirement, with their answers. */
export function readings(id: string): string[] {
  const text = readFileSync(packageFile('catalogue/readings.md'), 'utf8')
  const questions = text.split(/^### /m).map((one) => one.split(/^## /m)[0]!.trim())
  const own = questions
    .slice(1)
    .filter((one) => [...one.matchAll(idPattern)].some((match) => matchesId(id, match[1]!)))
  return own.map((one) =>
    one
      .split(/\n\n+/)
      .filter((paragraph) => !isIdLine.test(paragraph))
      .join(' ')
      .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
      .replaceAll('**', '')
      .replaceAll(/(?<!\w)_([^_]+)_(?!\w)/g, '$1')
      .replaceAll('\n', ' '),
  )
}
