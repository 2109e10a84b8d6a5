import type { CatalogueRow } from '../../catalogue/catalogue.ts'
import type { RequirementResult } from '../report/model.ts'
import { createEventQueue, type RunEvent } from './events.ts'
import { factsOf, type RunFacts } from './facts.ts'
import { finishRun } from './finish.ts'
import { judgeRequirement } from './judge-requirement.ts'
import type { EndCause } from './outcome.ts'
import { phasesOf } from './phases.ts'
import { spoiledOf } from './reused-connection.ts'
import type { Run, RunHook } from './run.ts'
import type { Judge } from './check-context.ts'

/** How each requirement is judged: undefined for one that has no check, which is a mistake of the suite. */
export type JudgeOf = (id: string) => Judge | undefined

/** A run that goes on. */
export interface Judging {
  /** What happens, as it happens; to be read once. */
  readonly events: AsyncIterable<RunEvent>
  /** Settles when everything is judged, cleaned up and closed. */
  readonly done: Promise<void>
  /** What is known by now, by requirement id. */
  readonly results: ReadonlyMap<string, RequirementResult>
  facts(): RunFacts
  /** Ends the run: what is under way is dropped, clean-up is sent. */
  end(cause: EndCause, reason: string): void
}

/** If something cannot be gathered, the rows that need it report it. */
async function gather(run: Run, hook: RunHook): Promise<void> {
  await hook.gather?.(run).catch(() => undefined)
}

/** Judges everything that is planned, phase by phase. */
export function startJudging(run: Run, judgeOf: JudgeOf): Judging {
  const queue = createEventQueue<RunEvent>()
  const results = new Map<string, RequirementResult>()
  const judge = async (row: CatalogueRow): Promise<void> => {
    const result = await judgeRequirement(run, row, judgeOf(row.id))
    results.set(row.id, result)
    queue.push({ kind: 'judged', result })
  }
  /** Failures that showed only when later requests used the connections that a request had left behind. */
  const tellSpoiled = (): void => {
    for (const [id, failures] of spoiledOf(run)) {
      const known = results.get(id)
      if (!known) continue
      const { reason: _reason, ...rest } = known
      const result: RequirementResult = { ...rest, outcome: 'failed', failures: [...known.failures, ...failures] }
      results.set(id, result)
      queue.push({ kind: 'judged', result })
    }
  }
  const all = async (): Promise<void> => {
    const { concurrent, exclusive, last, observed } = phasesOf(run.target)
    if (!run.life.ended) await run.client.liveness.first()
    await Promise.all([...concurrent.map(judge), ...run.hooks.map((hook) => gather(run, hook))])
    for (const row of exclusive) await judge(row)
    if (!run.life.ended) await Promise.all(run.hooks.map(async (hook) => hook.settle?.(run)))
    for (const row of last) await judge(row)
    for (const row of observed) await judge(row)
    tellSpoiled()
    await finishRun(run)
  }
  run.client.throttle.onHold((operation, pauseMs) => queue.push({ kind: 'throttled', operation, pauseMs }))
  queue.push({ kind: 'planned', plan: run.plan })
  const done = all().finally(() => {
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
