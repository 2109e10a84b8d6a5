import {
  count,
  isLeftOut,
  type Report,
  type RequirementResult,
  sayNeed,
  commonReason,
  outsideCause,
} from '../../harness/report/index.ts'
import { shellWord } from '../../harness/shell-word.ts'
import { byReason, selectedResults } from './groups.ts'
import { failuresOf, type LikelyCause } from './causes.ts'
import { notBuilt, absentOperations } from './operation-map.ts'
import { capital } from './writing.ts'
import { groupBy } from '../../harness/group-by.ts'
import { operation as operationOf, operations } from '../../catalogue/operations.ts'
import { isObject, member, mergePatch, parsedJson } from '../../schemas/json.ts'

/** What to do next: a sentence without a full stop, and the command that does it if there is one. */
export interface NextStep {
  readonly text: string
  readonly command?: string
}

export interface Shown {
  readonly json?: string | undefined
}

/** Path of the JSON report among those that are written, if one is in a file. */
export function jsonFile(
  reports: readonly { readonly format: string; readonly path: string }[],
): string | undefined {
  return reports.find(({ format, path }) => format === 'json' && path !== '-')?.path
}

const MOST = 3

/** What to do next, at most three steps, the one first that tells most; none if the last line says it, or all is well. */
export function nextSteps(report: Report, { json }: Shown = {}): NextStep[] {
  if (isWithoutOutcome(report)) return []
  const { likely, unexpected, unexplained } = failuresOf(report)
  const run = commandIn(report)
  const file = json === undefined ? '' : ` ${shellWord(json)}`
  const isCutShort = report.requirements.some((result) => isLeftOut(result, 'interrupted'))
  const what = isCutShort ? 'Go on with what failed or was cut off' : 'Run again what failed'
  const last =
    isCutShort || (unexpected.length > 0 && report.run.runs > 0)
      ? [{ text: what, command: `${run} --failed${file}` }]
      : []
  const first = [
    ...(report.run.hints ?? []).map((text) => ({ text: capital(text) })),
    ...(likely.some(({ isAbsent }) => isAbsent) ? [] : absentStep(report)),
    ...likely.map((cause) => ({ text: changeOf(cause) })),
    ...unexplainedStep(unexplained),
    ...(unexpected.length === 0 && !isCutShort ? declareStep(report) : []),
  ]
  return [...first.slice(0, MOST - last.length), ...last]
}

function absentStep(report: Report): NextStep[] {
  const absent = notBuilt(report)
  if (absent === undefined) return []
  const { length } = absent.operations
  const them = length === 1 ? 'the operation that is' : `the ${length} operations that are`
  return [{ text: `Build ${them} absent, or paste the lines that say "not-served"` }]
}

function changeOf({ change, results, title }: LikelyCause): string {
  return `${title}. ${capital(change)}: ${count(results.length, 'failure')}`
}

function unexplainedStep([first, ...others]: readonly RequirementResult[]): NextStep[] {
  if (first === undefined) return []
  const more = others.length > 0 ? `, then ${others.length} more` : ''
  return [{ text: `Mend ${first.id}${more}` }]
}

function declareStep(report: Report): NextStep[] {
  const [first, ...others] = notJudged(report).steps
  if (first === undefined) return []
  const names = first.names.map(sayNeed).join(' and ')
  const gain = count(first.ids.length, 'more requirement')
  const more =
    others.length > 0
      ? `; ${count(others.length, 'other')} ${others.length === 1 ? 'is' : 'are'} listed with what to paste`
      : ''
  return [{ text: `Declare ${names}: ${gain} can be tested then${more}` }]
}

/** The command of the run; of a report without it as a failure repeats it, and of one without a failure what is known. */
function commandIn({ requirements, run, target }: Report): string {
  if (run.command !== undefined) return run.command
  const rerun = requirements.flatMap(({ failures }) => failures).at(0)?.rerun
  return rerun?.split(' --only ')[0] ?? `conform ${shellWord(target.baseUrl)}`
}

export interface Step {
  /** `keys.expired`; several if only together they are of use. */
  readonly names: readonly string[]
  /** Requirements that lack nothing else once the steps before it are taken, in report order. */
  readonly ids: readonly string[]
  /** Example to put into the target file; angle brackets are to be filled in. */
  readonly example: Readonly<Record<string, unknown>>
}

/** Steps to declare next, the one first that gains most; for what the server does not have, nothing is to be declared. */
export function whatToDeclare(report: Pick<Report, 'requirements' | 'run'>): Step[] {
  const absent = absentOperations(report)
  const requirements = report.requirements.filter(({ operation }) => !absent.has(operation))
  const steps: Step[] = []
  const declared = new Set<string>()
  const isMet = (names: readonly string[]): boolean => names.some((name) => declared.has(name))
  let left = requirements.flatMap(lackingOf)
  while (left.length > 0) {
    const names = mostWanted(
      left.map(({ needs }) => needs.filter((need) => !isMet(need)).map(([name]) => name!)),
    )
    for (const name of names) declared.add(name)
    const gained = left.filter(({ needs }) => needs.every(isMet))
    left = left.filter((result) => !gained.includes(result))
    const examples = gained.map(({ example }) => ({ example: only(names, example) }))
    steps.push({ names, ids: gained.map(({ id }) => id), example: merged(examples) })
  }
  return steps.sort((a, b) => b.ids.length - a.ids.length)
}

