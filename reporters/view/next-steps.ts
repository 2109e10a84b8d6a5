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
import { failuresOf, isMust, type LikelyCause } from './causes.ts'
import { absentOperations, answering, notBuilt } from './operation-map.ts'
import { isNothingWorking } from './standing.ts'
import { capital, firstOf } from './writing.ts'
import { shortened } from '../escape.ts'
import { groupBy } from '../../harness/group-by.ts'
import { operation as operationOf, operations } from '../../catalogue/operations.ts'
import { isObject, member, mergePatch, parsedJson } from '../../schemas/json.ts'

/** A next step: a sentence without a full stop; its command, or what to paste into the target file. */
export interface NextStep {
  readonly text: string
  readonly command?: string
  readonly paste?: unknown
}

const MOST = 4

/** The next steps, the most useful first: at most four, including how to rerun failures. */
export function nextSteps(report: Report): NextStep[] {
  const { exit, requirements, run, verdict } = report
  const { hints = [], runs, statuses = [] } = run
  const isOutside = verdict === 'not-judged' && exit.outside === true
  if (isWithoutOutcome(report) || (isOutside && statuses.length === 1) || isKeyRefused(report))
    return notJudgedSteps(report)
  const { likely, unexpected, unexplained } = failuresOf(report)
  const isCutShort = requirements.some((result) => isLeftOut(result, 'interrupted'))
  const text = isCutShort ? 'Run what failed and what was not tested' : 'Run only what failed'
  const isRerun = isCutShort || (unexpected.length > 0 && runs > 0)
  const changes = (causes: readonly LikelyCause[]): NextStep[] =>
    causes.map((cause) => ({
      text: `${capital(cause.change)}: ${count(cause.results.length, 'failure')}`,
    }))
  const causes = likely.filter((one) => !one.isAbsent && !one.isEverything)
  const isRequired = (likelyCause: LikelyCause): boolean => likelyCause.results.some(isMust)
  const [first, ...others] = unexplained
  const more = others.length > 0 ? ` first, then ${others.length} more` : ''
  const fix = first === undefined ? [] : [{ text: `Fix ${first.id}${more}` }]
  const steps = [
    ...hints.map((hint) => ({ text: capital(hint) })),
    ...(hints.length > 0 ? [] : changes(likely.filter((one) => one.isEverything))),
    ...notBuiltStep(report),
    ...(hints.length > 0 && isNothingWorking(report)
      ? []
      : [
          ...changes(causes.filter(isRequired)),
          ...(first && isMust(first) ? fix : []),
          ...answeringStep(report),
          ...declareStep(report),
          ...changes(causes.filter((cause) => !isRequired(cause))),
          ...(first && !isMust(first) ? fix : []),
        ]),
  ]
  return [
    ...steps.slice(0, MOST),
    ...(isRerun ? [{ text, command: `${commandIn(report)} --failed` }] : []),
  ]
}

/** Every answer was 401, and nothing could be judged: `statuses` counts them. */
function isKeyRefused({ exit, run, verdict }: Report): boolean {
  const isOutside = verdict === 'not-judged' && exit.outside === true
  return isOutside && run.statuses?.some((statuse) => statuse.status === 401) === true
}

const temporary: readonly number[] = [429, 502, 503, 504]

function notJudgedSteps(report: Report): NextStep[] {
  const { exit, run, target, verdict } = report
  const { statuses = [] } = run
  const command = commandIn(report)
  if (isKeyRefused(report))
    return [{ text: 'Give a key that the server accepts, and run again', command }]
  if (exit.outside !== true) return []
  if (statuses.length === 0)
    return [
      {
        text: `Start the server or correct the address (${target.baseUrl}), and run again`,
        command: `${command} --wait 30000`,
      },
    ]
  // The status of every answer. The last line says what to do about a redirect, and about one that passes.
  const [{ status } = { status: 0 }, ...others] = statuses
  const isRedirect = status >= 300 && status < 400
  if (verdict !== 'not-judged' || others.length > 0 || isRedirect || temporary.includes(status))
    return []
  return status >= 500
    ? [{ text: 'Find this error in the log of the server, fix it, and run again', command }]
    : [{ text: `Correct the base URL (${target.baseUrl}), and run again` }]
}

