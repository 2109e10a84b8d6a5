import { performance } from 'node:perf_hooks'
import {
  catalogue,
  grantedRequirement,
  type RequirementId,
  requirementOf,
  type CatalogueRequirement,
} from '../../catalogue/catalogue.ts'
import { operation, type OperationId, operations } from '../../catalogue/operations.ts'
import { observedCase, observedRequirements } from '../../suites/checks/observed.ts'
import { type BodySchema, shapeFault } from '../../harness/run/index.ts'
import {
  describePairs,
  type Exchange,
  isGranted,
  NotExercised,
  Journal,
  type Evidence,
  eventOf,
  type History,
  type Rule,
  describeProbe,
  describeResponse,
} from '../../harness/journal/index.ts'
import { type Redactor, shownText } from '../../harness/recording/index.ts'
import {
  type RecordedExchange,
  type Story,
  type Failure,
  type Report,
  type RequirementResult,
  assembleReport,
  noRun,
  reasonIn,
  sections,
} from '../../harness/report/index.ts'
import type { Target } from '../../harness/target/index.ts'
import { getAt, isObject, member, parsedJson } from '../../schemas/json.ts'
import { recordedRules } from '../../suites/jobs/rules.ts'
import { storyOf } from '../../suites/jobs/story.ts'
import { notApplicable } from '../../suites/plan.ts'
import { relationIds, relationRule } from '../../suites/created/rules.ts'
import { pathUnder, type EntryExchange, exchangeOf, shownEntry } from './exchange.ts'
import type { RecordedEntry } from './read-har.ts'

export interface RecordedFault {
  readonly exchange: Exchange
  readonly expected: string
  /** Undefined: the whole answer. */
  readonly actual?: string | (() => string) | undefined
  readonly story?: Story | undefined
}

export interface Tally {
  cases: number
  readonly failures: RecordedFault[]
  unjudged?: string
}

const maxKept = 3

export type JudgedRecording = ReturnType<typeof judgeRecording>

const ofAnyResponse = [
  'envelope/shape',
  'envelope/status-tpe-pair',
  'envelope/content-type',
  'envelope/message-keys',
] as const satisfies readonly RequirementId[]

function rulesOf(target: Target): readonly (readonly [RequirementId, Rule])[] {
  return [
    ...recordedRules(target.resources.failingApplication?.id),
    ...relationIds.map((id) => [id, relationRule(id)] as const),
  ]
}

export function countShown(target: Target): number {
  const ids = new Set<RequirementId>([
    ...ofAnyResponse,
    ...Object.values(grantedRequirement),
    ...(['pdf.parse/200-text', 'pdf.parse/200-markdown'] as const),
    ...rulesOf(target).map(([id]) => id),
  ])
  return catalogue.filter((one) => ids.has(one.id) && !notApplicable(one, target)).length
}

const changes = ['DELETE', 'PUT', 'PATCH']

const methods: ReadonlySet<string> = new Set(operations.map((one) => one.method))

