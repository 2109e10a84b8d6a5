import type { Verdict } from '../journal/index.ts'
import { debuglog } from 'node:util'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import {
  type CatalogueResult,
  isExpectedFailure,
  leftOut,
  mistakeReason,
  plainReason,
  type Reason,
  reasonIn,
} from '../report/index.ts'
import { shownText } from '../recording/index.ts'
import { askedIn } from './ask.ts'
import { failureOf } from './judge-answer.ts'
import { type CheckContext, type Judge } from './check-context.ts'
import { Failed, NotExercised, type Run } from '../engine/index.ts'

const debug = debuglog('conform')

type Judged = Pick<CatalogueResult, 'outcome' | 'reason' | 'why' | 'failures'>

export type JudgeOf = (id: string) => Judge | undefined

type About = Pick<CatalogueResult, 'id' | 'operation' | 'level' | 'section' | 'statement'>

const aboutOf = ({ id, operation, level, section, statement }: CatalogueRequirement): About => ({
  id,
  operation,
  level,
  section,
  statement,
})

export function unplanned(run: Run, requirement: CatalogueRequirement): CatalogueResult {
  const entry = run.plan.get(requirement.id)
  const none = { control: 'none', cases: 0, durationMs: 0 } as const
  const judged: Judged =
    entry?.run === false
      ? { ...reasonIn(entry), outcome: entry.outcome, failures: [] }
      : unexercised('not planned')
  // Left-out and absent reasons contain only our own words.
  const isOwn = judged.why?.kind === 'left-out' || judged.why?.kind === 'absent'
  return { ...aboutOf(requirement), ...(isOwn ? judged : shown(run, judged)), ...none }
}

/** Exercises one requirement; never throws. `context.atEnd` judges it once more at the end. */
export async function exercise(
  context: CheckContext,
  check: Judge | undefined,
): Promise<CatalogueResult> {
  const { run, requirement } = context
  const judged = shown(run, await outcomeOf(context, check))
  if (!context.atEnd) askedIn(run).journal.forget(requirement.id)
  const { control, cases } = context
  const durationMs = Math.round(run.client.recorder.tookMs(requirement.id))
  const about = aboutOf(requirement)
  const result = { ...about, ...judged, control, cases, durationMs }
  countFailure(run, result)
  return result
}

function countFailure(run: Run, result: CatalogueResult): void {
  const { bail, strict, expected } = run.options
  if (result.outcome !== 'failed' || (result.level !== 'must' && !strict)) return
  if (isExpectedFailure(expected, result)) return
  if (++run.findings.failures >= bail) run.life.end('bail', leftOut('--bail'))
}

function shown(run: Run, { reason, why, failures, outcome }: Judged): Judged {
  const clean = (text: string): string => shownText(text, run.client.recorder.redact)
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

const unexercised = (reason: Parameters<typeof plainReason>[0]): Judged => ({
  outcome: 'not-exercised',
  ...plainReason(reason),
  failures: [],
})

async function outcomeOf(context: CheckContext, check: Judge | undefined): Promise<Judged> {
  const { run, requirement } = context
  const judged = await checked(context, check)
  const entry = run.plan.get(requirement.id)
  if (entry?.run && entry.leftOut !== undefined) return unexercised(leftOut(entry.leftOut))
  if (run.keys.hasFull || judged.outcome === 'not-exercised') return judged
  // Without a key, a request fails only if it is accepted.
  const isGranted = judged.failures.some(
    ({ exchange }) => Math.floor((exchange?.response?.status ?? 0) / 100) === 2,
  )
  return isGranted ? judged : unexercised('no key: only requests that need no key were sent')
}

async function checked(context: CheckContext, check: Judge | undefined): Promise<Judged> {
  const { run, requirement } = context
  try {
    if (run.life.ended && requirement.operation !== 'envelope') throw run.life.ended
    if (!check) throw new Error('the requirement has no check')
    const verdict = await check(context)
    if (verdict) return judgedBy(context, verdict)
    const failures: Judged['failures'] = []
    if (context.atEnd) return { outcome: 'passed', failures }
    const left = leftOpen(context)
    if (left !== undefined) return unexercised(left)
    return context.cases > 0 ? { outcome: 'passed', failures } : unexercised('no answer was judged')
  } catch (error) {
    context.atEnd = undefined
    return thrown(error, run)
  }
}

function leftOpen({ open: { planned, judged, why } }: CheckContext): string | undefined {
  if (planned <= judged) return undefined
  const left = `${planned - judged} of ${planned} cases were not judged`
  return why === undefined ? left : judged === 0 ? why : `${why}; ${left}`
}

function thrown(error: unknown, run: Run): Judged {
  if (error instanceof Failed)
    return { outcome: 'failed', failures: [error.failure, ...error.more] }
  // An unexpected exception is a bug of the check and says nothing about the target.
  if (!(error instanceof NotExercised)) {
    debug('%o', error)
    return { outcome: 'not-exercised', ...mistakeReason(error), failures: [] }
  }
  return leftBy(run, error.reason)
}

/** Once the target is gone or refuses the key, that is the reason for all that follows. */
function leftBy({ life: { ended } }: Run, why: string | Reason): Judged {
  const isOver = ended?.cause === 'unreachable' || ended?.cause === 'key'
  return unexercised(isOver ? ended.reason : why)
}

function judgedBy(context: CheckContext, verdict: Verdict): Judged {
  context.cases = verdict.cases ?? 0
  if (verdict.outcome === 'broken')
    return { outcome: 'failed', failures: verdict.evidence.map((one) => failureOf(context, one)) }
  if (verdict.outcome === 'open') return leftBy(context.run, verdict.reason ?? verdict.why)
  if (verdict.outcome === 'held' && verdict.cases === 0) return unexercised('no answer was judged')
  return { outcome: 'passed', failures: [] }
}
