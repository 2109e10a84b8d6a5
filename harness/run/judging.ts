import { type CatalogueRequirement, catalogue, requirementOf } from '../../catalogue/catalogue.ts'
import { type CatalogueResult, type Failure, isObserved } from '../report/index.ts'
import { groupBy } from '../group-by.ts'
import { exclusiveIds } from '../target/index.ts'
import { spoilersBlamed } from './blame.ts'
import { failureOf } from './failure.ts'
import { createCheckContext } from './check-context.ts'
import { allEnded, keyRefusal, refusedSince } from '../client/index.ts'
import { cleanUp, setUp, tearDown } from './own-requests.ts'
import { createEventQueue, factsOf, type Judging, type RunEvent } from './events.ts'
import { isPlanned, type Run } from './run.ts'
import { NotExercised } from '../journal/index.ts'
import { blameSpoilers, sendFailedAgain } from './at-end.ts'

import { exercise, type JudgeOf, unplanned } from './exercise.ts'

type Tell = (result: CatalogueResult) => void

export function startJudging(run: Run, judgeOf: JudgeOf): Judging {
  const queue = createEventQueue<RunEvent>()
  const results = new Map<string, CatalogueResult>()
  const tell: Tell = (result) => {
    results.set(result.id, result)
    queue.push({ kind: 'judged', result })
  }
  run.client.throttle.onHold((operation, pauseMs) =>
    queue.push({ kind: 'throttled', operation, pauseMs }),
  )
  queue.push({ kind: 'planned', plan: run.plan })
  const goThrough = async (): Promise<void> => {
    try {
      await exerciseAll(run, judgeOf, tell)
      if (!run.life.ended) await run.client.throttle.endIfSpent()
      await lookBack(run, results, tell)
    } finally {
      await finishRun(run).finally(() => {
        queue.push({ kind: 'ended', facts: factsOf(run) })
        queue.close()
      })
    }
  }
  const { life } = run
  return {
    events: queue,
    done: goThrough(),
    results,
    facts: () => factsOf(run),
    end: (cause, reason) => life.end(cause, reason),
  }
}

/** Concurrent; alone; after everything else; observed on all traffic. */
type Phase = 'concurrent' | 'exclusive' | 'last' | 'observed'

async function exerciseAll(run: Run, judgeOf: JudgeOf, tell: Tell): Promise<void> {
  const { client, hooks, life, target } = run
  const alone = exclusiveIds(target)
  const phaseOf = (requirement: CatalogueRequirement): Phase =>
    alone.has(requirement.id)
      ? 'exclusive'
      : isObserved(requirement.id)
        ? 'observed'
        : requirement.judgedLast
          ? 'last'
          : 'concurrent'
  const planned = catalogue.filter((requirement) => isPlanned(run, requirement.id))
  const phases = groupBy(planned, phaseOf)
  const of = (phase: Phase) => phases.get(phase) ?? []
  const looksAtEnd: (() => Promise<CatalogueResult>)[] = []
  const exerciseOne = async (requirement: CatalogueRequirement): Promise<void> => {
    const result = await exercise(createCheckContext(run, requirement), judgeOf(requirement.id))
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
  if (isReady && target.setup.length + target.teardown.length > 0) await setUp(run)
  for (const one of catalogue) if (!isPlanned(run, one.id)) tell(unplanned(run, one))
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
  run: Run,
  results: ReadonlyMap<string, CatalogueResult>,
  tell: Tell,
): Promise<void> {
  const further = spoilersBlamed(run)
  for (const [id, evidence] of run.findings.onTraffic)
    if (!further.has(id))
      further.set(id, failureOf({ run, requirement: requirementOf(id) }, evidence))
  for (const [id, failure] of further) {
    const known = results.get(id)
    if (!known) continue
    const { reason: _reason, why: _why, ...rest } = known
    tell({ ...rest, outcome: 'failed', failures: [...known.failures, failure] })
  }
  const refusal = run.keys.hasFull ? keyRefusal(run.journal) : undefined
  const isRefused = (failure: Failure): boolean => failure.exchange?.response?.status === 401
  for (const { failures, ...result } of refusal === undefined ? [] : [...results.values()])
    if (result.operation !== 'envelope' && failures.length > 0 && failures.every(isRefused))
      tell({ ...result, outcome: 'not-exercised', reason: refusal, failures: [] })
  const since = cutSince(run)
  for (const result of since === Infinity ? [] : [...results.values()]) {
    const before = judgedBefore(run, result, since)
    if (before !== result) tell(before)
  }
  const failed = [...results.values()].filter((result) => result.outcome === 'failed')
  for (const result of await sendFailedAgain(run, failed)) tell(result)
  for (const result of await blameSpoilers(run, results)) tell(result)
}

/** Since when answers say nothing (`performance.now()`): the full key is refused, or everything is throttled. */
function cutSince(run: Pick<Run, 'journal' | 'life'>): number {
  const cause = run.life.ended?.cause
  if (cause === 'key') return refusedSince(run.journal) ?? Infinity
  const last = run.journal.answers.findLast(
    (answer) => answer.status !== 429 && answer.status !== 503,
  )
  return (cause === 'throttled' ? last?.endedAt : undefined) ?? Infinity
}

function judgedBefore(
  run: Pick<Run, 'findings' | 'journal' | 'life'>,
  result: CatalogueResult,
  since: number,
): CatalogueResult {
  const { shown: exchanges } = run.findings
  const { failures, outcome, ...rest } = result
  const isBefore = (failure: Failure): boolean =>
    failure.exchange === undefined || (exchanges.get(failure.exchange)?.sentAt ?? -Infinity) < since
  const before = failures.filter(isBefore)
  const last = run.journal.answers.findLast((answer) => answer.requirement === result.id)
  const isOver =
    outcome === 'failed'
      ? before.length === 0
      : outcome === 'passed' && last !== undefined && last.sentAt >= since
  if (isOver) return { ...rest, outcome: 'not-exercised', ...run.life.ended!.reason, failures: [] }
  return before.length < failures.length ? { ...result, failures: before } : result
}

async function finishRun(run: Run): Promise<void> {
  run.client.stop()
  const { created, saved } = run.objects
  const isGone = run.life.ended?.cause === 'unreachable'
  const cleaned = isGone || created.length === 0 ? Promise.resolve() : cleanUp(run)
  try {
    // No time to do both in sequence.
    if (run.life.ended?.cause !== 'interrupted') await Promise.allSettled([cleaned])
    await allEnded([cleaned, saved ? tearDown(run, saved) : Promise.resolve()])
  } finally {
    await run.client.close()
  }
}
