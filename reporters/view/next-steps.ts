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
  if (isWithoutOutcome(report) || isKeyRefused(report) || onlyStatus(report) !== undefined)
    return notJudgedSteps(report)
  const { likely, unexpected, unexplained } = failuresOf(report)
  const { hints = [], runs } = report.run
  const isCutShort = report.requirements.some((result) => isLeftOut(result, 'interrupted'))
  const what = isCutShort ? 'Run what failed and what was not tested' : 'Run only what failed'
  const last =
    isCutShort || (unexpected.length > 0 && runs > 0)
      ? [{ text: what, command: `${commandIn(report)} --failed` }]
      : []
  const ofAll = likely.filter(({ isEverything }) => isEverything)
  const isRequired = unexplained.some(isMust)
  const causes = (are: boolean): NextStep[] =>
    likely
      .filter((one) => !one.isAbsent && !one.isEverything && one.results.some(isMust) === are)
      .map((cause) => ({ text: changeOf(cause) }))
  const others = fixStep(unexplained)
  const first = [
    ...hints.map((text) => ({ text: capital(text) })),
    ...(hints.length > 0 ? [] : ofAll.map((cause) => ({ text: changeOf(cause) }))),
    ...notBuiltStep(report),
    ...(hints.length > 0 && isNothingWorking(report)
      ? []
      : [
          ...causes(true),
          ...(isRequired ? others : []),
          ...answeringStep(report),
          ...declareStep(report),
          ...causes(false),
          ...(isRequired ? [] : others),
        ]),
  ]
  return [...first.slice(0, MOST), ...last]
}

/** Every answer was 401, and nothing could be judged: `statuses` counts them. */
function isKeyRefused({ exit, run, verdict }: Report): boolean {
  const { statuses = [] } = run
  return (
    verdict === 'not-judged' &&
    exit.outside === true &&
    statuses.some(({ status }) => status === 401)
  )
}

/** The status of every answer, if nothing could be judged because all are alike. */
function onlyStatus({ exit, run, verdict }: Report): number | undefined {
  const { statuses = [] } = run
  return verdict === 'not-judged' && exit.outside === true && statuses.length === 1
    ? statuses[0]!.status
    : undefined
}

const temporary: readonly number[] = [429, 502, 503, 504]

function notJudgedSteps(report: Report): NextStep[] {
  const { statuses = [] } = report.run
  const command = commandIn(report)
  if (isKeyRefused(report))
    return [{ text: 'Give a key that the server accepts, and run again', command }]
  const status = onlyStatus(report)
  // The last line says what to do about a redirect.
  const isRedirect = status !== undefined && status >= 300 && status < 400
  if (status !== undefined && !isRedirect && !temporary.includes(status))
    return status >= 500
      ? [{ text: 'Find this error in the log of the server, fix it, and run again', command }]
      : [{ text: `Correct the base URL (${report.target.baseUrl}), and run again` }]
  if (report.exit.outside !== true || statuses.length > 0) return []
  return [
    {
      text: `Start the server or correct the address (${report.target.baseUrl}), and run again`,
      command: `${command} --wait 30000`,
    },
  ]
}

function notBuiltStep(report: Report): NextStep[] {
  const absent = notBuilt(report)
  if (absent === undefined) return []
  const { length } = absent.operations
  const them = length === 1 ? absent.operations[0]! : `the ${length} missing operations`
  return [
    {
      text: `Build ${them} (received ${shortened(absent.answers, 60)}), or declare what you do not offer:`,
      paste: absent.part,
    },
  ]
}

function changeOf({ change, results }: LikelyCause): string {
  return `${capital(change)}: ${count(results.length, 'failure')}`
}

