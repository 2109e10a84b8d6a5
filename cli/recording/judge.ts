import { performance } from 'node:perf_hooks'
import {
  catalogue,
  granting,
  type RequirementId,
  requirementById,
  type CatalogueRequirement,
} from '../../catalogue/catalogue.ts'
import { operationOf, type OperationId } from '../../catalogue/operations.ts'
import { observedCase, observedRequirements } from '../../suites/checks/observed.ts'
import { type BodySchema, misfitOf, shapeFinding } from '../../harness/run/index.ts'
import {
  describePairs,
  Journal,
  type Evidence,
  eventOf,
  type Rule,
  describeProbe,
  describeResponse,
} from '../../harness/journal/index.ts'
import { shownText } from '../../harness/recording/recorder.ts'
import type { Redactor } from '../../harness/recording/redactor.ts'
import {
  type RecordedExchange,
  type Failure,
  type RequirementResult,
  assembleReport,
  type TpeMode,
  noRun,
  plainReason,
  reasonIn,
  resultOf,
  sections,
} from '../../harness/report/index.ts'
import type { Target } from '../../harness/target/index.ts'
import { getAt, isObject, member, parsedJson } from '../../schemas/json.ts'
import { failedRule } from '../../suites/jobs/readings.ts'
import { type JobRuleId, jobRules } from '../../suites/jobs/rules.ts'
import { notApplicable } from '../../suites/plan.ts'
import { relationRule } from '../../suites/created/rules.ts'
import { pathUnder, type EntryExchange, exchangeOf, shownEntry } from './exchange.ts'
import type { RecordedEntry } from './read-har.ts'
import { refusalsIn, shownRefusals } from './refusals.ts'

export interface Recording {
  /** In sending order, as far as known. */
  readonly entries: readonly RecordedEntry[]
  readonly target: Target
  readonly redactor: Redactor
  /** The command that judges it again. */
  readonly rerun: string
  readonly now: Date
  readonly tpe?: TpeMode
  readonly strict?: boolean
}

interface Fault extends Pick<Evidence, 'exchange' | 'expected'> {
  readonly what?: string
  /** Undefined: the whole answer. */
  readonly actual?: string | (() => string) | undefined
}

interface Tally {
  cases: number
  readonly failures: Failure[]
  unjudged?: string
}

const maxKept = 3

/** A recording does not show what was bad input. */
const ofAnyResponse = observedRequirements.filter((id) => id !== 'envelope/bad-input-no-5xx')

function rulesOf(target: Target): ReadonlyMap<RequirementId, Rule> {
  const { failingApplication: failing } = target.resources
  const rules = new Map<RequirementId, Rule>()
  for (const one of catalogue) {
    const rule = relationRule(one)
    if (rule) rules.set(one.id, rule)
  }
  for (const id of Object.keys(jobRules) as JobRuleId[]) rules.set(id, jobRules[id].rule)
  // Single answers are judged separately.
  rules.delete('jobs.retrieve/200-job')
  if (failing) rules.set('jobs.retrieve/200-failed', failedRule(failing.id))
  return rules
}

export function countShown(target: Target): number {
  const ids = new Set<RequirementId>([
    ...ofAnyResponse,
    ...Object.values(granting).map((one) => one.id),
    ...(['pdf.parse/200-text', 'pdf.parse/200-markdown'] as const),
    ...rulesOf(target).keys(),
    ...shownRefusals(target),
  ])
  return catalogue.filter((one) => ids.has(one.id) && !notApplicable(one, target)).length
}

/** Sent by browsers and monitors, to any path. */
const changeNothing = ['HEAD', 'OPTIONS']

