import { groupBy } from '../group-by.ts'
import { inspected } from '../recording/redactor.ts'
import {
  type CatalogueRequirement,
  catalogue,
  requirementById,
  findRequirement,
} from '../../catalogue/catalogue.ts'
import {
  type CatalogueResult,
  type Failure,
  type Cleanup,
  type Created,
  type NotServed,
  type Reason,
  isExpectedFailure,
  leftOut,
  mistakeReason,
  plainReason,
  resultOf,
} from '../report/index.ts'
import { spoilerBlamed, failureOf, failuresOf, blamed, isJudged, whyUnsure } from './check.ts'
import {
  type Client,
  type Given,
  allEnded,
  keyRefusal,
  refusedSince,
  type Plan,
  type EndCause,
  RunEnded,
} from '../client/index.ts'
import { send, sendWhile, takeConflict } from './ask.ts'
import { cleanUp, setUp, tearDown } from './own-requests.ts'
import { type CheckContext, isPlanned, type Later, type Prepared } from './run.ts'
import {
  type Ask,
  type Verdict,
  type Exchange,
  isOpen,
  kindOf,
  type PreviousRequest,
  withFinding,
  findingAtEnd,
  moreAtEnd,
  isHarmless,
  leavesState,
} from '../journal/index.ts'
import { debuglog } from 'node:util'
import { shownText } from '../recording/recorder.ts'

type Tell = (result: CatalogueResult) => void

/**
 * Begins a run. Its results are by id; those that are not judged yet are missing.
 * @param tell gets the events in order: `planned` first, `ended` last
 */
export function startJudging(prepared: Prepared, tell?: (event: RunEvent) => void) {
  const { client, given } = prepared
  const results = new Map<string, CatalogueResult>()
  client.onPause = (operation, pauseMs) => tell?.({ kind: 'throttled', operation, pauseMs })
  tell?.({ kind: 'planned', plan: given.plan })
  const judged = judgeAll(prepared, results, (result) => {
    results.set(result.id, result)
    tell?.({ kind: 'judged', result })
  })
  const done = judged
    .catch((error: unknown) => {
      debug('%s', inspected(error))
      throw error
    })
    .finally(() => tell?.({ kind: 'ended', facts: factsOf(prepared) }))
  return { done, results }
}

/** The course of a run, from the question whether the target is there to the clean-up. */
async function judgeAll(
  prepared: Prepared,
  results: ReadonlyMap<string, CatalogueResult>,
  tell: Tell,
): Promise<void> {
  const { client, given, hooks, judgingOf } = prepared
  const { life } = client
  const { setup, teardown, scenarios } = given.target
  const planned = catalogue.filter((one) => isPlanned(given, one.id))
  const exclusive = planned.filter((one) => scenarios[one.id]?.isExclusive)
  const others = planned.filter((one) => !exclusive.includes(one))
  const observed = others.filter((one) => one.isObserved)
  const last = others.filter((one) => one.judgedLast && !observed.includes(one))
  const looksAtEnd: (() => Promise<void>)[] = []
  const exercise = async (requirement: CatalogueRequirement): Promise<void> => {
    const { id } = requirement
    const context: CheckContext = {
      ...{ client, given, hooks, requirement },
      scenario: given.target.scenarios[id],
      send: (source, purpose, how) =>
        send(client, source, { requirement: id, role: 'probe', ...purpose }, how),
    }
    const outcome = await outcomeOf(context, judgingOf(id)?.judge)
    if (outcome.outcome === 'later')
      looksAtEnd.push(async () =>
        tell(judgedResult(context, await outcomeOf<never>(context, outcome.judge))),
      )
    else tell(judgedResult(context, outcome))
  }
  try {
    const isReady =
      !life.ended &&
      (await client.liveness.first().catch((error: unknown) => {
        // The source of the key may be asked again here, and fail.
        if (life.ended) return false
        throw error
      }))
    if (isReady) await hooks.before(client, given).catch(() => undefined)
    if (isReady && setup.length + teardown.length > 0) await setUp(client, given)
    for (const one of catalogue) {
      const entry = given.plan.get(one.id)
      if (entry?.run !== false) continue
      const { run: _run, ...found } = entry
      const result = resultOf(one, found)
      // Only these reasons contain words of the target file.
      const isQuoting = entry.why?.kind === 'undeclared' || entry.why?.kind === 'unreachable'
      tell(isQuoting ? { ...result, ...redacted(client, result) } : result)
    }
    // If a hook cannot start, its requirements report that.
    const started = hooks.start().catch(() => undefined)
    const concurrent = others.filter((one) => !observed.includes(one) && !last.includes(one))
    await Promise.all([...concurrent.map(exercise), started])
    for (const requirement of exclusive) await exercise(requirement)
    await Promise.all(looksAtEnd.splice(0).map((look) => look()))
    if (!life.ended)
      await hooks.finish().catch((error: unknown) => {
        // What the preparations lack, their requirements report.
        if (!(error instanceof RunEnded)) throw error
      })
    for (const requirement of [...last, ...observed]) await exercise(requirement)
    await Promise.all(looksAtEnd.splice(0).map((look) => look()))
    if (!life.ended) await client.throttle?.endIfSpent()
    await lookBack(prepared, results, tell)
  } finally {
    client.liveness.stop()
    client.throttle?.release()
    const { created, saved } = given.objects
    const cleaned = created.length > 0 && cleanUp(client, given)
    // After an interrupt there is no time to do both in sequence.
    if (life.ended?.cause !== 'interrupted') await Promise.allSettled([cleaned])
    try {
      await allEnded([cleaned, saved && tearDown(client, given, saved)])
    } finally {
      await client.close()
    }
  }
}

