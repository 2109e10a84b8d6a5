import { Failed, NotExercised } from './outcome.ts'
import type { CheckContext, Judge } from './check-context.ts'
import { debuglog } from 'node:util'
import {
  type CatalogueResult,
  inMode,
  isExpectedFailure,
  leftOut,
  mistakeReason,
  plainReason,
  reasonIn,
} from '../report/index.ts'
import { shownText } from '../recording/index.ts'
import { perRun, type Run } from './run.ts'

const debug = debuglog('conform')

type Judged = Pick<CatalogueResult, 'outcome' | 'reason' | 'why' | 'failures'> & {
  readonly atEnd?: Judge
}

/** A requirement that has been looked at; `atEnd` gives the whole result if it is looked at once more. */
interface Looked {
  readonly result: CatalogueResult
  readonly atEnd?: () => Promise<CatalogueResult>
}

/** How each requirement is judged: undefined for one that has no check, which is a mistake of the suite. */
export type JudgeOf = (id: string) => Judge | undefined

/** Judges one requirement, and for a look at the end once more with the same context; never throws. */
export async function judgeRequirement(
  context: CheckContext,
  check: Judge | undefined,
): Promise<Looked> {
  const { run, requirement } = context
  const { id, operation, level, section, statement } = requirement
  const { atEnd, ...judged } = await judge(context, check)
  const { control, cases } = context
  const durationMs = Math.round(run.client.recorder.tookMs(id))
  const result = {
    id,
    operation,
    level,
    section,
    statement,
    ...shown(run, judged),
    control,
    cases,
    durationMs,
  }
  const ofMode = inMode(result, run.options.tpe)
  countFailure(run, ofMode)
  return {
    result: ofMode,
    ...(atEnd && { atEnd: async () => (await judgeRequirement(context, atEnd)).result }),
  }
}

/** How many requirements have failed that decide the exit code. */
const failuresOf = perRun(() => ({ count: 0 }))

/** Ends the run when as many failures decide as were asked for (`--bail`). */
function countFailure(run: Run, result: CatalogueResult): void {
  const { bail, strict, expected, tpe } = run.options
  if (result.outcome !== 'failed' || (result.level !== 'must' && !strict)) return
  if (isExpectedFailure(expected, result, tpe)) return
  const failures = failuresOf(run)
  failures.count++
  if (failures.count >= bail) run.life.end('bail', leftOut('--bail'))
}

/** Removes keys from a text, and cuts it. */
function shown(run: Run, { reason, why, failures, ...judged }: Judged): Judged {
  const clean = (text: string): string =>
    shownText(text, (whole) => run.client.recorder.redact(whole))
  return {
    ...judged,
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

async function judge(context: CheckContext, check: Judge | undefined): Promise<Judged> {
  const { run, requirement } = context
  const entry = run.plan.get(requirement.id)
  if (!entry?.run)
    return {
      ...reasonIn(entry ?? plainReason('not planned')),
      outcome: entry?.outcome ?? 'not-exercised',
      failures: [],
    }
  const judged = await outcomeOf(context, check)
  if (entry.leftOut !== undefined)
    return { outcome: 'not-exercised', ...leftOut(entry.leftOut), failures: [] }
  return run.keys.hasFull ? judged : withoutKey(judged)
}

/** Keeps, without a key, only failures in which the server granted a request: it asks for no key. */
function withoutKey(judged: Judged): Judged {
  if (judged.outcome === 'not-exercised') return judged
  const granted = judged.failures.some(
    ({ exchange }) => Math.floor((exchange?.response?.status ?? 0) / 100) === 2,
  )
  return granted
    ? judged
    : {
        outcome: 'not-exercised',
        reason: 'no key: only requests that need no key were sent',
        failures: [],
      }
}

async function outcomeOf(context: CheckContext, check: Judge | undefined): Promise<Judged> {
  const { run, requirement } = context
  try {
    if (run.life.ended && requirement.operation !== 'envelope') throw run.life.ended
    if (!check) throw new Error('the requirement has no check')
    await check(context)
    const { atEnd } = context
    context.atEnd = undefined
    const failures = [...context.familyOnly]
    const more = atEnd ? { atEnd } : {}
    if (failures.length > 0) return { outcome: 'failed', failures, ...more }
    if (atEnd) return { outcome: 'passed', failures, ...more }
    const left = leftOpen(context)
    if (left !== undefined) return { outcome: 'not-exercised', reason: left, failures }
    if (context.cases > 0) return { outcome: 'passed', failures }
    return { outcome: 'not-exercised', reason: 'no answer was judged', failures }
  } catch (error) {
    return ended(error, context)
  }
}

/** Why not all of its cases were judged, and of how many that is so; undefined if all were. */
function leftOpen({ open: { planned, judged, why } }: CheckContext): string | undefined {
  if (planned <= judged) return undefined
  const left = `${planned - judged} of ${planned} cases were not judged`
  return why === undefined ? left : judged === 0 ? why : `${why}; ${left}`
}

function ended(error: unknown, context: CheckContext): Judged {
  const kept = [...context.familyOnly]
  if (error instanceof Failed)
    return { outcome: 'failed', failures: [error.failure, ...error.more, ...kept] }
  // A check that throws what it should not says nothing about the target, whatever it judged before.
  if (!(error instanceof NotExercised)) {
    debug('%o', error)
    return { outcome: 'not-exercised', ...mistakeReason(error), failures: [] }
  }
  // Once a target is gone, or refuses the key, that is why nothing more could be learned.
  const { ended: end } = context.run.life
  const { reason } = end?.cause === 'unreachable' || end?.cause === 'key' ? end : error
  return kept.length > 0
    ? { outcome: 'failed', failures: kept }
    : { outcome: 'not-exercised', ...reason, failures: [] }
}
