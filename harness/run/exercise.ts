import type { Client, Given } from '../client/index.ts'
import { type Verdict, NotExercised } from '../journal/index.ts'
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
import { failuresOf } from './failure.ts'
import type { CheckContext, Judge, Later } from './check-context.ts'

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

export function unplanned(
  client: Client,
  given: Given,
  requirement: CatalogueRequirement,
): CatalogueResult {
  const entry = given.plan.get(requirement.id)
  const none = { control: 'none', cases: 0, durationMs: 0 } as const
  const judged: Judged =
    entry?.run === false
      ? { ...reasonIn(entry), outcome: entry.outcome, failures: [] }
      : unexercised('not planned')
  // Left-out and absent reasons contain only our own words.
  const isOwn = judged.why?.kind === 'left-out' || judged.why?.kind === 'absent'
  return { ...aboutOf(requirement), ...(isOwn ? judged : shown(client, judged)), ...none }
}

/**
 * Exercises one requirement; never throws. Returns its result, or what judges it once more at the end of the run, if it
 * holds so far.
 */
export async function exercise(
  context: CheckContext,
  check: Judge | undefined,
): Promise<CatalogueResult | (() => Promise<CatalogueResult>)> {
  const judged = await outcomeOf(context, check)
  return judged.outcome === 'later'
    ? async () => resultOf(context, await outcomeOf<never>(context, judged.judge))
    : resultOf(context, judged)
}

function resultOf(context: CheckContext, outcome: Outcome): CatalogueResult {
  const { client, given, requirement, control } = context
  const { cases, ...judged } = outcome
  client.journal.forget(requirement.id)
  const durationMs = Math.round(client.recorder.tookMs(requirement.id))
  const about = aboutOf(requirement)
  const result = { ...about, ...shown(client, judged), control, cases, durationMs }
  countFailure(client, given, result)
  return result
}

function countFailure(client: Client, given: Given, result: CatalogueResult): void {
  const { bail, strict, expected } = given.options
  if (result.outcome !== 'failed' || (result.level !== 'must' && !strict)) return
  if (isExpectedFailure(expected, result)) return
  if (++client.findings.failures >= bail) client.life.end('bail', leftOut('--bail'))
}

function shown(client: Client, { reason, why, failures, outcome }: Judged): Judged {
  const clean = (text: string): string => shownText(text, client.recorder.redact)
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

type Outcome = Judged & Pick<CatalogueResult, 'cases'>

const unexercised = (reason: Parameters<typeof plainReason>[0], cases = 0): Outcome => ({
  outcome: 'not-exercised',
  ...plainReason(reason),
  failures: [],
  cases,
})

async function outcomeOf<L extends Later>(
  context: CheckContext,
  check: ((context: CheckContext) => Promise<Verdict | L>) | undefined,
): Promise<Outcome | L> {
  const { given, requirement } = context
  const judged = await checked(context, check)
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

async function checked<L extends Later>(
  context: CheckContext,
  check: ((context: CheckContext) => Promise<Verdict | L>) | undefined,
): Promise<Outcome | L> {
  const { client, requirement } = context
  try {
    if (client.life.ended && requirement.operation !== 'envelope') throw client.life.ended
    if (!check) throw new Error('the requirement has no check')
    const verdict = await check(context)
    return verdict.outcome === 'later' ? verdict : judgedBy(context, verdict)
  } catch (error) {
    if (error instanceof NotExercised) return leftBy(client, error.reason)
    // A bug of the check, which says nothing about the target.
    debug('%o', error)
    return { outcome: 'not-exercised', ...mistakeReason(error), failures: [], cases: 0 }
  }
}

/** Once the target is gone or refuses the key, that is the reason for all that follows. */
function leftBy({ life: { ended } }: Client, why: string | Reason, cases = 0): Outcome {
  const isOver = ended?.cause === 'unreachable' || ended?.cause === 'key'
  return unexercised(isOver ? ended.reason : why, cases)
}

function judgedBy(context: CheckContext, verdict: Verdict): Outcome {
  const { cases = 0, outcome } = verdict
  if (outcome === 'broken') {
    const failures = verdict.evidence.flatMap((one) => failuresOf(context, one))
    return { outcome: 'failed', failures, cases }
  }
  if (outcome === 'open') return leftBy(context.client, verdict.reason ?? verdict.why, cases)
  if (outcome === 'held' && cases === 0) return unexercised('no answer was judged')
  return { outcome: 'passed', failures: [], cases }
}