/** What only the whole run shows: of spoiled connections, of a refused key, of the end of the run, and of failures sent again. */
async function lookBack(
  prepared: Prepared,
  results: ReadonlyMap<string, CatalogueResult>,
  tell: Tell,
): Promise<void> {
  const { client, given, hooks } = prepared
  const { findings, journal, life } = client
  const further = new Map<string, Failure>()
  for (const { wrong, fresh } of findings.spoilers.values()) {
    const found = spoilerBlamed(given, wrong, fresh)
    if (found && !further.has(found.id)) further.set(found.id, found.failure)
  }
  for (const [id, evidence] of findings.onTraffic)
    if (isJudged(given, id) && !further.has(id) && whyUnsure([evidence]) === undefined)
      further.set(
        id,
        failureOf({ client, given, hooks, requirement: requirementById[id] }, evidence),
      )
  for (const [id, failure] of further) {
    const known = results.get(id)
    if (known) tell(failedBy(known, [...known.failures, failure]))
  }
  const refusal = keyRefusal(journal)
  const isRefused = (failure: Failure): boolean => failure.exchange?.response?.status === 401
  for (const { failures, ...result } of refusal === undefined ? [] : [...results.values()])
    if (result.operation !== 'envelope' && failures.length > 0 && failures.every(isRefused))
      tell({ ...result, outcome: 'not-exercised', reason: refusal, failures: [] })
  const wrong = [...results.values()].filter((one) => one.failures.length > 0)
  for (const result of await Promise.all(wrong.map((one) => withoutChance(client, one))))
    if (result) tell(result)
  // Once the full key is refused, or everything is throttled, answers say nothing.
  const last = journal.answers.findLast((one) => one.status !== 429 && one.status !== 503)
  const throttledSince = life.ended?.cause === 'throttled' ? last?.endedAt : undefined
  const since = life.ended?.cause === 'key' ? refusedSince(journal) : throttledSince
  if (since !== undefined)
    for (const result of [...results.values()]) {
      const before = judgedBefore(client, result, since)
      if (before !== result) tell(before)
    }
  const failed = [...results.values()].filter((result) => result.outcome === 'failed')
  if (failed.length === 0) return
  for (const result of await sendFailedAgain(client, given, failed)) tell(result)
  for (const result of await blameSpoilers(client, given, results)) tell(result)
}

/** The request of a failure once more, on a connection of its own. */
function againOf({ id }: CatalogueResult, { probe }: Exchange): Ask {
  // If it creates an object after all, that is listed and removed like others.
  const mayMake = probe.effect !== 'none' && leavesState(probe)
  const purpose = { requirement: id, role: 'probe', skipPassive: !mayMake } as const
  return { ...asIs, source: probe, purpose }
}

const asIs = { fresh: true, awaitFree: takeConflict } as const

/** Sends again what got no answer when the run had lost fewer; without failures that chance alone explains, if it has some. */
async function withoutChance(
  client: Client,
  result: CatalogueResult,
): Promise<CatalogueResult | undefined> {
  const { breaker, findings } = client
  const isByChance = async ({ exchange }: Failure): Promise<boolean> => {
    const lost = exchange && findings.shown.get(exchange)
    if (lost?.unansweredTimes === undefined) return false
    const times = lost.unansweredTimes
    const again = againOf(result, lost)
    const isAnswered = (came: readonly Exchange[]) => came.some((one) => one.response)
    const came = await sendWhile(
      client,
      () => again,
      (so) => (isAnswered(so) || times + so.length >= breaker.proof() ? 0 : 1),
    )
    return isOpen(came) || isAnswered(came)
  }
  const failures: Failure[] = []
  for (const failure of result.failures) if (!(await isByChance(failure))) failures.push(failure)
  if (failures.length === result.failures.length) return undefined
  if (failures.length > 0) return { ...result, failures }
  const reason = `${result.failures[0]!.actual}, and the run lost other answers as well`
  return { ...result, outcome: 'not-exercised', reason, failures }
}