/** Judges recorded answers: each by itself, and all by the rules of a live run. */
export function judgeRecording(recording: Recording) {
  const { entries, redactor, target, tpe = 'exact', strict = false } = recording
  const judged: (readonly [EntryExchange, RequirementId])[] = []
  const exchanges: EntryExchange[] = []
  const history = new Journal(target.limits, true)
  const tallies = new Map<RequirementId, Tally>()
  const tallyOf = (id: RequirementId): Tally => {
    const tally = tallies.get(id) ?? { cases: 0, failures: [] }
    tallies.set(id, tally)
    return tally
  }
  const count = (id: RequirementId, fault?: Fault): void => {
    const tally = tallyOf(id)
    tally.cases++
    if (fault && tally.failures.length < maxKept)
      tally.failures.push(failureOf(id, fault, recording))
  }

  for (const entry of entries) {
    const { isOfServer, method, status, url } = entry
    const path = pathUnder(target.baseUrl, url)
    if (!isOfServer || !path?.startsWith('/v1/') || changeNothing.includes(method)) continue
    const exchange = exchangeOf(entry, path, redactor)
    const { operation } = exchange.probe
    if (operation === null && method !== 'GET') history.othersAt.push(exchange.sentAt)
    if (operation && target.absent[operation] !== undefined) continue
    if (operation) exchanges.push(exchange)
    if (status === 0) continue
    for (const requirement of ofAnyResponse) {
      // Without recorded headers, the media type is unknown; outside the interface, it is free.
      const isLabelled = entry.headers.length > 0 && operation !== null
      if (requirement === 'envelope/content-type' && !isLabelled) continue
      const seen = observedCase(requirement, exchange)
      if (seen) count(requirement, seen.actual === undefined ? undefined : { exchange, ...seen })
    }
    if (!operation) continue
    const success = successOf(exchange, operation, target)
    if (success) {
      const fault = successFault(exchange, success, operation)
      if (fault && 'reason' in fault) tallyOf(success).unjudged ??= fault.reason
      else count(success, fault && { exchange, ...fault })
    }
    const requirement = success ?? granting[operation].id
    judged.push([exchange, status >= 400 ? 'envelope/shape' : requirement])
  }
  // As in a run, a request that must be refused is no evidence of anything else.
  const refusals = [...refusalsIn(exchanges, target, tpe)]
  const faults = new Map(refusals.flatMap(([id, , all]) => all.map((one) => [one, id] as const)))
  for (const one of exchanges) {
    const { response, ...unanswered } = one
    // The body of an error says what was refused: without it, a conflict may be any.
    if (response.status >= 400 && one.entry.body.state !== 'whole') continue
    const fault = faults.get(one)
    const { full, value: key } = one.probe.credential
    const request = fault === undefined && full ? 'unknown' : 'faulty'
    const sent = response.status === 0 ? unanswered : one
    history.append(eventOf(target, sent, { request, fault, key }))
  }
  const rules = history.events.length === 0 ? [] : [...rulesOf(target)]
  for (const [requirement, verdict] of [
    ...rules.map(([id, rule]) => [id, rule(history)] as const),
    ...refusals,
  ]) {
    const tally = tallyOf(requirement)
    if (verdict.outcome === 'open') {
      tally.unjudged ??= `${notShown}: ${plainReason(verdict.why).reason}`
      continue
    }
    const evidence = verdict.outcome === 'broken' ? verdict.evidence : []
    for (const one of evidence) count(requirement, one)
    tally.cases += Math.max(0, verdict.cases - evidence.length)
  }
  const requirements = catalogue.map((one) =>
    recordedResult(one, notApplicable(one, target), tallies.get(one.id), judged.length === 0),
  )
  const report = assembleReport({
    target: { name: target.name, baseUrl: redactor.text(target.baseUrl), digest: target.digest },
    run: { ...noRun, ...timeOf(recording), requests: judged.length, tpe, strict },
    requirements,
    notJudged: whyNotJudged(requirements, judged.length === 0),
  })
  return {
    report,
    *exchanges(): Iterable<RecordedExchange> {
      for (const [n, [{ entry, probe }, requirement]] of judged.entries())
        yield {
          ...{ n, requirement, operation: probe.operation, role: 'probe' },
          startedAt: new Date(entry.startedAt ?? performance.timeOrigin).toISOString(),
          durationMs: entry.durationMs,
          httpVersion: entry.httpVersion,
          ...shownEntry(entry, redactor),
        }
    },
  }
}

function successOf(
  { entry, response }: EntryExchange,
  id: OperationId,
  target: Target,
): RequirementId | undefined {
  if (response.status < 200 || response.status >= 300) return undefined
  const { state, bytes } = entry.requestBody
  const body = (): unknown =>
    state === 'whole' ? parsedJson(Buffer.from(bytes).toString('utf8')) : undefined
  switch (id) {
    case 'pdf.parse': {
      const format = member(body(), 'format')
      return format === 'text' || format === 'markdown' ? `pdf.parse/200-${format}` : undefined
    }
    case 'chat.create':
      return isPlainChat(body(), response) ? 'chat.create/200-completion' : undefined
    case 'medical.comprehend': {
      const pointer = target.operations[id]?.fields['response_type'] ?? '/response_type'
      return getAt(body(), pointer) === 'Entities' ? 'medical.comprehend/200-entities' : undefined
    }
    default:
      return granting[id].id
  }
}

