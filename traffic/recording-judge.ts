import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { grantedRequirement, type RequirementId, requirementOf } from '../catalogue/catalogue.ts'
import { observedCases } from '../harness/checks/index.ts'
import {
  type Exchange,
  NotExercised,
  type BodySchema,
  isGranted,
  shapeFault,
} from '../harness/engine/index.ts'
import type { Redactor } from '../harness/recording/index.ts'
import type { RecordedExchange, Story } from '../harness/report/index.ts'
import type { Target } from '../harness/target/index.ts'
import { pathUnder, operationAt } from './base-url.ts'
import {
  createRecordedHistory,
  type RecordedHttpResponse,
  recordEntry,
  recordResponse,
} from './recorded-exchange.ts'
import type { Har } from './read-har.ts'
import type { RecordedEntry } from './recorded-entry.ts'
import { operation, type OperationId } from '../catalogue/operations.ts'
import { isObject, member, getAt, parsedJson } from '../schemas/json.ts'

/** A fault that a recorded answer shows. */
export interface RecordedFault {
  readonly exchange: Exchange
  readonly expected: string
  /** Undefined: the answer as a whole. */
  readonly actual?: string | (() => string) | undefined
  /** JSON Pointer to the member of the body that is wrong. */
  readonly at?: string | undefined
  /** What happened before it, if that belongs to the fault. */
  readonly story?: Story | undefined
}

export type OnFailure = (requirement: RequirementId, fault: RecordedFault) => void

/** Findings of recorded responses on one requirement. */
export interface RequirementTally {
  cases: number
  /** The first of them. */
  readonly failures: RecordedFault[]
  /** Why answers that could have been judged were not. */
  unjudged?: string
}

const maxKept = 3

/** Judgement on a recording. */
export type Seen = ReturnType<ReturnType<typeof createRecordingJudge>['end']>

interface RecordingJudgeOptions {
  readonly target: Target
  readonly redactor: Redactor
  readonly again: (index: number) => RecordedEntry
  /** Called with each failure as it is seen: with one of a job perhaps once more at the end. */
  readonly onFailure?: OnFailure
  /** Somebody waits for it: what several answers show is told as soon as it is known, not at the end. */
  readonly isLive?: boolean
}

const methods = ['GET', 'POST']
/** What they name may be another one afterwards, or gone. */
const changes = ['DELETE', 'PUT', 'PATCH']

const timeOf = ({ startedAt = NaN }: RecordedEntry): number => startedAt - performance.timeOrigin

/** Judges recorded answers of the interface, one after the other in the order of time: of what it saw, the places stay. */
export function createRecordingJudge({
  target,
  redactor,
  again,
  onFailure,
  isLive = false,
}: RecordingJudgeOptions) {
  /** How many entries were judged, and why the others were not. */
  const counts = {
    judged: 0,
    otherAddresses: 0,
    /** Requests with methods that the interface does not have (for example a browser's OPTIONS). */
    otherMethods: 0,
    unanswered: 0,
    /** To operations that the target file declares as not served or removed. */
    absent: 0,
    /** Under `/v1`, but no operation of the interface: judged by their label and their keys only. */
    unknown: 0,
  }
  /** Answers of the interface that the recording has with their bodies, and without. */
  const bodies = { kept: 0, missing: 0, elsewhere: 0 }
  const recorded = (entry: RecordedEntry) =>
    recordResponse(entry, pathUnder(target.baseUrl, entry.url)!, redactor)
  const history = createRecordedHistory(target, (index) => recorded(again(index)))
  const tallies = new Map<RequirementId, RequirementTally>()
  const tallyOf = (id: RequirementId): RequirementTally => {
    const tally = tallies.get(id) ?? { cases: 0, failures: [] }
    tallies.set(id, tally)
    return tally
  }
  const count = (requirement: RequirementId, fault?: RecordedFault): void => {
    const tally = tallyOf(requirement)
    tally.cases++
    if (!fault) return
    onFailure?.(requirement, fault)
    if (tally.failures.length < maxKept) tally.failures.push(fault)
  }

  /** The answer of an entry that was sent to the interface and answered; what is not judged is counted. */
  const answerOfInterface = (entry: RecordedEntry): RecordedHttpResponse | undefined => {
    if (!pathUnder(target.baseUrl, entry.url)?.startsWith('/v1/'))
      return void counts.otherAddresses++
    if (entry.body.isElsewhere) bodies.elsewhere++
    if (entry.status > 0 && entry.body.state === 'missing') bodies.missing++
    else if (entry.status > 0 && entry.body.bytes.length > 0) bodies.kept++
    if (changes.includes(entry.method)) history.seeOther(timeOf(entry))
    if (!methods.includes(entry.method)) return void counts.otherMethods++
    if (entry.status === 0) return void counts.unanswered++
    const exchange = recorded(entry)
    const { operation } = exchange.probe
    if (operation !== null && target.absent[operation] !== undefined) return void counts.absent++
    if (operation === null) {
      counts.unknown++
      if (entry.method !== 'GET') history.seeOther(timeOf(entry))
    }
    return exchange
  }

  return {
    /** Gives the requirement that judges it first, its success or every error's shape; undefined if it is no exchange of an operation. */
    see(entry: RecordedEntry): RequirementId | undefined {
      const exchange = answerOfInterface(entry)
      if (!exchange) return undefined
      for (const { requirement, actual, at, expected } of observedCases(exchange)) {
        // An answer whose headers were not recorded does not tell how it was labelled.
        if (requirement === 'envelope/content-type' && entry.headers.length === 0) continue
        count(requirement, actual === undefined ? undefined : { exchange, expected, actual, at })
      }
      const { operation } = exchange.probe
      if (operation === null) return undefined
      counts.judged++
      const success = shownSuccess(exchange, target)
      if (success) {
        try {
          const fault = successFault(exchange, success, operation)
          count(success, fault && { exchange, ...fault })
        } catch (error) {
          if (!(error instanceof NotExercised)) throw error
          tallyOf(success).unjudged ??= error.message
        }
      }
      for (const { requirement, fault } of history.see(exchange, isLive))
        onFailure?.(requirement, fault)
      return exchange.response.status >= 400
        ? 'envelope/shape'
        : (success ?? grantedRequirement[operation])
    },
    end() {
      for (const { requirement, cases, faults, why } of history.end()) {
        for (const fault of faults) count(requirement, fault)
        const tally = tallyOf(requirement)
        tally.cases += Math.max(0, cases - faults.length)
        if (why !== undefined) tally.unjudged ??= `recorded traffic does not show it: ${why}`
      }
      return { counts, bodies, tally: (id: RequirementId) => tallies.get(id) }
    },
  }
}