function judgedBefore(client: Client, result: CatalogueResult, since: number): CatalogueResult {
  const { shown: exchanges } = client.findings
  const { failures, outcome, ...rest } = result
  const isBefore = (failure: Failure): boolean =>
    failure.exchange === undefined || (exchanges.get(failure.exchange)?.sentAt ?? -Infinity) < since
  const before = failures.filter(isBefore)
  const last = client.journal.answers.findLast((answer) => answer.requirement === result.id)
  const isOver =
    outcome === 'failed'
      ? before.length === 0
      : outcome === 'passed' && last !== undefined && last.sentAt >= since
  if (isOver)
    return { ...rest, outcome: 'not-exercised', ...client.life.ended!.reason, failures: [] }
  return before.length < failures.length ? { ...result, failures: before } : result
}

export interface RunFacts {
  readonly requests: number
  readonly throttled: number
  readonly retried: number
  readonly longestPauseMs: number
  readonly proxy: string | null
  readonly created: readonly Created[]
  readonly cleanup: Cleanup
  /** How often each status came. */
  readonly statuses: readonly { readonly status: number; readonly times: number }[]
  readonly notServed: readonly NotServed[]
  readonly absent: readonly NotServed[]
  /** Every answered request with the full key returned 401, or there is no key. */
  readonly keyRefused: boolean
  readonly keyRefusal?: string | undefined
  readonly ended: ({ readonly cause: EndCause } & Reason) | null
  readonly jobsInProgress: readonly string[]
  readonly recordingProblem: string | undefined
  readonly hints: readonly string[]
}

export function factsOf(prepared: Prepared): RunFacts {
  const { client, given, hooks } = prepared
  const { breaker, findings, proxy, recorder, redact, throttle } = client
  const { created, cleanups } = given.objects
  const { ended } = client.life
  const refusal = keyRefusal(client.journal)
  const byStatus = groupBy(client.journal.answers, (one) => one.status)
  return {
    requests: recorder.count,
    throttled: throttle?.totals.throttled ?? 0,
    retried: breaker.retried,
    longestPauseMs: throttle?.totals.longestAskedMs ?? 0,
    proxy: proxy?.host ?? null,
    recordingProblem: recorder.problem,
    created: created.map((object) => ({ ...object, id: redact(object.id) })),
    cleanup: {
      removed: [...cleanups.values()].filter((why) => why === null).length,
      left: [...cleanups].flatMap(([{ operation, id }, why]) =>
        why === null ? [] : [{ operation, id: redact(id), why: redact(why) }],
      ),
    },
    ...findings.signs.facts(redact),
    statuses: [...byStatus].map(([status, { length: times }]) => ({ status, times })),
    notServed: hooks.notServed,
    keyRefused: !given.keys.hasFull || refusal !== undefined,
    keyRefusal: refusal,
    ended: ended ? { cause: ended.cause, ...ended.reason, reason: redact(ended.message) } : null,
    jobsInProgress: hooks.unfinished().map(redact),
  }
}

export interface PlannedEvent {
  readonly kind: 'planned'
  readonly plan: Plan
}

/**
 * Sent once per requirement, unless the run ends early; again at the end if its requests spoiled their connections
 * (failed), or if its failure has disappeared.
 */
export interface JudgedEvent {
  readonly kind: 'judged'
  readonly result: CatalogueResult
}

export interface ThrottledEvent {
  readonly kind: 'throttled'
  readonly operation: string
  readonly pauseMs: number
}

export interface EndedEvent {
  readonly kind: 'ended'
  readonly facts: RunFacts
}

export type RunEvent = PlannedEvent | JudgedEvent | ThrottledEvent | EndedEvent

const debug = debuglog('conform')

type Reported = Pick<CatalogueResult, 'outcome' | 'reason' | 'why' | 'failures'>