/** Required checks come first in `failed`. */
function fixStep([first, ...others]: readonly RequirementResult[]): NextStep[] {
  const more = others.length > 0 ? ` first, then ${others.length} more` : ''
  return first === undefined ? [] : [{ text: `Fix ${first.id}${more}` }]
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
    ({ ids, names }) => `${names.map(sayNeed).join(' and ')} (+${ids.length})`,
  )
  const text = `To test ${count(gainOf(steps), 'more requirement')}, declare ${firstOf(named, MOST_NAMED).join(', ')}`
  // A file of comments helps with many parts; the last ones are conditions that only a scenario causes.
  return Object.keys(usualPart(steps)).length > 0
    ? [{ text: `${text}; this writes the file:`, command: `${programOf(report)} init --from` }]
    : [{ text: `${text}, for example:`, paste: steps[0]!.example }]
}

/** `npx conform`, if the run was started so. */
export function programOf({ run }: Report): string {
  return /^npx \S+/.exec(run.command ?? '')?.[0] ?? 'conform'
}

export function commandIn({ requirements, run, target }: Report): string {
  if (run.command !== undefined) return run.command
  const rerun = requirements.flatMap(({ failures }) => failures).at(0)?.rerun
  return rerun?.split(' --only ')[0] ?? `conform ${shellWord(target.baseUrl)}`
}

export interface Step {
  /** `keys.expired`; several if needed together. */
  readonly names: readonly string[]
  /** Requirements that need nothing else after the previous steps, in report order. */
  readonly ids: readonly string[]
  readonly example: Readonly<Record<string, unknown>>
}

export function whatToDeclare(report: Pick<Report, 'requirements' | 'run'>): Step[] {
  const absent = absentOperations(report)
  const requirements = report.requirements.filter(({ operation }) => !absent.has(operation))
  const notServed = report.run.notServed.map(({ operation }) => `operations.${operation}`)
  const steps: Step[] = []
  const declared = new Set<string>()
  const isMet = (names: readonly string[]): boolean => names.some((name) => declared.has(name))
  let left = requirements
    .flatMap(lackingOf)
    .filter(({ needs }) => !needs.flat().some((name) => notServed.includes(name)))
  while (left.length > 0) {
    const names = mostWanted(
      left.map(({ needs }) => needs.filter((need) => !isMet(need)).map(([name]) => name!)),
    )
    for (const name of names) declared.add(name)
    const gained = left.filter(({ needs }) => needs.every(isMet))
    left = left.filter((result) => !gained.includes(result))
    const examples = gained.map(({ example }) => ({ example: only(names, example) }))
    steps.push({ names, ids: gained.map(({ id }) => id), example: mergedExamples(examples) })
  }
  return steps.sort((a, b) => b.ids.length - a.ids.length)
}

const members = ['keys', 'resources', 'operations', 'scenarios']

/** Why selected requirements were not judged: steps that would change it, and other reasons. */
export function notJudged(report: Report) {
  const selected = selectedResults(report)
  const steps = whatToDeclare({ ...report, requirements: selected })
  const listed = new Set(steps.flatMap(({ ids }) => ids))
  const absent = absentOperations(report)
  const others = selected.filter(({ id, operation }) => !listed.has(id) && !absent.has(operation))
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

export function mergedExamples(steps: readonly Pick<Step, 'example'>[]): Record<string, unknown> {
  const all = steps.reduce<unknown>((whole, { example }) => mergePatch(whole, example), {})
  return Object.fromEntries(
    members.flatMap((name) => (member(all, name) === undefined ? [] : [[name, member(all, name)]])),
  )
}

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
 * Steps that most servers can take unchanged, as one part of a target file. Excludes scenarios, files that must first
 * be made, and optional members that might invalidate a request.
 */
export function usualPart(steps: readonly Step[]): Record<string, unknown> {
  return mergedExamples(
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

/** Longer than any of ours: a report may come from elsewhere. */
const longestExample = 4096

const scenarios = 'scenarios.'

/**
 * The part of a target file that a name belongs to: an operation, a resource, the scenarios of one condition, or an
 * optional member.
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
