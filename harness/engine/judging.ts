import { type CatalogueResult, type Failure, isObserved, type Reason } from '../report/index.ts'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import { exclusiveIds } from '../target-file/index.ts'
import { createCheckContext, shownExchanges } from './check-context.ts'
import { createEventQueue, type RunEvent, factsOf, type RunFacts } from './events.ts'
import { closeHookTransports, setUp, tearDown } from './hook-request.ts'
import { allEnded, cleanUp } from './clean-up.ts'
import { type JudgeOf, judgeRequirement } from './judge.ts'
import { type EndCause, pause } from './outcome.ts'
import { sendFailedAgain } from './second-look/at-end.ts'
import { poisonedConnections } from './second-look/reused-connection.ts'
import { isPlanned, type Run } from './run.ts'

/** Ends a run: what it created is cleaned up, the sockets are closed, whatever is thrown meanwhile. */
async function finishRun(run: Run): Promise<void> {
  const { liveness, recorder, throttle, transport } = run.client
  liveness.stop()
  throttle.release()
  const cleaned = run.life.ended?.cause === 'unreachable' ? Promise.resolve() : cleanUp(run)
  try {
    // There is no time for one after the other.
    if (run.life.ended?.cause !== 'interrupted') await Promise.allSettled([cleaned])
    await allEnded([cleaned, tearDown(run)])
  } finally {
    await allEnded([transport.close(), closeHookTransports(run)]).finally(recorder.close)
  }
}

/** A run that goes on. */
export interface Judging {
  /** Events as they happen; to be read once. */
  readonly events: AsyncIterable<RunEvent>
  /** Settles when everything is judged, cleaned up and closed. */
  readonly done: Promise<void>
  /** Results that are known by now, by requirement id. */
  readonly results: ReadonlyMap<string, CatalogueResult>
  facts(): RunFacts
  /** Ends the run: what is under way is dropped, clean-up is sent. */
  end(cause: EndCause, reason: string | Reason): void
}

/** Judges everything that is planned, phase by phase. */
export function startJudging(run: Run, judgeOf: JudgeOf): Judging {
  const queue = createEventQueue<RunEvent>()
  const results = new Map<string, CatalogueResult>()
  const tell = (result: CatalogueResult): void => {
    results.set(result.id, result)
    queue.push({ kind: 'judged', result })
  }
  const looksAtEnd: (() => Promise<CatalogueResult>)[] = []
  const judge = async (requirement: CatalogueRequirement): Promise<void> => {
    const { result, atEnd } = await judgeRequirement(
      createCheckContext(run, requirement),
      isPlanned(run, requirement.id) ? judgeOf(requirement.id) : undefined,
    )
    if (atEnd && result.outcome === 'passed') looksAtEnd.push(atEnd)
    else tell(result)
  }
  /** Failures that showed only when later requests used the connections that a request had left behind. */
  const addPoisonedConnections = (): void => {
    for (const [id, failures] of poisonedConnections(run)) {
      const known = results.get(id)
      if (!known) continue
      const { reason: _reason, why: _why, ...rest } = known
      tell({ ...rest, outcome: 'failed', failures: [...known.failures, ...failures] })
    }
  }
  /** A 401 to a key that the target never accepted says nothing about the requirement. */
  const excuse = ({ failures, ...result }: CatalogueResult): void => {
    const isUnknown =
      result.operation !== 'envelope' &&
      failures.length > 0 &&
      failures.every(({ exchange }) => exchange?.response?.status === 401)
    if (isUnknown)
      tell({ ...result, outcome: 'not-exercised', reason: run.keys.refusal, failures: [] })
  }
  /** What came after the full key was refused says nothing of the requirement. */
  const withdraw = (result: CatalogueResult): void => {
    const before = beforeRefusal(run, result)
    if (before !== result) tell(before)
  }
  const judgeAll = async (): Promise<void> => {
    const { concurrent, exclusive, last, observed } = phasesOf(run)
    if (!run.life.ended && (await run.client.liveness.first())) await setUp(run)
    // If a hook cannot begin, the requirements that need it report that.
    const started = run.hooks.map((hook) => hook.start?.(run).catch(() => undefined))
    await Promise.all([...concurrent.map(judge), ...started])
    for (const requirement of exclusive) await judge(requirement)
    if (looksAtEnd.length > 0) await awaitAge(run)
    await Promise.all(looksAtEnd.map(async (look) => tell(await look())))
    if (!run.life.ended) await Promise.all(run.hooks.map(async (hook) => hook.finish?.(run)))
    for (const requirement of last) await judge(requirement)
    for (const requirement of observed) await judge(requirement)
    addPoisonedConnections()
    if (run.keys.hasFull && run.keys.isRefused) [...results.values()].forEach(excuse)
    if (run.life.ended?.cause === 'key')
      for (const result of [...results.values()]) withdraw(result)
    const failed = [...results.values()].filter(({ outcome }) => outcome === 'failed')
    for (const result of await sendFailedAgain(run, failed)) tell(result)
  }
  run.client.throttle.onHold((operation, pauseMs) =>
    queue.push({ kind: 'throttled', operation, pauseMs }),
  )
  queue.push({ kind: 'planned', plan: run.plan })
  const judgeAndFinish = async (): Promise<void> => {
    try {
      await judgeAll()
    } finally {
      await finishRun(run)
    }
  }
  const finished = judgeAndFinish()
  const done = finished.finally(() => {
    queue.push({ kind: 'ended', facts: factsOf(run) })
    queue.close()
  })
  return {
    events: queue,
    done,
    results,
    facts: () => factsOf(run),
    end: (cause, reason) => run.life.end(cause, reason),
  }
}