/** Judges recorded answers: each by itself, and all by the rules of a live run. */
export function judgeRecording(
  entries: readonly RecordedEntry[],
  target: Target,
  redactor: Redactor,
) {
  const judged: JudgedEntry[] = []
  const history = new Journal(target.limits, true)
  const tallies = new Map<RequirementId, Tally>()
  const tallyOf = (id: RequirementId): Tally => {
    const tally = tallies.get(id) ?? { cases: 0, failures: [] }
    tallies.set(id, tally)
    return tally
  }
  const count = (requirement: RequirementId, fault?: RecordedFault): void => {
    const tally = tallyOf(requirement)
    tally.cases++
    if (fault && tally.failures.length < maxKept) tally.failures.push(fault)
  }

  const exchangeIfAnswered = (entry: RecordedEntry): EntryExchange | undefined => {
    const { method, startedAt = NaN, status, url } = entry
    const path = pathUnder(target.baseUrl, url)
    if (!path?.startsWith('/v1/')) return undefined
    const isAnswer = methods.has(method) && status > 0
    const exchange = isAnswer ? exchangeOf(entry, path, redactor) : undefined
    const operation = exchange?.probe.operation
    if (changes.includes(method) || (operation === null && method !== 'GET'))
      history.othersAt.push(startedAt - performance.timeOrigin)
    return operation && target.absent[operation] !== undefined ? undefined : exchange
  }

  for (const entry of entries) {
    const exchange = exchangeIfAnswered(entry)
    if (!exchange) continue
    for (const requirement of observedRequirements) {
      // Without recorded headers, the media type is unknown.
      if (requirement === 'envelope/content-type' && entry.headers.length === 0) continue
      const seen = observedCase(requirement, exchange)
      if (!seen) continue
      const { expected, actual } = seen
      count(requirement, actual === undefined ? undefined : { exchange, expected, actual })
    }
    const { operation } = exchange.probe
    if (operation === null) continue
    const success = successOf(exchange, operation, target)
    if (success) {
      try {
        const fault = successFault(exchange, success, operation)
        count(success, fault && { exchange, ...fault })
      } catch (error) {
        if (!(error instanceof NotExercised)) throw error
        tallyOf(success).unjudged ??= error.message
      }
    }
    history.append(eventOf(target, exchange, true))
    const ofErrors = entry.status >= 400 ? ('envelope/shape' as const) : undefined
    const requirement = ofErrors ?? success ?? grantedRequirement[operation]
    judged.push({ entry, operation, requirement })
  }
  for (const [requirement, rule] of history.events.length === 0 ? [] : rulesOf(target)) {
    const verdict = rule(history)
    const tally = tallyOf(requirement)
    if (verdict.outcome === 'open') {
      tally.unjudged ??= `recorded traffic does not show it: ${verdict.why}`
      continue
    }
    const evidence = verdict.outcome === 'broken' ? verdict.evidence : []
    for (const one of evidence) count(requirement, faultOf(one, history))
    tally.cases += Math.max(0, verdict.cases - evidence.length)
  }
  return {
    requests: judged.length,
    tally: (id: RequirementId) => tallies.get(id),
    *exchanges(): Iterable<RecordedExchange> {
      for (const [n, one] of judged.entries()) yield logged(n, one, redactor)
    },
  }
}

interface JudgedEntry {
  readonly entry: RecordedEntry
  readonly operation: OperationId
  readonly requirement: RequirementId
}

function logged(
  n: number,
  { entry, operation, requirement }: JudgedEntry,
  redactor: Redactor,
): RecordedExchange {
  return {
    ...{ n, requirement, operation, role: 'probe' },
    startedAt: new Date(entry.startedAt ?? performance.timeOrigin).toISOString(),
    durationMs: entry.durationMs,
    httpVersion: entry.httpVersion,
    ...shownEntry(entry, redactor),
  }
}

function faultOf({ exchange, expected, what, actual }: Evidence, history: History): RecordedFault {
  const words = typeof expected === 'string' ? expected : describePairs(expected)
  return {
    exchange,
    actual,
    expected: `${words}${what && ` (${what})`}`,
    story: storyOf(history, exchange),
  }
}

function successOf(
  entryExchange: EntryExchange,
  id: OperationId,
  target: Target,
): RequirementId | undefined {
  if (entryExchange.response.status < 200 || entryExchange.response.status >= 300) return undefined
  const { state, bytes } = entryExchange.entry.requestBody
  const body = (): unknown =>
    state === 'whole' ? parsedJson(Buffer.from(bytes).toString('utf8')) : undefined
  switch (id) {
    case 'pdf.parse': {
      const format = member(body(), 'format')
      return format === 'text' || format === 'markdown' ? `pdf.parse/200-${format}` : undefined
    }
    case 'chat.create':
      return isPlainChat(body(), entryExchange.response) ? 'chat.create/200-completion' : undefined
    case 'medical.comprehend': {
      const pointer = target.operations[id]?.fields['response_type'] ?? '/response_type'
      return getAt(body(), pointer) === 'Entities' ? 'medical.comprehend/200-entities' : undefined
    }
    default:
      return grantedRequirement[id]
  }
}

function isPlainChat(body: unknown, response: EntryExchange['response']): boolean {
  const isStream = /^\s*text\/event-stream/i.test(response.header('content-type') ?? '')
  const tools = member(body, 'tools') ?? []
  const hasTools = !Array.isArray(tools) || tools.length > 0
  return isObject(body) && !isStream && !hasTools && member(body, 'stream') !== true
}