const members = ['keys', 'resources', 'operations', 'scenarios']

/** Finds why selected requirements were not judged: steps that would change it, and the other reasons. */
export function notJudged(report: Report) {
  const selected = selectedResults(report)
  const steps = whatToDeclare({ ...report, requirements: selected })
  const listed = new Set(steps.flatMap(({ ids }) => ids))
  const absent = absentOperations(report)
  const others = selected.filter(({ id, operation }) => !listed.has(id) && !absent.has(operation))
  return {
    // To a server that is down nothing is to be declared.
    steps: isWithoutOutcome(report) ? [] : steps,
    notTested: byReason({ requirements: others }, 'not-exercised'),
    notApplicable: byReason({ requirements: selected }, 'not-applicable'),
  }
}

/** Nothing was judged for a reason that the last lines say: there is no outcome to be shown, and nothing to declare. */
export function isWithoutOutcome(report: Report): boolean {
  const { exit, requirements } = report
  if (
    exit.code !== 3 ||
    requirements.some(({ outcome }) => outcome === 'passed' || outcome === 'failed')
  )
    return false
  return (
    outsideCause(report) !== undefined || commonReason(requirements)?.why?.kind !== 'undeclared'
  )
}

export function gainOf(steps: readonly Step[]): number {
  return steps.reduce((sum, { ids }) => sum + ids.length, 0)
}

function merged(steps: readonly Pick<Step, 'example'>[]): Record<string, unknown> {
  const all = steps.reduce<unknown>((whole, { example }) => mergePatch(whole, example), {})
  return Object.fromEntries(
    members.flatMap((name) => (member(all, name) === undefined ? [] : [[name, member(all, name)]])),
  )
}

/** Cuts the example to those parts: of what another part serves for, nothing is declared. */
function only(
  parts: readonly string[],
  example: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const isOf = (name: string): boolean => parts.some((part) => `${part}.`.startsWith(`${name}.`))
  const kept = Object.entries(example).map(([member, values]): [string, unknown] => {
    if (member === 'scenarios' || !isObject(values)) return [member, values]
    return [
      member,
      Object.fromEntries(Object.entries(values).filter(([name]) => isOf(`${member}.${name}`))),
    ]
  })
  return Object.fromEntries(
    kept.filter(([, values]) => isObject(values) && Object.keys(values).length > 0),
  )
}

/**
 * The steps that most servers can take as they are shown, as one part of a target file. Left out are conditions that the server
 * has to bring about, files that are to be made first, and members of a request that it may not know: with them a request that
 * is granted would be refused.
 */
export function usualPart(steps: readonly Step[]): Record<string, unknown> {
  return merged(
    steps.filter(({ example, names }) => {
      const isMade = Object.values(member(example, 'resources') ?? {}).some(
        (value) => isObject(value) && 'upload' in value,
      )
      return !isMade && !names.some((name) => name.startsWith(scenarios) || isMember(name))
    }),
  )
}

function isMember(name: string): boolean {
  return operations.some(({ id }) => name.startsWith(`operations.${id}.`))
}

function lackingOf({ id, outcome, why }: Report['requirements'][number]) {
  if (outcome !== 'not-exercised' || why?.kind !== 'undeclared') return []
  const example = why.example.length > longestExample ? undefined : parsedJson(why.example)
  if (!isObject(example)) return []
  const needs = why.needs.map((names) => [...new Set(names.map((name) => partOf(name, example)))])
  return [{ id, needs, example }]
}

/** Longer than any that this suite gives: a report may be somebody else's. */
const longestExample = 4096

const scenarios = 'scenarios.'

/**
 * The part of a target file that a name is of: a whole operation, a resource, the scenarios of one condition; of an operation's
 * request a member that not every server takes.
 */
function partOf(name: string, example: Readonly<Record<string, unknown>>): string {
  if (name.startsWith(scenarios)) return `${scenarios}*${name.slice(name.indexOf('/'))}`
  const operation = operations.find(({ id }) => `${name}.`.startsWith(`operations.${id}.`))
  if (operation === undefined) return name.split('.').slice(0, 2).join('.')
  const usual = `operations.${operation.id}`
  const body = member(member(member(example, 'operations'), operation.id), 'body')
  const isExtended =
    isObject(body) &&
    Object.keys(body).some((key) => !Object.hasOwn(operationOf(operation.id).example ?? {}, key))
  return isExtended && name !== `${usual}.body` ? name : usual
}

function mostWanted(wanted: readonly (readonly string[])[]): readonly string[] {
  const unique = wanted.map((names) => [...new Set(names)])
  const groups = [...groupBy(unique, (names) => names.toSorted().join()).values()]
  const [[names = []] = []] = groups.sort(
    (a, b) => b.length - a.length || a[0]!.length - b[0]!.length,
  )
  return names
}
