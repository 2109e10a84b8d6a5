import {
  type Report,
  type Verdict,
  count,
  type Counts,
  type Outcome,
  type RequirementResult,
  decisive,
  isLeftOutByOption,
  isSelected,
  reasonExpected,
  summarize,
} from '../../harness/report/index.ts'
import { groupBy, largestFirst } from '../../harness/group-by.ts'
import { firstOf, type kinds, type Mark, outcomes } from '../text.ts'
import { operations, type OperationId } from '../../catalogue/operations.ts'
import { conditionOf } from '../../catalogue/catalogue.ts'

/** `warning`: nothing unexpected failed, but not everything is known. */
export type Tone = 'good' | 'warning' | 'bad'

/** How a run is shown to people; files contain the verdict's own name. */
export interface Standing {
  readonly tone: Tone
  /** `Incomplete`: one or two words, seen first. */
  readonly word: string
  /** A sign, for readers without colours. */
  readonly sign: '✓' | '!' | '✗' | '?'
  readonly meaning: string
  /** Word and meaning. */
  readonly sentence: string
  /** Where the exit line follows, which says why nothing was judged. */
  readonly beforeExit: string
}

export const verdictWords: Readonly<Record<Verdict, Pick<Standing, 'tone' | 'word'>>> = {
  conformant: { tone: 'good', word: 'Conformant' },
  passing: { tone: 'warning', word: 'Incomplete' },
  'non-conformant': { tone: 'bad', word: 'Non-conformant' },
  'not-judged': { tone: 'warning', word: 'Not judged' },
}

const signs = { good: '✓', warning: '!', bad: '✗' } as const

/**
 * Good: conformant, tested in full, exit code 0. Warning: interrupted, restricted, incomplete, or failed as a baseline
 * expects.
 */
export function standingOf(report: Report): Standing {
  const { exit, run, summary, verdict } = report
  const plain = verdictWords[verdict]
  if (verdict === 'not-judged') {
    const { because } = exit
    const sentence = `${plain.word}: ${because}`
    return { ...plain, sign: '?', meaning: because, sentence, beforeExit: plain.word }
  }
  const { failed } = summary.should
  const selected = selectedResults(report)
  const { must } = summarize(selected)
  const weight = run.strict ? 'decisive by --strict' : 'not decisive'
  const answers = answering(report)
  const meaning = [
    selected.some((one) => one.level === 'must')
      ? requiredChecks(must, leftOutOf(report))
      : 'no required check was selected',
    ...(failed > 0 ? [`${count(failed, 'recommendation')} failed (${weight})`] : []),
    ...(answers.length > 0 ? [`declared not served but answering: ${answers.join(', ')}`] : []),
  ].join('; ')
  const modes = [
    ...(run.tpe === 'family' ? ['family names'] : []),
    ...(run.depth === 'quick' ? ['quick'] : []),
  ]
  let word = plain.word + (modes.length === 0 ? '' : ` (${modes.join(', ')})`)
  let { tone } = plain
  if (verdict === 'passing' && exit.code === 1) tone = 'bad'
  else if (verdict === 'non-conformant' && exit.code === 0) {
    tone = 'warning'
    word += ', as expected'
  } else if (verdict === 'conformant' && exit.code !== 0) {
    tone = 'warning'
    word += ', but the run failed'
  } else if (verdict === 'conformant' && run.depth === 'quick') tone = 'warning'
  const sentence = `${word}: ${meaning}`
  return { tone, word, sign: signs[tone], meaning, sentence, beforeExit: sentence }
}

/** Notes for files that show no next step. */
export function allNotes(report: Report): string[] {
  return [...(report.run.hints ?? []), ...runNotes(report)]
}

/** Notes needed to weigh the verdict, one sentence each. */
export function runNotes(report: Report): string[] {
  const { requirements, run, target } = report
  const { longestPauseMs = 0, retried = 0, throttled } = run
  const isTls = target.baseUrl.startsWith('https:') && run.statuses?.length !== 0
  const longest =
    longestPauseMs > 0 ? `, and to wait ${Math.ceil(longestPauseMs / 1000)} s at most` : ''
  const leftOut = groupBy(requirements.filter(isLeftOutByOption), (result) =>
    result.why?.kind === 'left-out' ? result.why.by : '',
  )
  const byOption = [...leftOut].map(([option, { length }]) => `${length} by ${option}`)
  const notes = [
    run.interrupted && 'interrupted: only what was tested before the interrupt is judged',
    run.insecure && 'insecure: the certificate of the target was not verified (--insecure)',
    run.ca &&
      !run.insecure &&
      isTls &&
      'own authority: the certificate of the target was accepted because of tls.ca',
    run.proxy !== null && `proxy: requests went through ${run.proxy}`,
    run.depth === 'quick' &&
      'quick: one case of each kind per requirement, few wrong keys (--depth quick)',
    run.readOnly && 'read only: nothing was sent that creates or generates something (--read-only)',
    throttled > 0 &&
      `throttled: ${count(throttled, 'answer')} asked to slow down (429, 503)${longest}; use --rate or --concurrency to send less`,
    retried > 0 &&
      `retried: ${count(retried, 'answer')} ${retried === 1 ? 'was' : 'were'} cut off, reset or a gateway's 502 or 504, and repeated`,
    run.cleanup.left.length > 0 && cleanupSentence(run.cleanup),
    byOption.length > 0 && `left out: ${byOption.join(', ')}`,
  ]
  return notes.filter((note) => typeof note === 'string')
}