function notBuiltStep(report: Report): NextStep[] {
  const absent = notBuilt(report)
  if (absent === undefined) return []
  const { length } = absent.operations
  const them = length === 1 ? absent.operations[0]! : `the ${length} missing operations`
  return [
    {
      text: `Build ${them} (received ${shortened(absent.answer, 60)}), or declare what you do not offer:`,
      paste: absent.part,
    },
  ]
}

function answeringStep(report: Report): NextStep[] {
  const all = answering(report)
  if (all.length === 0) return []
  return [
    {
      text: `Remove "not-served" from the target file for operations that answer, or take them off the server: ${firstOf(all, 3).join(', ')}`,
    },
  ]
}

const MOST_NAMED = 4

function declareStep(report: Report): NextStep[] {
  const { steps } = notJudged(report)
  if (steps.length === 0) return []
  const named = steps.map(
    (step) => `${step.names.map(sayNeed).join(' and ')} (+${step.ids.length})`,
  )
  const text = `To test ${count(gainOf(steps), 'more requirement')}, declare ${firstOf(named, MOST_NAMED).join(', ')}`
  // A file of comments helps with many parts; the last ones are conditions that only a scenario causes.
  return Object.keys(usualPart(steps)).length > 0
    ? [{ text: `${text}; this writes the file:`, command: `${programOf(report)} init --from` }]
    : [{ text: `${text}, for example:`, paste: steps[0]!.example }]
}

/** `npx conform`, if the run was started so. */
export function programOf(report: Report): string {
  return /^npx \S+/.exec(report.run.command ?? '')?.[0] ?? 'conform'
}

export function commandIn({ requirements, run, target }: Report): string {
  if (run.command !== undefined) return run.command
  const rerun = requirements.flatMap((requirement) => requirement.failures).at(0)?.rerun
  return rerun?.split(' --only ')[0] ?? `conform ${shellWord(target.baseUrl)}`
}

export interface Step {
  /** `keys.expired`; several if needed together. */
  readonly names: readonly string[]
  /** Requirements that need nothing else after the previous steps, in report order. */
  readonly ids: readonly string[]
  readonly example: Readonly<Record<string, unknown>>
}

export function whatToDeclare(report: {
  readonly requirements: readonly Undeclared[]
  readonly run: Pick<Report['run'], 'absent'> & {
    readonly notServed: readonly { readonly operation: string }[]
  }
}): Step[] {
  const absent = absentOperations(report)
  const requirements = report.requirements.filter(
    (requirement) => !absent.has(requirement.operation),
  )
  const notServed = report.run.notServed.map((one) => `operations.${one.operation}`)
  const steps: Step[] = []
  const declared = new Set<string>()
  const isMet = (names: readonly string[]): boolean => names.some((name) => declared.has(name))
  let left = requirements
    .flatMap(lackingOf)
    .filter((one) => !one.needs.flat().some((name) => notServed.includes(name)))
  while (left.length > 0) {
    const names = mostWanted(
      left.map((one) => one.needs.filter((need) => !isMet(need)).map(([name]) => name!)),
    )
    for (const name of names) declared.add(name)
    const gained = left.filter((one) => one.needs.every(isMet))
    left = left.filter((result) => !gained.includes(result))
    const examples = gained.map((one) => ({ example: only(names, one.example) }))
    steps.push({ names, ids: gained.map((one) => one.id), example: mergedExamples(examples) })
  }
  return steps.sort((a, b) => b.ids.length - a.ids.length)
}

const members = ['keys', 'resources', 'operations', 'scenarios']