/** Bytes of bodies after which the event loop turns: what a weak reference was asked for lives until then. */
const turnAfter = 16 * 1024 * 1024

/** @param onEntry sees every entry, in the order of time */
export async function judgeRecording(
  har: Har,
  target: Target,
  redactor: Redactor,
  onEntry: (entry: RecordedEntry) => void = () => undefined,
) {
  const judge = createRecordingJudge({ target, redactor, again: (index) => har.entry(index) })
  // Two lists, since there may be millions of entries.
  const judged: number[] = []
  const requirements: RequirementId[] = []
  let kept = 0
  for (const index of har.inTime) {
    const entry = har.entry(index)
    onEntry(entry)
    const requirement = judge.see(entry)
    kept += entry.body.bytes.length
    if (kept > turnAfter) {
      await nextTurn()
      kept = 0
    }
    if (!requirement) continue
    judged.push(index)
    requirements.push(requirement)
  }
  return {
    ...judge.end(),
    *exchanges(): Iterable<RecordedExchange> {
      for (const [n, index] of judged.entries())
        yield recordedExchange(n, har.entry(index), requirements[n], { target, redactor })
    },
  }
}

/** An entry as a line of an exchange log has it. @param requirement undefined if it was not judged */
export function recordedExchange(
  n: number,
  entry: RecordedEntry,
  requirement: RequirementId | undefined,
  { target, redactor }: Pick<RecordingJudgeOptions, 'target' | 'redactor'>,
): RecordedExchange {
  const place = requirement && operationAt(entry.method, pathUnder(target.baseUrl, entry.url)!)
  return {
    n,
    ...{ requirement: requirement ?? null, operation: place?.operation ?? null, role: 'probe' },
    startedAt: new Date(entry.startedAt ?? performance.timeOrigin).toISOString(),
    durationMs: entry.durationMs,
    httpVersion: entry.httpVersion,
    ...recordEntry(entry, redactor),
  }
}

type Choose = (
  exchange: RecordedHttpResponse,
  body: unknown,
  target: Target,
) => RequirementId | undefined

/** The requirement of a success, if that depends on what the request asked for; undefined if it asked for something else. */
const chosen: Readonly<Partial<Record<OperationId, Choose>>> = {
  'pdf.parse': (_, body) => {
    const format = member(body, 'format')
    return format === 'text' || format === 'markdown' ? `pdf.parse/200-${format}` : undefined
  },
  'chat.create': ({ response }, body) => {
    const streamed = /^\s*text\/event-stream/i.test(response.header('content-type') ?? '')
    // A stream is no completion (its form is not shown), and a call of a tool need have no content.
    const tools = member(body, 'tools') ?? []
    const hasTools = !Array.isArray(tools) || tools.length > 0
    const plain = isObject(body) && member(body, 'stream') !== true && !hasTools
    return streamed || !plain ? undefined : 'chat.create/200-completion'
  },
  'medical.comprehend': (_, body, { operations }) => {
    const pointer = operations['medical.comprehend']?.fields['response_type'] ?? '/response_type'
    return getAt(body, pointer) === 'Entities' ? 'medical.comprehend/200-entities' : undefined
  },
}

/** The granted requirement that a 2xx shows; of anything else only the requirements that see every response say something. */
export function shownSuccess(
  exchange: RecordedHttpResponse,
  target: Target,
): RequirementId | undefined {
  const { entry, probe, response } = exchange
  const { operation: id } = probe
  if (id === null || response.status < 200 || response.status >= 300) return undefined
  const choose = chosen[id]
  if (!choose) return grantedRequirement[id]
  const { state, bytes } = entry.requestBody
  return choose(
    exchange,
    state === 'whole' ? parsedJson(Buffer.from(bytes).toString('utf8')) : undefined,
    target,
  )
}

/**
 * Judges a 2xx by the granted requirement that it shows, as those of a run are judged: what is wrong with it, undefined if
 * nothing is. Throws `NotExercised` if nobody can tell.
 */
export function successFault(
  { entry, response }: RecordedHttpResponse,
  requirement: RequirementId,
  id: OperationId,
) {
  const { expects } = requirementOf(requirement)
  const expected = typeof expects === 'number' ? String(expects) : 'a 2xx'
  const schema = operation(id).response as BodySchema | undefined
  const isOther = typeof expects === 'number' && response.status !== expects
  const { state } = entry.body
  if (!isOther && (state === 'missing' || (schema !== undefined && state !== 'whole')))
    throw new NotExercised(
      state === 'missing'
        ? 'the recorder left out the body of such an answer'
        : 'the recording does not hold the whole body of any such answer',
    )
  if (isOther || !isGranted(response)) return { expected }
  return schema && shapeFault(response, schema)
}