/** `created 161 objects, removed 103`; undefined if none. */
export function createdObjects(run: Report['run']): string | undefined {
  if (run.created.length === 0) return undefined
  const removed = run.cleanup.removed > 0 ? `, removed ${run.cleanup.removed}` : ''
  return `created ${count(run.created.length, 'object')}${removed}`
}

/** Why some objects were not removed: `clean-up: 88 of 90 …; 2 not: answered 403 (files.upload f-1, …)`. */
function cleanupSentence(cleanup: Report['run']['cleanup']): string {
  const reasons = [...groupBy(cleanup.left, (object) => object.why)].map(([why, objects]) => {
    const names = firstOf(
      objects.map((object) => `${object.operation} ${object.id}`),
      3,
    )
    return `; ${objects.length} not: ${why} (${names.join(', ')})`
  })
  return `clean-up: ${cleanup.removed} of ${count(cleanup.removed + cleanup.left.length, 'created object')} removed${reasons.join('')}`
}

export function isNothingWorking(report: Report): boolean {
  return !operationMap(report).some((one) => one.state === 'working')
}

export function seedLine(report: Report): string {
  // A recording has no generated cases, so there is no seed.
  if (report.run.runs === 0) return 'recorded traffic, nothing was sent'
  return `repeat with --seed ${report.run.seed}`
}

export function exitLine(report: Report): string {
  return `exit ${report.exit.code}: ${report.exit.because}`
}

/**
 * Why the run as a whole failed although no requirement shows it: exit code 2 or 3, or a stale baseline entry without a
 * failure. Formats that only know tests would otherwise show it as passed.
 */
export function runErrors(report: Report): string[] {
  const { exit, requirements, run } = report
  const stale = (run.baseline?.stale ?? []).filter(
    (entry) => !requirements.some((one) => one.id === entry.id && one.outcome === 'failed'),
  )
  return [
    ...(exit.code > 1 ? [exit.because] : []),
    ...stale.map((one) => `stale entry of the baseline: ${one.id}: ${one.why}`),
  ]
}

export interface OperationGroup {
  readonly operation: string
  readonly results: readonly RequirementResult[]
}

export function byOperation(report: Pick<Report, 'requirements'>): OperationGroup[] {
  const groups = groupBy(report.requirements, (one) => one.operation)
  return [...groups].map(([operation, results]) => ({ operation, results }))
}

export interface ReasonGroup {
  readonly reason: string
  readonly ids: readonly string[]
}

export function byReason(report: Pick<Report, 'requirements'>, outcome: Outcome): ReasonGroup[] {
  const results = report.requirements.filter((result) => result.outcome === outcome)
  const groups = groupBy(results, (one) => one.reason ?? 'no reason was recorded')
  return largestFirst(groups).map(([reason, of]) => ({ reason, ids: of.map((one) => one.id) }))
}

/** The requirements not left out; inapplicable ones are included. */
export function selectedResults(report: Pick<Report, 'requirements' | 'run'>): RequirementResult[] {
  return report.requirements.filter(
    (result) =>
      !isLeftOutByOption(result) &&
      (result.outcome !== 'not-applicable' || isSelected(result.id, report.run)),
  )
}

/** How a result is shown; left-out results are not `not tested`. */
export function kindOf(result: RequirementResult): keyof typeof kinds {
  return isLeftOutByOption(result) ? 'left-out' : result.outcome
}

export function requiredButMissed(report: Report): string[] {
  return decisive(report)
    .filter((one) => one.outcome === 'not-exercised')
    .map((one) => one.id)
}

/** What became of the entries of a baseline, stale ones first. */
export function baselineEntries(report: Report) {
  const { expected = [], notExercised = [], stale = [] } = report.run.baseline ?? {}
  const known = (state: string, ids: readonly string[]) =>
    ids.map((id) => ({ state, id, why: reasonExpected(report, id) }))
  return [
    ...stale.map((one) => ({ state: 'stale entry', id: one.id, why: one.why })),
    ...known('failed as expected', expected),
    ...known('not tested', notExercised),
  ]
}

/** What a verdict leaves out: required checks declared unreachable, and operations not served. */
export interface LeftOut {
  readonly excused: number
  readonly notServed: number
}

