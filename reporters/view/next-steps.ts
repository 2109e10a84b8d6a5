import {
  count,
  isLeftOut,
  type Report,
  type RequirementResult,
  sayNeed,
  commonReason,
  outsideCause,
  type Failure,
  isSame,
  responseOf,
  sayAnswers,
} from '../../harness/report/index.ts'
import { shellWord } from '../../harness/shell-word.ts'
import {
  byReason,
  type ReasonGroup,
  selectedResults,
  absentOperations,
  answering,
  isNothingWorking,
} from './standing.ts'
import { capital, firstOf, shortened } from '../text.ts'
import { groupBy } from '../../harness/group-by.ts'
import { operationOf, operations, operations as allOperations } from '../../catalogue/operations.ts'
import { isObject, member, mergePatch, parsedJson } from '../../schemas/json.ts'
import { conditionOf, findRequirement } from '../../catalogue/catalogue.ts'
import { codeNames, modelErrors, isRefusal } from '../../catalogue/answers.ts'

/** A next step: a sentence without a full stop; its command, or what to paste into the target file. */
export interface NextStep {
  readonly text: string
  readonly command?: string
  readonly paste?: unknown
}

const MOST_STEPS = 4

/** The next steps, the most useful first: at most four, including how to rerun failures. */
export function nextSteps(report: Report): NextStep[] {
  const { exit, requirements, run, verdict } = report
  const { absent = [], hints = [], runs, statuses = [] } = run
  const steps: NextStep[] = hints.map((hint) => ({ text: capital(hint) }))
  const isOutside = verdict === 'not-judged' && exit.outside === true
  const isOneAnswer = statuses.length === 1 || statuses.some((one) => one.status === 401)
  if (isWithoutOutcome(report) || (isOutside && isOneAnswer))
    return [...steps, ...notJudgedSteps(report)]
  const { likely, unexpected, unexplained } = failuresOf(report)
  if (hints.length === 0) steps.push(...likely.filter((one) => one.isEverything).map(changeOf))
  const [missing] = absent
  if (missing) {
    const all = absentOperations(report)
    const named = operations.map((operation) => operation.id).filter((id) => all.has(id))
    const them = named.length === 1 ? missing.operation : `the ${named.length} missing operations`
    steps.push({
      text: `Build ${them} (received ${shortened(missing.answered, 60)}), or declare what you do not offer:`,
      paste: { operations: Object.fromEntries(named.map((id) => [id, 'not-served'])) },
    })
  }
  if (hints.length === 0 || !isNothingWorking(report)) {
    const causes = likely.filter((one) => !one.isAbsent && !one.isEverything)
    const [first, ...others] = unexplained
    const more = others.length > 0 ? ` first, then ${others.length} more` : ''
    const fix = { text: `Fix ${first?.id}${more}` }
    steps.push(...causes.filter((one) => one.results.some(isMust)).map(changeOf))
    if (first && isMust(first)) steps.push(fix)
    const answers = answering(report)
    if (answers.length > 0)
      steps.push({
        text: `Remove "not-served" from the target file for operations that answer, or take them off the server: ${firstOf(answers, 3).join(', ')}`,
      })
    steps.push(...declareStep(report))
    steps.push(...causes.filter((one) => !one.results.some(isMust)).map(changeOf))
    if (first && !isMust(first)) steps.push(fix)
  }
  const isCutShort = requirements.some((result) => isLeftOut(result, 'interrupted'))
  const text = isCutShort ? 'Run what failed and what was not tested' : 'Run only what failed'
  const isRerun = isCutShort || (unexpected.length > 0 && runs > 0)
  return [
    ...steps.slice(0, MOST_STEPS),
    ...(isRerun ? [{ text, command: `${commandIn(report)} --failed` }] : []),
  ]
}

const changeOf = (cause: LikelyCause): NextStep => ({
  text: `${capital(cause.change)}: ${count(cause.results.length, 'failure')}`,
})

/** Statuses whose cause is neither the base URL nor the server: the last line says what to do. */
const elsewhere: readonly number[] = [401, 429, 502, 503, 504]