function judgedResult(context: CheckContext, outcome: Outcome): CatalogueResult {
  const { client, given, requirement } = context
  const { cases, ...judged } = outcome
  client.journal.forget(requirement.id)
  const durationMs = Math.round(client.recorder.tookMs.get(requirement.id) ?? 0)
  const control = client.journal.controls.get(requirement.id) ?? 'none'
  const result = resultOf(requirement, { ...redacted(client, judged), control, cases, durationMs })
  const { bail, strict, expected } = given.options
  const isCounted = result.outcome === 'failed' && (result.level === 'must' || strict)
  if (isCounted && !isExpectedFailure(expected, result) && ++client.findings.failures >= bail)
    client.life.end('bail', leftOut('--bail'))
  return result
}

function redacted(client: Client, { reason, why, failures, outcome }: Reported): Reported {
  const clean = (text: string): string => shownText(text, client.redact)
  return {
    outcome,
    ...(reason === undefined ? {} : { reason: clean(reason) }),
    ...(why && { why: why.kind === 'unreachable' ? { ...why, note: clean(why.note) } : why }),
    failures: failures.map((failure) => ({
      ...failure,
      message: clean(failure.message),
      expected: clean(failure.expected),
      actual: clean(failure.actual),
    })),
  }
}

type Outcome = Reported & Pick<CatalogueResult, 'cases'>

const unexercised = (reason: Parameters<typeof plainReason>[0], cases = 0): Outcome => ({
  outcome: 'not-exercised',
  ...plainReason(reason),
  failures: [],
  cases,
})

/**
 * Exercises one requirement; never throws. Returns its outcome, or what judges it once more at the end of the run, if it
 * holds so far.
 */
async function outcomeOf<L extends Later>(
  context: CheckContext,
  check: ((context: CheckContext) => Promise<Verdict | L>) | undefined,
): Promise<Outcome | L> {
  const { client, given, requirement } = context
  let judged: Outcome | L
  try {
    if (client.life.ended && requirement.operation !== 'envelope') throw client.life.ended
    if (!check) throw new Error('the requirement has no check')
    const verdict = await check(context)
    const { cases = 0 } = verdict
    if (verdict.outcome === 'later') judged = verdict
    else if (verdict.outcome === 'open') judged = leftBy(client, verdict.why, cases)
    else if (verdict.outcome === 'broken') {
      const why = whyUnsure(verdict.evidence)
      if (why !== undefined) judged = leftBy(client, why)
      else {
        const failures = verdict.evidence.flatMap((one) => failuresOf(context, one))
        judged = { outcome: 'failed', failures, cases }
      }
    } else if (cases === 0) judged = unexercised('no answer was judged')
    else judged = { outcome: 'passed', failures: [], cases }
  } catch (error) {
    if (error instanceof RunEnded) judged = leftBy(client, error.reason)
    else {
      // A bug of the check, which says nothing about the target.
      debug('%s', inspected(error))
      judged = { outcome: 'not-exercised', ...mistakeReason(error), failures: [], cases: 0 }
    }
  }
  const entry = given.plan.get(requirement.id)
  const { cases } = judged
  if (entry?.run && entry.leftOut !== undefined) return unexercised(leftOut(entry.leftOut), cases)
  if (given.keys.hasFull || judged.outcome === 'not-exercised') return judged
  // Without a key, a request fails only if it is accepted.
  const isGranted =
    judged.outcome === 'failed' &&
    judged.failures.some(
      (failure) => Math.floor((failure.exchange?.response?.status ?? 0) / 100) === 2,
    )
  return isGranted ? judged : unexercised('no key: only requests that need no key were sent', cases)
}

/** Once the target is gone or refuses the key, that is the reason for all that follows. */
function leftBy(client: Client, why: string | Reason, cases = 0): Outcome {
  const { ended } = client.life
  const isOver = ended?.cause === 'unreachable' || ended?.cause === 'key'
  return unexercised(isOver ? ended.reason : why, cases)
}

/** With more failures than this, one that recurs is not sent again: most are wrong every time. */
const maxAskedOften = 30

/**
 * Resends each failed request alone at the end of the run. Returns the results whose first failure has changed, with
 * the new answer: it depends on earlier requests, time, or chance. Skipped in a quick run.
 */
async function sendFailedAgain(
  client: Client,
  given: Given,
  failed: readonly CatalogueResult[],
): Promise<CatalogueResult[]> {
  if (given.options.depth === 'quick' || client.life.ended) return []
  const isOften = failed.length <= maxAskedOften
  const changed = await Promise.all(
    failed.map((result) =>
      sentAgain(client, given, result, isOften).catch(
        (error: unknown): CatalogueResult | undefined =>
          error instanceof RunEnded
            ? undefined
            : { ...result, outcome: 'not-exercised', ...mistakeReason(error), failures: [] },
      ),
    ),
  )
  return changed.filter((result) => result !== undefined)
}