/** A result without what came after the full key was refused: that says nothing of the requirement. */
function beforeRefusal(run: Run, result: CatalogueResult): CatalogueResult {
  const { refusedSince = Infinity, lastSentFor } = run.client.keyWatch
  const { failures, outcome, ...rest } = result
  const isBefore = ({ exchange }: Failure): boolean =>
    exchange === undefined ||
    (shownExchanges(run).get(exchange)?.sentAt ?? -Infinity) < refusedSince
  const before = failures.filter(isBefore)
  const isOver =
    outcome === 'failed'
      ? before.length === 0
      : outcome === 'passed' && lastSentFor(result.id) >= refusedSince
  if (isOver) return { ...rest, outcome: 'not-exercised', ...run.life.ended!.reason, failures: [] }
  return before.length < failures.length ? { ...result, failures: before } : result
}

/** The first object of each operation is looked at again so long after it was made at least, in ms: what shows late shows then. */
const leastAgeMs = 3000

/** Waits until the objects of the run are old enough to be looked at again. */
async function awaitAge(run: Run): Promise<void> {
  const first = new Map<string, number>()
  for (const { operation, id } of run.objects.created)
    if (!first.has(operation)) first.set(operation, run.objects.madeAt.get(id) ?? 0)
  const until = Math.max(0, ...first.values()) + leastAgeMs
  if (run.life.ended || first.size === 0) return
  await pause(run, Math.max(0, until - performance.now())).catch(() => undefined)
}

/** The order of a run: what goes on at once, what needs the target to itself, what is judged last, what is observed on everything. */
function phasesOf({ target, api: { requirements } }: Run) {
  const alone = exclusiveIds(target)
  const phaseOf = ({ id, judgedLast }: CatalogueRequirement): string => {
    if (alone.has(id)) return 'exclusive'
    return isObserved(id) ? 'observed' : judgedLast ? 'last' : 'concurrent'
  }
  const of = (phase: string) => requirements.filter((requirement) => phaseOf(requirement) === phase)
  return {
    concurrent: of('concurrent'),
    exclusive: of('exclusive'),
    last: of('last'),
    observed: of('observed'),
  }
}