/** What to do if nothing came from the target, or one status alone: the last line says the rest. */
function notJudgedSteps(report: Report): NextStep[] {
  const { exit, requirements, run, target, verdict } = report
  const command = commandIn(report)
  const statuses = run.statuses?.map((one) => one.status) ?? []
  const [status = 0] = statuses
  if (exit.outside !== true) return []
  const isUnreachable = requirements.some((one) => one.why?.kind === 'target')
  if (statuses.length === 0) {
    // Else the last line says what to do: the code of the target file is at fault.
    const isWaiting = / --(start|wait) /.test(command)
    const text = `Start the server or correct the address (${target.baseUrl}), and run again`
    return isUnreachable ? [{ text, command: isWaiting ? command : `${command} --wait 30000` }] : []
  }
  if (verdict !== 'not-judged') return []
  // Else a gateway asks for a credential of its own.
  if (statuses.includes(401) && !isUnreachable)
    return [{ text: 'Give a key that the server accepts, and run again', command }]
  const isRedirect = status >= 300 && status < 400
  if (statuses.length > 1 || isRedirect || elsewhere.includes(status)) return []
  return status >= 500
    ? [{ text: 'Find this error in the log of the server, fix it, and run again', command }]
    : [{ text: `Correct the base URL (${target.baseUrl}), and run again` }]
}

const MOST_NAMED = 4

function declareStep(report: Report): NextStep[] {
  const steps = whatToDeclare({ ...report, requirements: selectedResults(report) })
  if (steps.length === 0) return []
  const named = steps.map((step) => `${wordsOf(step.names)} (+${step.ids.length})`)
  const text = `To test ${count(gainOf(steps), 'more requirement')}, declare ${firstOf(named, MOST_NAMED).join(', ')}`
  // `npx conform`, if the run was started so.
  const { command = '' } = report.run
  const [program] = /^npx \S+/.exec(command) ?? ['conform']
  const file = / --target ('(?:[^']|'\\''|'')*'|\S+)/.exec(command)?.[1]
  const init = file === undefined ? 'init' : `init ${file}`
  // A file of comments helps with many parts; the last ones are conditions that only a scenario causes.
  return Object.keys(usualPart(steps)).length > 0
    ? [{ text: `${text}; this writes the file:`, command: `${program} ${init} --from` }]
    : [{ text: `${text}, for example:`, paste: steps[0]!.example }]
}

const commandIn = (report: Report): string =>
  report.run.command ?? `conform ${shellWord(report.target.baseUrl)}`

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
    .flatMap(({ id, outcome, why }) => {
      if (outcome !== 'not-exercised' || why?.kind !== 'undeclared') return []
      const example = why.example.length > longestExample ? undefined : parsedJson(why.example)
      if (!isObject(example)) return []
      const needs = why.needs.map((all) => [...new Set(all.map((name) => partOf(name, example)))])
      return [{ id, needs, example }]
    })
    .filter((one) => !one.needs.flat().some((name) => notServed.includes(name)))
  while (left.length > 0) {
    const names = mostWanted(
      left.map((one) => one.needs.filter((need) => !isMet(need)).map((need) => need[0]!)),
    )
    for (const name of names) declared.add(name)
    const gained = left.filter((one) => one.needs.every(isMet))
    left = left.filter((result) => !gained.includes(result))
    const examples = gained.map((one) => ({ example: only(names, one.example) }))
    steps.push({ names, ids: gained.map((one) => one.id), example: mergedExamples(examples) })
  }
  return steps.sort((a, b) => b.ids.length - a.ids.length)
}

const parts = ['keys', 'resources', 'operations', 'scenarios']

/** Why selected requirements were not judged. Empty if one reason holds for all: the last lines say it. */
export function notJudged(report: Report): Readonly<Record<string, readonly ReasonGroup[]>> {
  if (isWithoutOutcome(report)) return {}
  const selected = selectedResults(report)
  const steps = whatToDeclare({ ...report, requirements: selected })
  const listed = new Set(steps.flatMap((step) => step.ids))
  const absent = absentOperations(report)
  const others = selected.filter((one) => !listed.has(one.id) && !absent.has(one.operation))
  return {
    'To declare': steps.map((step) => ({ reason: wordsOf(step.names), ids: step.ids })),
    'Not tested': byReason({ requirements: others }, 'not-exercised'),
    'Not applicable': byReason({ requirements: selected }, 'not-applicable'),
  }
}

function wordsOf(names: readonly string[]): string {
  return names.map(sayNeed).join(' and ')
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
    parts.flatMap((name) => (member(all, name) === undefined ? [] : [[name, member(all, name)]])),
  )
}