async function sentAgain(
  client: Client,
  given: Given,
  result: CatalogueResult,
  isOften: boolean,
): Promise<CatalogueResult | undefined> {
  const [failure, ...others] = result.failures
  const exchange = failure?.exchange && client.findings.shown.get(failure.exchange)
  // Its meaning depends on the requests around it.
  if (!exchange || given.target.scenarios[result.id]?.isExclusive) return undefined
  if (exchange.finding !== undefined || !isHarmless(exchange)) return undefined
  // Resending only helps if the failure depends on no state that is gone.
  if ((failure.takes ?? 'object-of-run') !== 'object-of-run') return undefined
  // Such a target locks keys after wrong ones.
  const isFew =
    given.target.limits.credentialProbes === 'few' &&
    findRequirement(result.id)?.fault === 'credentials'
  const again = againOf(result, exchange)
  const later = await sendWhile(
    client,
    () => again,
    (came) => moreAtEnd(exchange, came, isOften && !isFew),
  )
  const finding = isOpen(later) ? undefined : findingAtEnd(exchange, later)
  if (!finding) return undefined
  const told: Failure =
    finding.kind === 'otherwise-later'
      ? {
          ...failure,
          takes: failure.takes ?? 'earlier-requests',
          later: client.redact(finding.response),
        }
      : {
          ...failure,
          takes: 'chance',
          actual: client.redact(withFinding({ ...exchange, finding }, failure.actual)),
        }
  return { ...result, failures: [told, ...others] }
}

/** Wrong answers of which the cause is looked for, and how often it must show. */
const maxSought = 10
const proofs = 3

/**
 * Looks for the request that spoiled an answer which is right without it. Returns the changed results: the requirement
 * of the spoiling request fails, not that of the spoiled one.
 */
async function blameSpoilers(
  client: Client,
  given: Given,
  results: ReadonlyMap<string, CatalogueResult>,
): Promise<CatalogueResult[]> {
  const changed = new Map<string, CatalogueResult>()
  const spoiled = [...results.values()].filter((result) => {
    const [first, ...more] = result.failures
    return first?.takes === 'earlier-requests' && first.later !== undefined && more.length === 0
  })
  const spoilers: PreviousRequest[] = []
  for (const result of spoiled.slice(0, maxSought)) {
    const shown = result.failures[0]!.exchange
    const wrong = shown && client.findings.shown.get(shown)
    if (!wrong?.requestsBefore || client.life.ended) continue
    if (wrong.probe.effect !== 'none' && leavesState(wrong.probe)) continue
    const found = await spoilerOf(client, wrong, [...spoilers, ...wrong.requestsBefore])
    const shows = found?.recorded && blamed(given, found, wrong, found.recorded())
    const own = shows && (changed.get(shows.id) ?? results.get(shows.id))
    if (!found || !shows || !own) continue
    const { id, failure } = shows
    if (!spoilers.includes(found)) spoilers.unshift(found)
    if (id !== result.id) {
      const reason = `its answer was wrong only after a request of ${id}, which fails for that`
      changed.set(result.id, { ...result, outcome: 'not-exercised', reason, failures: [] })
    }
    if (own.outcome !== 'failed' || id === result.id) changed.set(own.id, failedBy(own, [failure]))
  }
  return [...changed.values()]
}

function failedBy(result: CatalogueResult, failures: Failure[]): CatalogueResult {
  const { reason: _reason, why: _why, ...rest } = result
  return { ...rest, outcome: 'failed', failures }
}

async function spoilerOf(
  client: Client,
  wrong: Exchange,
  candidates: readonly PreviousRequest[],
): Promise<PreviousRequest | undefined> {
  const unjudged = { skipPassive: true, skipJudging: 'at all' } as const
  for (const one of candidates) {
    // In turn: that request, the wrong answer, and the right one.
    const askOf = (at: number): Ask => {
      const { probe, purpose } = at % 3 === 0 ? one : wrong
      return { ...asIs, source: probe, purpose: { ...purpose, ...unjudged } }
    }
    const isShown = (came: readonly Exchange[]): boolean =>
      came.every((sent, at) => at % 3 === 0 || (kindOf(sent) === kindOf(wrong)) === (at % 3 === 1))
    const came = await sendWhile(client, askOf, (so) =>
      isShown(so) && so.length < 3 * proofs ? 1 : 0,
    )
    if (!isOpen(came) && isShown(came)) return one
  }
  return undefined
}
