import { catalogue, type RequirementId } from '../catalogue/catalogue.ts'
import {
  type CatalogueResult,
  type Report,
  type RequirementResult,
  assembleReport,
  howMuchUntested,
  leftOut,
  reasonIn,
  resultOf,
} from '../harness/report/index.ts'
import type { Plan, RunOptions } from '../harness/client/index.ts'
import type { RunFacts } from '../harness/run/index.ts'
import { planRun } from './plan.ts'
import type { Target } from '../harness/target/index.ts'

export interface RunRecord {
  readonly target: Target
  readonly options: RunOptions
  readonly startedAt: Date
  readonly durationMs: number
  /** Results by id; those cut short are missing. */
  readonly results: ReadonlyMap<string, RequirementResult>
  readonly facts: RunFacts
  readonly problem?: string | undefined
}

export const noFacts: RunFacts = {
  requests: 0,
  throttled: 0,
  retried: 0,
  longestPauseMs: 0,
  proxy: null,
  created: [],
  cleanup: { removed: 0, left: [] },
  answers: [],
  notServed: [],
  absent: [],
  keyRefused: false,
  ended: null,
  jobsInProgress: [],
  recordingProblem: undefined,
  hints: [],
}

const nothingPlanned: Plan = new Map()

/** The report of a run: every requirement in catalogue order. */
export function reportOf(record: RunRecord): Report<RequirementId> {
  const { target, options, startedAt, durationMs, results, facts } = record
  // An unreadable target file lacks nothing.
  const isKnown = facts.ended?.cause !== 'lost' || results.size > 0
  const isWhole = catalogue.every((one) => results.has(one.id))
  const plan = isKnown && !isWhole ? planRun(target, options) : nothingPlanned
  const cut = facts.ended ?? leftOut('interrupted')
  const requirements = catalogue.map((requirement): CatalogueResult => {
    const known = results.get(requirement.id)
    if (known) return { ...known, id: requirement.id }
    const planned = plan.get(requirement.id)
    return planned?.run === false
      ? resultOf(requirement, { outcome: planned.outcome, ...reasonIn(planned) })
      : resultOf(requirement, { outcome: 'not-exercised', ...reasonIn(cut) })
  })
  const { only, skip, readOnly } = options
  const statuses = new Map<number, number>()
  for (const { status } of facts.answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const report = assembleReport(
    {
      target: { name: target.name, baseUrl: target.baseUrl, digest: target.digest },
      run: {
        startedAt: startedAt.toISOString(),
        durationMs: Math.round(durationMs),
        seed: options.seed,
        runs: options.refusalRuns,
        nonce: options.nonce,
        command: options.rerun,
        requests: facts.requests,
        throttled: facts.throttled,
        retried: facts.retried,
        ...(facts.longestPauseMs > 0 && { longestPauseMs: facts.longestPauseMs }),
        concurrency: target.limits.concurrency,
        strict: options.strict,
        readOnly,
        tpe: options.tpe,
        only: [...only],
        skip: [...skip],
        baseline: null,
        insecure: options.insecure,
        ca: target.tls.ca !== undefined,
        proxy: facts.proxy,
        interrupted: facts.ended?.cause === 'interrupted',
        depth: options.depth,
        credentialProbes: options.depth === 'quick' ? 'few' : target.limits.credentialProbes,
        statuses: [...statuses].map(([status, times]) => ({ status, times })),
        ...(facts.absent.length > 0 && { absent: [...facts.absent] }),
        ...(facts.hints.length > 0 && { hints: [...facts.hints] }),
        notServed: [...facts.notServed],
        created: [...facts.created],
        cleanup: facts.cleanup,
      },
      requirements,
      notJudged: whyNotJudged(record, requirements),
    },
    { interrupted: facts.ended !== null, keyRefused: facts.keyRefusal !== undefined },
  )
  return { ...report, requirements }
}

/**
 * What ended a run early and how much was left untested, unless the results show it (an interrupt), or it was --bail.
 */
function whyNotJudged(
  { facts, options, problem }: RunRecord,
  requirements: readonly RequirementResult[],
): string | undefined {
  if (problem !== undefined)
    return `a bug in the suite ended the run: ${problem}; please report it, with seed ${options.seed}`
  const { ended, keyRefusal } = facts
  const isCut = ended && ['unreachable', 'throttled', 'setup', 'key', 'lost'].includes(ended.cause)
  const cause = keyRefusal ?? (isCut ? ended.reason : undefined)
  // Where nothing could begin, the cause says so.
  const hasBegun = requirements.some((one) => one.outcome === 'passed' || one.outcome === 'failed')
  const isCounted = keyRefusal !== undefined || ended?.cause === 'throttled' || hasBegun
  return cause && cause + (isCounted ? howMuchUntested(requirements) : '')
}