/** The part of an example that belongs to those names. */
function only(names: readonly string[], example: Readonly<Record<string, unknown>>) {
  const isOf = (member: string): boolean =>
    names.some((name) => `${name}.`.startsWith(`${member}.`))
  const kept: Record<string, object> = {}
  for (const [name, values] of Object.entries(example)) {
    const own = Object.entries(values as object).filter(
      ([member]) => name === 'scenarios' || isOf(`${name}.${member}`),
    )
    if (own.length > 0) kept[name] = Object.fromEntries(own)
  }
  return kept
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

/** Failures and their known causes, required checks first, in report order. */
export function failuresOf(report: Report) {
  const { requirements, run } = report
  const known = new Set(run.baseline?.expected)
  const failed = requirements.filter((requirement) => requirement.outcome === 'failed')
  const ranked = [...failed.filter(isMust), ...failed.filter((result) => !isMust(result))]
  const unexpected = ranked.filter((one) => !known.has(one.id))
  if (unexpected.length === 0) return { unexpected, unexplained: [], likely: [], distinct: [] }
  const likely = likelyCauses(unexpected, report)
  const explained = new Set(likely.flatMap((one) => one.results))
  const unexplained = unexpected.filter((result) => !explained.has(result))
  const distinct: Distinct[] = [
    ...likely.map((cause) => ({ cause, results: cause.results, example: simplest(cause.results) })),
    ...byCause(unexplained),
  ]
  const isRequired = (one: Distinct): boolean => one.results.some(isMust)
  return {
    unexpected,
    unexplained,
    likely,
    distinct: [...distinct.filter(isRequired), ...distinct.filter((group) => !isRequired(group))],
  }
}

export const isMust = (result: RequirementResult): boolean => result.level === 'must'

/** Failures that are shown once, by an example. */
export interface Distinct {
  readonly cause?: LikelyCause
  readonly results: readonly RequirementResult[]
  readonly example: RequirementResult
}

/** The one with the shortest body, a required check if there is any. */
function simplest(results: readonly RequirementResult[]): RequirementResult {
  const sizeOf = (result: RequirementResult): number => {
    const request = result.failures[0]?.exchange?.request
    return request === undefined ? Infinity : (request.bodyLength ?? request.body.length)
  }
  const required = results.filter(isMust)
  return (required.length > 0 ? required : results).toSorted(
    (one, other) => sizeOf(one) - sizeOf(other) || 0,
  )[0]!
}

/**
 * Groups failures of several operations with the same level, expectation and error, and all failures of reused
 * connections. The groups keep the order of their first members.
 */
export function byCause(results: readonly RequirementResult[]): Distinct[] {
  return [...groupBy(results, keyOf).values()].flatMap((group): Distinct[] => {
    const isOfConnection = group[0]!.failures[0]?.connection !== undefined
    return isOfConnection || new Set(group.map((one) => one.operation)).size > 1
      ? [{ results: group, example: simplest(group) }]
      : group.map((one) => ({ results: [one], example: one }))
  })
}

function keyOf(result: RequirementResult): string {
  const { id, level } = result
  const [failure] = result.failures
  if (!failure) return id
  // The handling of connections is one cause, whatever the requests.
  if (failure.connection) return failure.connection
  // Sections differ by operation, but not the expectation.
  const expected = failure.expected.slice(0, failure.expected.length - (failure.cites ?? '').length)
  return JSON.stringify([level, expected, ...receivedIn(failure, id), failure.onlyName])
}

/**
 * An answer with a `tpe` is identified by it, not by its message. Other bodies differ by operation, so a wrong status
 * is identified with the condition (`400-malformed-json`).
 */
function receivedIn(failure: Failure, id: string): string[] {
  const response = responseOf(failure)
  const { status, tpe } = response
  if (tpe !== undefined) return [sayAnswers([response])]
  if (status !== null && status < 300 && failure.toRefuse) return ['granted', conditionOf(id)]
  return status !== null && status >= 400 ? [`${status}`, conditionOf(id)] : [failure.actual]
}

/** Failures that one change would most likely fix. */
export interface LikelyCause extends Clue {
  readonly results: readonly RequirementResult[]
  readonly isAbsent?: true
  readonly isEverything?: true
}

const FEWEST = 3
const FEWEST_ALIKE = 10
const MOST_CAUSES = 6

interface Learned {
  readonly run: Pick<Report['run'], 'absent' | 'statuses'>
  readonly requirements: readonly RequirementResult[]
}

/** Finds common causes of failures, the most frequent first, and flaky answers before all; ignores single failures. */
export function likelyCauses(
  failed: readonly RequirementResult[],
  learned: Learned = { run: {}, requirements: [] },
): LikelyCause[] {
  const byChance = failed.filter((result) => result.failures[0]?.takes === 'chance')
  const chance = byChance.length >= FEWEST ? byChance : []
  const lasting = failed.filter((result) => !chance.includes(result))
  const absent = absentOperations(learned)
  const missing = lasting.filter((one) => absent.has(one.operation))
  const present = lasting.filter((result) => !missing.includes(result))
  const alike = present.length < FEWEST_ALIKE ? undefined : oneAnswer(present, learned)
  const clues = present.flatMap((result) => {
    const clue = alike?.results.includes(result) ? undefined : clueOf(result)
    return clue ? [{ clue, result }] : []
  })
  const causes = [...groupBy(clues, (one) => `${one.clue.what}; ${one.clue.change}`).values()]
    .map((group) => ({ ...group[0]!.clue, results: group.map((one) => one.result) }))
    .filter((one) => one.isTold || one.results.length >= FEWEST)
    .sort((a, b) => b.results.length - a.results.length)
  const operations = firstOf([...new Set(missing.map((one) => one.operation))], 3)
  const all: LikelyCause[] = [
    ...(chance.length > 0 ? [{ ...differing, results: chance }] : []),
    ...(missing.length > 0 ? [{ ...ofNotBuilt(operations), results: missing }] : []),
    ...(alike ? [alike] : []),
    ...causes,
  ]
  return all.slice(0, MOST_CAUSES)
}

const differing = {
  what: 'the answers to one request differ',
  change: 'check the log of the server, and of each instance if there are several',
}

const ofNotBuilt = (operations: readonly string[]) => ({
  what: `not built: ${operations.join(', ')}`,
  change: 'build them, or declare them not-served in the target file',
  isAbsent: true as const,
})

/** At least so many failures, four of five, that got one answer where several different ones were expected. */
function oneAnswer(
  results: readonly RequirementResult[],
  learned: Learned,
): LikelyCause | undefined {
  const answered = results.flatMap((result) => {
    const [failure] = result.failures
    return failure === undefined ? [] : [{ result, response: responseOf(failure) }]
  })
  for (const { response } of answered.slice(0, 20)) {
    const { status } = response
    if (status === null) continue
    const same = answered.flatMap((other) =>
      isSame(other.response, response) ? [other.result] : [],
    )
    const expected = new Set(same.map((one) => String(statusesOf(one.id))))
    const operations = [...new Set(same.map((one) => one.operation))]
    const isMost = same.length >= FEWEST_ALIKE && same.length * 5 >= results.length * 4
    if (!isMost || expected.size <= 2 || operations.length <= 2) continue
    const others = learned.requirements.filter(
      (result) => operations.includes(result.operation) && wasAnsweredOtherwise(result, status),
    )
    // Passing answers count too: if many differ, it is not a uniform answer.
    if (others.length * 4 <= same.length)
      return {
        what: shortened(
          `${operations.length * 2 > allOperations.length ? 'nearly everything' : `much of ${firstOf(operations, 3).join(', ')}`} gets the same answer: ${sayAnswers([response])}`,
          300,
        ),
        change:
          'check the log of the server, the base URL, and the proxy or cache in front of the server',
        results: same,
        isEverything: true,
      }
  }
  return undefined
}

function wasAnsweredOtherwise(result: RequirementResult, status: number): boolean {
  const isGranted = isGranting(result.id)
  if (result.outcome !== 'passed' || isGranted === undefined) return false
  return isGranted ? status >= 300 : !statusesOf(result.id).includes(status)
}

/** A sign of a likely mistake at one place in a server. May contain text of the target. */
export interface Clue {
  readonly what: string
  /** The fix, without a full stop. */
  readonly change: string
  /** A single requirement suffices: all others depend on it. */
  readonly isTold?: true
}

/** Whether the id asks for a success; undefined for an id of another version, or without a single request. */
function isGranting(id: string): boolean | undefined {
  const expects = findRequirement(id)?.expects
  return expects && !isRefusal(expects)
}

/** The statuses that an id asks for; none if it names no status for a refusal. */
function statusesOf(id: string): number[] {
  const expects = findRequirement(id)?.expects
  return isRefusal(expects)
    ? expects.flatMap(([status]) => (typeof status === 'number' ? [status] : []))
    : []
}

function clueOf(result: RequirementResult): Clue | undefined {
  const { id } = result
  const [failure] = result.failures
  // A failure of a connection has no wrong status of its own.
  if (failure === undefined || failure.connection !== undefined) return undefined
  const { status, tpe } = responseOf(failure)
  if (status === null) return failure.exchange && noAnswer
  const { body = '', bodyLength } = failure.exchange?.response ?? {}
  const value = parsedJson(body)
  const wanted = statusesOf(id)
  // Faults of bodies are refused in many places, wrong keys in one.
  if (status < 400) return wanted.some(isOfKeys) ? ofAcceptedKeys(wanted) : undefined
  const isOfRun = failure.takes === 'object-of-run' || failure.takes === 'job-of-run'
  if ((status === 404 || status === 410) && !wanted.includes(status) && isOfRun) return vanished
  if (isGranting(id)) return undefined
  if (status < 500 && /^\s*<(?:!doctype|html|head|body)\b/i.test(body)) return pageInstead
  if (wanted.length > 0 && !wanted.includes(status)) return ofStatus(status, wanted[0]!)
  // The right status in place of a crash is unknown.
  const isBreakdown = isGranting(id) === undefined && status >= 500
  if (tpe !== undefined && isMisspelt(tpe)) return misspelt
  return isBreakdown || bodyLength !== undefined ? undefined : ofEnvelope(value)
}

const noAnswer: Clue = {
  what: 'no complete answer came',
  change: 'look at timeouts, and at what closes connections: the server, or a proxy in front of it',
}

const vanished: Clue = {
  what: 'what the run creates is not found later',
  change:
    'keep what is created: look for a restart; if it only takes longer to appear, raise limits.settleMs',
}

const misspelt: Clue = {
  what: 'code names in another spelling',
  change: 'send the code names exactly as §7.2 writes them: letter case counts',
}

const isOfKeys = (status: number): boolean => status === 401 || status === 403

function ofAcceptedKeys(wanted: readonly number[]): Clue {
  const requests = `requests without ${wanted.includes(401) ? 'a valid key' : 'the permission'}`
  const statuses = [...new Set(wanted)].join(' or ')
  return { what: `${requests} are accepted`, change: `refuse ${requests} with ${statuses}` }
}

const pageInstead: Clue = {
  what: 'HTML page instead of the JSON error envelope',
  change:
    'return the JSON error envelope (tpe, errors, extras; §2.6); if a proxy wrote the page, make it forward the request',
}

/** Only if one handler returns the status: a framework's validation, or the check of the key. */
function ofStatus(received: number, wanted: number): Clue | undefined {
  if (received !== 422 && !(isOfKeys(wanted) && received < 500)) return undefined
  return {
    what: `${received} returned, but ${wanted} is right`,
    change: `return ${wanted} in place of ${received} (§7.2)`,
  }
}

const envelopeMembers = ['tpe', 'errors', 'extras']

function ofEnvelope(value: unknown): Clue | undefined {
  const missing = envelopeMembers.filter((name) => !isObject(value) || !Object.hasOwn(value, name))
  if (missing.length === 0) return undefined
  if (missing.length === envelopeMembers.length)
    return {
      what: 'no error envelope, but the right status',
      change: 'return every error as a JSON object with tpe, errors and extras (§2.6)',
    }
  return {
    what: `error envelopes lack ${missing.join(' and ')}`,
    change: `add ${missing.join(' and ')} to every error envelope; errors and extras may be empty (§2.6)`,
    isTold: true,
  }
}

const letters = (name: string): string => name.replaceAll(/[\s._-]/g, '').toLowerCase()

function isMisspelt(tpe: string): boolean {
  const named = Object.values(codeNames).flatMap((names) => names ?? [])
  const listed = operations.flatMap((one) => one.errors ?? []).flatMap(([, ...names]) => names)
  const codes = [...named, ...listed, ...modelErrors, 'GuardrailBlockedError']
  return !codes.includes(tpe) && codes.some((name) => letters(name) === letters(tpe))
}