export function leftOutOf(report: Pick<Report, 'requirements'>): LeftOut {
  const notServed = report.requirements.filter(
    (requirement) =>
      requirement.why?.kind === 'absent' &&
      !requirement.why.seenBy &&
      requirement.why.absence === 'not-served',
  )
  const areas = new Set<string>(notServed.map((one) => one.operation))
  return {
    excused: report.requirements.filter(
      (requirement) => requirement.level === 'must' && requirement.why?.kind === 'unreachable',
    ).length,
    notServed: operations.filter((operation) => areas.has(operation.id)).length,
  }
}

/** `55 excused (unreachable)`, `2 operations not served`: shown beside every verdict. */
export function leftOutWords(leftOut: LeftOut): string[] {
  return [
    ...(leftOut.excused > 0 ? [`${leftOut.excused} excused (unreachable)`] : []),
    ...(leftOut.notServed > 0 ? [`${count(leftOut.notServed, 'operation')} not served`] : []),
  ]
}

/** For example `257 required checks passed, 55 excused (unreachable), 2 operations not served`. */
export function requiredChecks(must: Counts, leftOut: LeftOut): string {
  const { failed, notExercised, passed } = must
  return [
    ...(failed > 0 ? [`${count(failed, 'required check')} failed`] : []),
    `${failed > 0 ? passed : count(passed, 'required check')} passed`,
    ...(notExercised > 0 ? [`${notExercised} not tested`] : []),
    ...leftOutWords(leftOut),
  ].join(', ')
}

export type State =
  | 'working'
  | 'failing'
  | 'only authentication tested'
  | 'not tested'
  | 'not built'
  | 'not served'

/** How states are shown: with sign and colour of the corresponding outcome. */
export const states = {
  failing: outcomes.failed,
  working: outcomes.passed,
  'only authentication tested': outcomes['not-exercised'],
  'not tested': outcomes['not-exercised'],
  'not built': outcomes['not-applicable'],
  'not served': outcomes['not-applicable'],
} as const satisfies Record<State, Mark>

export interface Place {
  readonly operation: OperationId
  readonly state: State
  /** `7 of 8` applicable requirements passed, or the number of failures. May be empty. */
  readonly detail: string
}

/** Conditions that a gateway answers too, so they do not show that the operation exists. */
const ofKeys = /^(401|403)-|^429-/

type Facts = Pick<Report, 'exit' | 'requirements' | 'run'>

/** The operations in catalogue order with their states. */
export function operationMap(report: Facts): Place[] {
  const found = absentOperations(report)
  const byOperation = groupBy(report.requirements, (one) => one.operation)
  return operations.map((listed): Place => {
    const operation = listed.id
    const own = byOperation.get(operation) ?? []
    const passed = own.filter((one) => one.outcome === 'passed')
    const failed = own.filter((one) => one.outcome === 'failed')
    const applicable = own.filter((one) => one.outcome !== 'not-applicable')
    if (found.has(operation)) return { operation, state: 'not built', detail: '' }
    if (failed.some((one) => one.level === 'must'))
      return { operation, state: 'failing', detail: `${failed.length} failed` }
    if (own.length > 0 && applicable.length === 0)
      return { operation, state: 'not served', detail: '' }
    if (passed.some((one) => !ofKeys.test(conditionOf(one.id))))
      return { operation, state: 'working', detail: `${passed.length} of ${applicable.length}` }
    const state = passed.length > 0 ? 'only authentication tested' : 'not tested'
    return { operation, state, detail: '' }
  })
}

export function absentOperations(options: {
  readonly run: Pick<Report['run'], 'absent'>
}): ReadonlySet<string> {
  return new Set(options.run.absent?.map((one) => one.operation))
}

/** The map, if the run covered more than one operation and learned anything. */
export function shownMap(report: Facts): Place[] | undefined {
  const selected = new Set(selectedResults(report).map((one) => one.operation))
  if (selected.size < 2) return undefined
  const places = operationMap(report).filter((one) => selected.has(one.operation))
  return places.length > 1 &&
    places.some((place) => place.state !== 'not tested' && place.state !== 'not served')
    ? places
    : undefined
}

/** For example `17 operations: 2 working, 13 not built`; empty states are omitted. */
export function mapSentence(places: readonly Place[]): string {
  const parts = byState(places).map((group) => `${group.places.length} ${group.state}`)
  return `${count(places.length, 'operation')}: ${parts.join(', ')}`
}

/** Places by state, the most urgent first. */
export function byState(places: readonly Place[]) {
  return (Object.keys(states) as State[]).flatMap((state) => {
    const own = places.filter((place) => place.state === state)
    return own.length === 0 ? [] : [{ state, places: own }]
  })
}

/** Answers by which a server says that it lacks an operation. */
export const ofNone: readonly string[] = ['404', '405', '410', '501', 'no answer']

/** Operations that are declared not served, and answer: `vision.analyze (200)`. */
export function answering(report: Pick<Report, 'run'>): string[] {
  return report.run.notServed
    .filter((one) => !ofNone.includes(one.answered))
    .map((one) => `${one.operation} (${one.answered})`)
}