/** Why selected requirements were not judged: steps that would change it, and other reasons. */
export function notJudged(report: Report) {
  const selected = selectedResults(report)
  const steps = whatToDeclare({ ...report, requirements: selected })
  const listed = new Set(steps.flatMap((step) => step.ids))
  const absent = absentOperations(report)
  const others = selected.filter((one) => !listed.has(one.id) && !absent.has(one.operation))
  return {
    // Declarations do not help while a server is down.
    steps: isWithoutOutcome(report) ? [] : steps,
    notTested: byReason({ requirements: others }, 'not-exercised'),
    notApplicable: byReason({ requirements: selected }, 'not-applicable'),
  }
}

/** Nothing was judged, and the last lines say why: no outcomes to show, nothing to declare. */
export function isWithoutOutcome(report: Report): boolean {
  const { exit, requirements } = report
  if (
    exit.code !== 3 ||
    requirements.some(
      (requirement) => requirement.outcome === 'passed' || requirement.outcome === 'failed',
    )
  )
    return false
  return (
    outsideCause(report) !== undefined || commonReason(requirements)?.why?.kind !== 'undeclared'
  )
}

export function gainOf(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => sum + step.ids.length, 0)
}

export function mergedExamples(steps: readonly Pick<Step, 'example'>[]): Record<string, unknown> {
  const all = steps.reduce<unknown>((whole, step) => mergePatch(whole, step.example), {})
  return Object.fromEntries(
    members.flatMap((name) => (member(all, name) === undefined ? [] : [[name, member(all, name)]])),
  )
}

/** The part of an example that belongs to those names. */
function only(names: readonly string[], example: Readonly<Record<string, unknown>>) {
  const isOf = (member: string): boolean =>
    names.some((name) => `${name}.`.startsWith(`${member}.`))
  const kept = Object.entries(example).map(([name, values]): [string, object] => [
    name,
    Object.fromEntries(
      Object.entries(values as object).filter(
        ([own]) => name === 'scenarios' || isOf(`${name}.${own}`),
      ),
    ),
  ])
  return Object.fromEntries(kept.filter(([, values]) => Object.keys(values).length > 0))
}

/**
 * Steps that most servers can take unchanged, as one part of a target file. Excludes scenarios, files that must first
 * be made, and optional members that might invalidate a request.
 */
export function usualPart(steps: readonly Step[]): Record<string, unknown> {
  const isOptional = (name: string): boolean =>
    name.startsWith(scenarios) || operations.some((one) => name.startsWith(`operations.${one.id}.`))
  const isMade = (step: Step): boolean =>
    Object.values(member(step.example, 'resources') ?? {}).some(
      (value) => isObject(value) && 'upload' in value,
    )
  return mergedExamples(steps.filter((step) => !isMade(step) && !step.names.some(isOptional)))
}

type Undeclared = Pick<RequirementResult, 'id' | 'operation' | 'outcome' | 'why'>

function lackingOf({ id, outcome, why }: Undeclared) {
  if (outcome !== 'not-exercised' || why?.kind !== 'undeclared') return []
  const example = why.example.length > longestExample ? undefined : parsedJson(why.example)
  if (!isObject(example)) return []
  const needs = why.needs.map((names) => [...new Set(names.map((name) => partOf(name, example)))])
  return [{ id, needs, example }]
}

/** Longer than any of ours: a report may come from elsewhere. */
const longestExample = 4096

const scenarios = 'scenarios.'

/**
 * The part of a target file that a name belongs to: an operation, a resource, the scenarios of one condition, or an
 * optional member.
 */
function partOf(name: string, example: Readonly<Record<string, unknown>>): string {
  if (name.startsWith(scenarios)) return `${scenarios}*${name.slice(name.indexOf('/'))}`
  const operation = operations.find((one) => `${name}.`.startsWith(`operations.${one.id}.`))
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
  return groups.sort((a, b) => b.length - a.length || a[0]!.length - b[0]!.length)[0]?.[0] ?? []
}