function isPlainChat(body: unknown, response: EntryExchange['response']): boolean {
  const isStream = /^\s*text\/event-stream/i.test(response.header('content-type') ?? '')
  const tools = member(body, 'tools') ?? []
  const hasTools = !Array.isArray(tools) || tools.length > 0
  return isObject(body) && !isStream && !hasTools && member(body, 'stream') !== true
}

/** Judges a 2xx like a run does: the fault, if any, or the reason why it is inconclusive. */
function successFault(entryExchange: EntryExchange, requirement: RequirementId, id: OperationId) {
  const { entry, response } = entryExchange
  const { expects } = requirementById[requirement]
  const expected = typeof expects === 'number' ? String(expects) : 'a 2xx'
  if (typeof expects === 'number' && response.status !== expects) return { expected }
  const schema = operationOf(id).response as BodySchema | undefined
  const { state } = entry.body
  if (state === 'missing') return { reason: 'the recorder omitted the body of such an answer' }
  if (state === 'cut' && schema !== undefined)
    return { reason: 'the recording does not contain a complete body of such an answer' }
  if (!response.isGranted) return { expected }
  return schema && shapeFinding(entryExchange, schema)
}

const notShown = 'recorded traffic does not show it'
const nothingShown =
  'the recording has no answered request to an operation of the interface under its base URL'

function timeOf(recording: Recording) {
  let [first, last] = [Infinity, -Infinity]
  for (const { startedAt = NaN, durationMs } of recording.entries) {
    if (startedAt < first) first = startedAt
    if (startedAt + durationMs > last) last = startedAt + durationMs
  }
  return first === Infinity
    ? { startedAt: recording.now.toISOString(), durationMs: 0 }
    : { startedAt: new Date(first).toISOString(), durationMs: Math.round(last - first) }
}

/** Without a success nothing is judged: the meaning of refused requests is unknown. */
function whyNotJudged(results: readonly RequirementResult[], isEmpty: boolean): string | undefined {
  const isShown = results.some(
    (result) =>
      result.outcome === 'failed' ||
      (result.outcome === 'passed' && result.operation !== 'envelope'),
  )
  if (isShown) return undefined
  const why = isEmpty
    ? nothingShown
    : 'the recording contains no successful response of the interface'
  return `nothing was judged: ${why}`
}

function recordedResult(
  requirement: CatalogueRequirement,
  refused: ReturnType<typeof notApplicable>,
  tally: Tally | undefined,
  isEmpty: boolean,
): RequirementResult {
  const { cases = 0, failures = [], unjudged = isEmpty ? nothingShown : notShown } = tally ?? {}
  if (refused) return resultOf(requirement, { outcome: refused.outcome, ...reasonIn(refused) })
  if (cases === 0) return resultOf(requirement, { outcome: 'not-exercised', reason: unjudged })
  const outcome = failures.length > 0 ? 'failed' : 'passed'
  return resultOf(requirement, { outcome, cases, failures })
}

function failureOf(
  id: RequirementId,
  { actual, exchange, expected, what }: Fault,
  recording: Recording,
): Failure {
  const cites = ` (${sections(requirementById[id].section)})`
  const words = typeof expected === 'string' ? expected : describePairs(expected)
  const misfit = typeof expected === 'string' ? undefined : misfitOf(exchange, expected)
  const clean = (text: string): string => shownText(text, (whole) => recording.redactor.text(whole))
  const { index } = (exchange as EntryExchange).entry
  return {
    message: clean(describeProbe(exchange, `(log.entries[${index}])`)),
    expected: clean(words + (what ? ` (${what})` : '') + cites),
    cites,
    actual: clean(
      typeof actual === 'function'
        ? actual()
        : (actual ?? misfit?.actual ?? describeResponse(exchange)),
    ),
    ...{ onlyName: false, seed: 0, rerun: recording.rerun },
    ...(misfit && { onlyName: misfit.onlyName, toRefuse: true }),
    exchange: exchange.recorded(),
  }
}
