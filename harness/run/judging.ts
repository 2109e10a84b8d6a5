import { type CatalogueRequirement, catalogue, requirementOf } from '../../catalogue/catalogue.ts'
import { type CatalogueResult, type Failure, isObserved } from '../report/index.ts'
import { groupBy } from '../group-by.ts'
import { exclusiveIds } from '../target/index.ts'
import { spoilersBlamed } from './blame.ts'
import { failureOf } from './failure.ts'
import { createCheckContext } from './check-context.ts'
import { type Client, type Given, allEnded, keyRefusal, refusedSince } from '../client/index.ts'
import { cleanUp, setUp, tearDown } from './own-requests.ts'
import { createEventQueue, factsOf, type Judging, type RunEvent } from './events.ts'
import { isPlanned, type Prepared } from './run.ts'
import { NotExercised } from '../journal/index.ts'
import { blameSpoilers, sendFailedAgain } from './at-end.ts'

import { exercise, type JudgeOf, unplanned } from './exercise.ts'

type Tell = (result: CatalogueResult) => void

export function startJudging(prepared: Prepared, judgeOf: JudgeOf): Judging {
  const { client, given, hooks } = prepared
  const queue = createEventQueue<RunEvent>()
  const results = new Map<string, CatalogueResult>()
  const tell: Tell = (result) => {
    results.set(result.id, result)
    queue.push({ kind: 'judged', result })
  }
  client.throttle.onHold((operation, pauseMs) =>
    queue.push({ kind: 'throttled', operation, pauseMs }),
  )
  queue.push({ kind: 'planned', plan: given.plan })
  const goThrough = async (): Promise<void> => {
    try {
      await exerciseAll(prepared, judgeOf, tell)
      if (!client.life.ended) await client.throttle.endIfSpent()
      await lookBack(prepared, results, tell)
    } finally {
      await finishRun(client, given).finally(() => {
        queue.push({ kind: 'ended', facts: factsOf(client, given, hooks) })
        queue.close()
      })
    }
  }
  const { life } = client
  return {
    events: queue,
    done: goThrough(),
    results,
    facts: () => factsOf(client, given, hooks),
    end: (cause, reason) => life.end(cause, reason),
  }
}

/** Concurrent; alone; after everything else; observed on all traffic. */
type Phase = 'concurrent' | 'exclusive' | 'last' | 'observed'

async function exerciseAll(
  { client, given, hooks }: Prepared,
  judgeOf: JudgeOf,
  tell: Tell,
): Promise<void> {
  const { life } = client,
    { target } = given
  const alone = exclusiveIds(target)
  const phaseOf = (requirement: CatalogueRequirement): Phase =>
    alone.has(requirement.id)
      ? 'exclusive'
      : isObserved(requirement.id)
        ? 'observed'
        : requirement.judgedLast
          ? 'last'
          : 'concurrent'
  const planned = catalogue.filter((requirement) => isPlanned(given, requirement.id))
  const phases = groupBy(planned, phaseOf)
  const of = (phase: Phase) => phases.get(phase) ?? []
  const looksAtEnd: (() => Promise<CatalogueResult>)[] = []
  const exerciseOne = async (requirement: CatalogueRequirement): Promise<void> => {
    const result = await exercise(
      createCheckContext(client, given, hooks, requirement),
      judgeOf(requirement.id),
    )
    if (typeof result === 'function') looksAtEnd.push(result)
    else tell(result)
  }
  const isReady =
    !life.ended &&
    (await client.liveness.first().catch((error: unknown) => {
      // The source of the key may be asked again here, and fail.
      if (life.ended) return false
      throw error
    }))
  if (isReady) for (const look of hooks.before) await look().catch(() => undefined)
  if (isReady && target.setup.length + target.teardown.length > 0) await setUp(client, given)
  for (const one of catalogue) if (!isPlanned(given, one.id)) tell(unplanned(client, given, one))
  // If a hook cannot start, its requirements report that.
  const started = hooks.start.map((start) => start().catch(() => undefined))
  await Promise.all([...of('concurrent').map(exerciseOne), ...started])
  for (const requirement of of('exclusive')) await exerciseOne(requirement)
  const lookOnceMore = async (): Promise<unknown> =>
    Promise.all(looksAtEnd.splice(0).map(async (look) => tell(await look())))
  await lookOnceMore()
  if (!life.ended) await Promise.all(hooks.finish.map(async (finish) => orNotExercised(finish())))
  for (const requirement of [...of('last'), ...of('observed')]) await exerciseOne(requirement)
  await lookOnceMore()
}

/** Waits for preparations; what they lack, their requirements report. */
async function orNotExercised(preparations: Promise<void> | undefined): Promise<void> {
  try {
    await preparations
  } catch (error) {
    if (!(error instanceof NotExercised)) throw error
  }
}

async function lookBack(
  { client, given, hooks }: Prepared,
  results: ReadonlyMap<string, CatalogueResult>,
  tell: Tell,
): Promise<void> {
  const further = spoilersBlamed(client, given)
  for (const [id, evidence] of client.findings.onTraffic)
    if (!further.has(id))
      further.set(id, failureOf({ client, given, hooks, requirement: requirementOf(id) }, evidence))
  for (const [id, failure] of further) {
    const known = results.get(id)
    if (!known) continue
    const { reason: _reason, why: _why, ...rest } = known
    tell({ ...rest, outcome: 'failed', failures: [...known.failures, failure] })
  }
  const refusal = given.keys.hasFull ? keyRefusal(client.journal) : undefined
  const isRefused = (failure: Failure): boolean => failure.exchange?.response?.status === 401
  for (const { failures, ...result } of refusal === undefined ? [] : [...results.values()])
    if (result.operation !== 'envelope' && failures.length > 0 && failures.every(isRefused))
      tell({ ...result, outcome: 'not-exercised', reason: refusal, failures: [] })
  const since = cutSince(client)
  for (const result of since === Infinity ? [] : [...results.values()]) {
    const before = judgedBefore(client, result, since)
    if (before !== result) tell(before)
  }
  const failed = [...results.values()].filter((result) => result.outcome === 'failed')
  for (const result of await sendFailedAgain(client, given, failed)) tell(result)
  for (const result of await blameSpoilers(client, given, results)) tell(result)
}

/** Since when answers say nothing (`performance.now()`): the full key is refused, or everything is throttled. */
function cutSince(client: Client): number {
  const cause = client.life.ended?.cause
  if (cause === 'key') return refusedSince(client.journal) ?? Infinity
  const last = client.journal.answers.findLast(
    (answer) => answer.status !== 429 && answer.status !== 503,
  )
  return (cause === 'throttled' ? last?.endedAt : undefined) ?? Infinity
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

async function finishRun(client: Client, given: Given): Promise<void> {
  client.stop()
  const { created, saved } = given.objects
  const isGone = client.life.ended?.cause === 'unreachable'
  const cleaned = isGone || created.length === 0 ? Promise.resolve() : cleanUp(client, given)
  try {
    // No time to do both in sequence.
    if (client.life.ended?.cause !== 'interrupted') await Promise.allSettled([cleaned])
    await allEnded([cleaned, saved ? tearDown(client, given, saved) : Promise.resolve()])
  } finally {
    await client.close()
  }
}