/** Judges a 2xx like a run does: returns the fault, if any; throws `NotExercised` if inconclusive. */
function successFault(entryExchange: EntryExchange, requirement: RequirementId, id: OperationId) {
  const { expects } = requirementOf(requirement)
  const expected = typeof expects === 'number' ? String(expects) : 'a 2xx'
  if (typeof expects === 'number' && entryExchange.response.status !== expects) return { expected }
  const schema = operation(id).response as BodySchema | undefined
  const { state } = entryExchange.entry.body
  if (state === 'missing') throw new NotExercised('the recorder omitted the body of such an answer')
  if (state === 'cut' && schema !== undefined)
    throw new NotExercised('the recording does not contain a complete body of such an answer')
  if (!isGranted(entryExchange.response)) return { expected }
  return schema && shapeFault(entryExchange.response, schema)
}

interface RecordingFacts {
  readonly target: Target
  readonly redactor: Redactor
  readonly judged: JudgedRecording
  readonly entries: readonly RecordedEntry[]
  readonly now: Date
  readonly rerun: string
}

const notShown = 'recorded traffic does not show it'
const nothingShown =
  'the recording has no answered request to an operation of the interface under its base URL'

export function recordingReport(facts: RecordingFacts): Report {
  const { target, redactor, judged } = facts
  const everything = { only: [], skip: [], readOnly: false, interrupted: false, runs: 0 }
  const requirements = catalogue.map((requirement) => {
    const refused = notApplicable(requirement, target)
    return refused
      ? { ...resultOf(requirement), outcome: 'not-applicable' as const, ...reasonIn(refused) }
      : resultOf(requirement, facts)
  })
  return assembleReport({
    target: { name: target.name, baseUrl: redactor.text(target.baseUrl), digest: target.digest },
    run: {
      ...noRun,
      ...timeOf(facts),
      requests: judged.requests,
    },
    requirements,
    judged: everything,
    notJudged: whyNotJudged(requirements, judged),
  })
}

function timeOf(recordingFacts: RecordingFacts) {
  let [first, last] = [Infinity, -Infinity]
  for (const { startedAt, durationMs } of recordingFacts.entries) {
    if (startedAt === undefined) continue
    first = Math.min(first, startedAt)
    last = Math.max(last, startedAt + durationMs)
  }
  return first === Infinity
    ? { startedAt: recordingFacts.now.toISOString(), durationMs: 0 }
    : { startedAt: new Date(first).toISOString(), durationMs: Math.round(last - first) }
}

/** Without a success nothing is judged: the meaning of refused requests is unknown. */
function whyNotJudged(
  requirements: readonly RequirementResult[],
  judgedRecording: JudgedRecording,
): string | undefined {
  const isShown = requirements.some(
    (requirement) =>
      requirement.outcome === 'failed' ||
      (requirement.outcome === 'passed' && requirement.operation !== 'envelope'),
  )
  if (isShown) return undefined
  return judgedRecording.requests === 0
    ? `nothing was judged: ${nothingShown}`
    : 'nothing was judged: the recording contains no successful response of the interface'
}

function resultOf(requirement: CatalogueRequirement, facts?: RecordingFacts): RequirementResult {
  const { id, operation, level, section, statement } = requirement
  const tally = facts?.judged.tally(id)
  return {
    ...{ id, operation, level, section, statement },
    ...outcomeOf(tally, facts?.judged.requests === 0),
    control: 'none',
    cases: tally?.cases ?? 0,
    durationMs: 0,
    failures:
      facts && tally ? tally.failures.map((seen) => failureOf(requirement, seen, facts)) : [],
  }
}

function outcomeOf(
  tally: Tally | undefined,
  empty: boolean,
): Pick<RequirementResult, 'outcome' | 'reason'> {
  if (tally && tally.failures.length > 0) return { outcome: 'failed' }
  if (tally && tally.cases > 0) return { outcome: 'passed' }
  return { outcome: 'not-exercised', reason: tally?.unjudged ?? (empty ? nothingShown : notShown) }
}

function failureOf(
  requirement: CatalogueRequirement,
  { actual, exchange, expected, story }: RecordedFault,
  recordingFacts: RecordingFacts,
): Failure {
  const cites = ` (${sections(requirement.section)})`
  const clean = (text: string): string =>
    shownText(text, (whole) => recordingFacts.redactor.text(whole))
  const { index } = (exchange as EntryExchange).entry
  return {
    message: clean(describeProbe(exchange, `(log.entries[${index}])`)),
    expected: clean(expected + cites),
    cites,
    actual: clean(typeof actual === 'function' ? actual() : (actual ?? describeResponse(exchange))),
    onlyName: false,
    seed: 0,
    rerun: recordingFacts.rerun,
    ...(story !== undefined && { story }),
    exchange: exchange.recorded(),
  }
}
